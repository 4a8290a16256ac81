"""How commands write: styles that fit the stream, closed pipes, failures in one line."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

import click

from swzrecheck.errors import CertificateError
from swzverify.apps.run.fault import fault, what_to_send
from swzverify.errors import SpecError, SwzError
from swzverify.report.escape import visible_lines
from swzverify.report.style import TextStyle

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 + SIGINT."""

FILE_WIDTH = 120


class Failure(click.ClickException):
    """A message after which the command ends with exit code 2."""

    exit_code = 2


@contextmanager
def one_way_out(without: str = "no report") -> Generator[None, None, None]:
    """How a command that cannot go on ends: Ctrl-C with 130 and `without` what, all else with 2.

    A mistake of the user is reported as it is, a fault of swzverify with what to send; never a traceback.
    """
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"interrupted: {without}", err=True)
        sys.exit(INTERRUPTED)
    except (click.ClickException, click.exceptions.Exit):
        raise
    except (SwzError, SpecError, CertificateError) as error:
        raise Failure("\n".join(visible_lines(str(error)))) from error
    except Exception as error:
        raise Failure("\n".join(["SWZ901", *visible_lines(fault(error)), what_to_send()])) from error


def loudness(*, verbose: bool, quiet: bool) -> int:
    """The verbosity of `-v` and `-q`: 1, -1, or 0 without either.

    Raises:
        click.UsageError: Both options are given.
    """
    if verbose and quiet:
        raise click.UsageError("-v and -q cannot be used together")
    return int(verbose) - int(quiet)


def terminal_style(*, err: bool, verbosity: int) -> TextStyle:
    """How to write to a standard stream: in its width and colours on a terminal, plain into a pipe.

    Raises:
        Failure: The stream is closed.
    """
    stream = _stream(err=err)
    wanted = stream.isatty() and os.environ.get("TERM") != "dumb"
    forced = bool(os.environ.get("FORCE_COLOR"))
    width = shutil.get_terminal_size(fallback=(FILE_WIDTH, 24)).columns
    return TextStyle(
        width=width if stream.isatty() or "COLUMNS" in os.environ else FILE_WIDTH,
        colour=(wanted or forced) and not os.environ.get("NO_COLOR"),
        unicode=(stream.encoding or "").lower().replace("-", "").startswith("utf"),
        verbosity=verbosity,
    )


def _stream(*, err: bool) -> TextIO:
    """The standard stream; a `Failure` where whoever started the command has closed it."""
    stream: TextIO | None = sys.stderr if err else sys.stdout
    if stream is None:
        raise Failure(f"standard {'error' if err else 'output'} is closed: open it, or name a file with --output")
    return stream


def say(text: str) -> None:
    """Write a plain text to standard output, as `echo` does."""
    _write(text, err=False, colour=False)


def echo(text: str, style: TextStyle, *, err: bool) -> None:
    """Write to a standard stream in a style; when its reader has gone (`| head`), the run goes on.

    Raises:
        Failure: The stream is closed, or takes no more, such as that of a full disk.
    """
    _write(text, err=err, colour=style.colour)


def say_bytes(data: bytes) -> None:
    """Write bytes to standard output.

    Raises:
        Failure: As `echo`; also if standard output is a terminal.
    """
    stream = _stream(err=False)
    if stream.isatty():
        raise Failure("a terminal shows no such file: name one with --output")
    with _report_failed_write(stream, "output"):
        stream.buffer.write(data)
        stream.flush()


def _write(text: str, *, err: bool, colour: bool) -> None:
    stream = _stream(err=err)
    encoding = stream.encoding or "utf-8"
    printable = text.encode(encoding, "backslashreplace").decode(encoding)
    with _report_failed_write(stream, "error" if err else "output"):
        click.echo(printable, nl=False, err=err, color=colour)
        stream.flush()


@contextmanager
def _report_failed_write(stream: TextIO, name: str) -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        # what is left in the buffer would fail again, with a traceback, when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise Failure(f"cannot write to standard {name}: {error.strerror}") from error

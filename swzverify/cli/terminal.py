"""How a command speaks: styles that fit the stream, writing that survives a closed pipe, failures in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from swzverify.report.style import TextStyle

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 + SIGINT."""

FILE_WIDTH = 120


class Failure(click.ClickException):
    """A message after which the command ends with exit code 2."""

    exit_code = 2


@contextmanager
def one_way_out(without: str = "no report") -> Generator[None, None, None]:
    """How every command ends that cannot go on: Ctrl-C with 130, saying `without` what; anything else with 2.

    A mistake of the user's is told as it is, a fault of ours with what to send; never a traceback.
    """
    from swzverify.errors import SwzError  # noqa: PLC0415 - `--help` is to be quick

    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"interrupted: {without}", err=True)
        sys.exit(INTERRUPTED)
    except (click.ClickException, click.exceptions.Exit):
        raise
    except SwzError as error:
        raise Failure(str(error)) from error
    except Exception as error:
        from swzverify.report.escape import visible_lines  # noqa: PLC0415
        from swzverify.run.fault import fault, what_to_send  # noqa: PLC0415

        raise Failure("\n".join(["SWZ901", *visible_lines(fault(error)), what_to_send()])) from error


def terminal_style(*, err: bool, verbosity: int) -> TextStyle:
    """How to write to a standard stream: its width and colours when it is a terminal, plain when it is piped."""
    import shutil  # noqa: PLC0415 - see the top

    from swzverify.report.style import TextStyle  # noqa: PLC0415

    stream = sys.stderr if err else sys.stdout
    wanted = stream.isatty() and os.environ.get("TERM") != "dumb"
    forced = bool(os.environ.get("FORCE_COLOR"))
    width = shutil.get_terminal_size(fallback=(FILE_WIDTH, 24)).columns
    return TextStyle(
        width=width if stream.isatty() or "COLUMNS" in os.environ else FILE_WIDTH,
        colour=(wanted or forced) and not os.environ.get("NO_COLOR"),
        unicode=(stream.encoding or "").lower().replace("-", "").startswith("utf"),
        verbosity=verbosity,
    )


def echo(text: str, style: TextStyle, *, err: bool) -> None:
    """Write to a standard stream; a reader that has gone away (`| head`) ends the writing, not the run."""
    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "utf-8"
    printable = text.encode(encoding, "backslashreplace").decode(encoding)
    try:
        click.echo(printable, nl=False, err=err, color=style.colour)
        stream.flush()
    except BrokenPipeError:
        # what is left in the buffer would fail again, with a traceback, when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

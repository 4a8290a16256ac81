"""Puts what a command makes into a file, or to standard output."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from swzverify.apps.commands.terminal import Failure, say, say_bytes


def write_text(text: str, output: str | None, *, overwrite: bool = True) -> None:
    """Write to a file, or to standard output where there is none; plain line ends, UTF-8.

    Ends the command with SWZ521 where the file cannot be written, with SWZ522 where it exists and
    may not be replaced.
    """
    if output is None:
        say(text)
        return
    # "x" asks and writes in one step: a file that appears in the meantime is not lost
    mode = "w" if overwrite else "x"
    with _report_failed_write(output), open(output, mode, encoding="utf-8", newline="\n") as file:
        file.write(text)


def write_bytes(data: bytes, output: str | None) -> None:
    """Write to a file, or to standard output where there is none.

    Ends the command with SWZ521 where the file cannot be written.
    """
    if output is None:
        say_bytes(data)
        return
    with _report_failed_write(output), open(output, "wb") as file:
        file.write(data)


@contextmanager
def _report_failed_write(output: str) -> Generator[None]:
    try:
        yield
    except FileExistsError as error:
        raise Failure(f"SWZ522 {output!r} exists already; --force replaces it") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Failure(f"SWZ521 cannot write {output!r}: {reason}") from error

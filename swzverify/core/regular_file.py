"""Reads files of strangers: at most so many bytes, and only of a regular file."""

from __future__ import annotations

import os
import stat


class NotRegularError(OSError):
    """A path names a directory, a pipe, a socket or a device: it could wait, or never end."""

    def __init__(self, mode: int) -> None:
        self.is_directory = stat.S_ISDIR(mode)
        what = "a directory" if self.is_directory else "a pipe, a socket or a device"
        super().__init__(f"not a regular file but {what}")


def read_regular(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """The first bytes of a regular file; nothing else is opened.

    Raises:
        NotRegularError: The path names something else.
        OSError: The file cannot be read.
        ValueError: The path is none that a file can have.

    >>> read_regular(os.curdir, 10)
    Traceback (most recent call last):
    swzverify.core.regular_file.NotRegularError: not a regular file but a directory
    """
    _check(os.stat(path).st_mode)
    # The path may name a pipe by now: O_NONBLOCK does not wait for a writer then. It has no effect on regular files.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _check(os.fstat(descriptor).st_mode)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(most_bytes)
    finally:
        os.close(descriptor)


def _check(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise NotRegularError(mode)

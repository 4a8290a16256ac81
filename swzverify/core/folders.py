"""Folders of results that a run fills file by file, so that a killed run goes on where it was.

A file gets its name when it is complete: one that has its name is whole.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from swzverify.errors import SwzError

_LOCK = "lock"


@contextmanager
def locked_folder(path: Path, parts: str, *, what: str, option: str) -> Generator[None]:
    """Make a folder and its folder of parts if they do not exist, and keep other processes out.

    Args:
        path: The folder.
        parts: The name of the folder in it that takes the parts.
        what: What runs in it, for messages, such as `sweep`.
        option: The option that named the folder, for messages.

    Raises:
        SwzError: SWZ574 if another process runs in it, or if it cannot be written.
    """
    try:
        (path / parts).mkdir(parents=True, exist_ok=True)
        handle = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise SwzError("SWZ574", f"{path}: {error.strerror}", hint=f"choose another {option}") from error
    try:
        _take(handle, path, what, option)
        yield
    finally:
        os.close(handle)


def refuse_other_files(path: Path, parts: str, *, what: str, option: str) -> None:
    """Refuse a folder without results that has other files.

    Raises:
        SwzError: SWZ574.
    """
    strangers = [file.name for file in path.iterdir() if file.name not in (parts, _LOCK)]
    if strangers:
        message = f"{path} has other files, such as {strangers[0]}, and no {what}"
        raise SwzError("SWZ574", message, hint=f"choose another {option}")


def write_whole(file: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all.

    Raises:
        SwzError: SWZ574.
    """
    new = file.with_name(f"{file.name}.new")
    try:
        with new.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        new.replace(file)
    except OSError as error:
        raise SwzError("SWZ574", f"{file}: {error.strerror}", hint="what is finished stays") from error


def _take(handle: int, path: Path, what: str, option: str) -> None:
    try:
        import fcntl  # noqa: PLC0415 - Windows has none, and no lock then
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        hint = f"wait for it, or choose another {option}"
        raise SwzError("SWZ574", f"another {what} runs in {path}", hint=hint) from error

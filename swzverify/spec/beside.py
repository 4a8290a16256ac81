"""Files that a spec names: from its own folder, within the repository that it lies in."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from swzverify.errors import SwzError

UNREADABLE = "SWZ124"
PTX_SUFFIX = ".ptx"
"""The suffix of files with compiled code that an access may name."""
LISTING_SUFFIXES = (".sass", ".cubin")
"""The usual suffixes of files with machine code; a listing may have any."""


_CONFINED: ContextVar[str | None] = ContextVar("confined", default=None)


@contextmanager
def confined(root: str) -> Generator[None]:
    """Within this, specs name files below a root only, whatever repository they are in."""
    token = _CONFINED.set(os.path.realpath(root))
    try:
        yield
    finally:
        _CONFINED.reset(token)


def within(path: str) -> str | None:
    """The path with links followed; None if it lies outside of the root to which specs are confined.

    A path that is not absolute is seen from the root.
    """
    root = _CONFINED.get()
    real = os.path.realpath(path if root is None else os.path.join(root, path))
    return real if root is None or os.path.commonpath([real, root]) == root else None


def below(path: str, file: str) -> tuple[str, str]:
    """A file that the spec at `path` names: its path as people know it, and with links followed.

    A spec may come from a stranger.

    Raises:
        SwzError: SWZ124 if the file lies outside of the repository.
    """
    folder = os.path.dirname(path) or os.curdir
    shown = os.path.normpath(os.path.join(folder, file)).replace(os.sep, "/")
    real, root = os.path.realpath(shown), _root(os.path.realpath(folder))
    if os.path.isabs(file) or os.path.commonpath([real, root]) != root or within(real) is None:
        hint = "name it from the spec's folder, within the repository"
        raise SwzError(UNREADABLE, f"'{file}' lies outside of the repository that the spec is in", hint=hint)
    return shown, real


def _root(folder: str) -> str:
    """The nearest folder upwards with a `.git`; else the working folder if above, else this."""
    at = folder
    while True:
        if os.path.lexists(os.path.join(at, ".git")):
            return at
        above = os.path.dirname(at)
        if above == at:
            break
        at = above
    here = os.path.realpath(os.curdir)
    return here if os.path.commonpath([here, folder]) == here else folder

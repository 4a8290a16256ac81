"""The object of a spec that a command is about, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from swzverify.errors import SwzError, nearest

T = TypeVar("T")


def named(path: str, noun: str, given: Mapping[str, T], name: str | None) -> T:
    """The object with a name, or the only one; `noun` is what it is, and its option.

    Raises:
        SwzError: SWZ561 if there is none, or if several have no name given.
    """
    if name is None and len(given) == 1:
        return next(iter(given.values()))
    if name is not None and name in given:
        return given[name]
    known = f"{noun}s are {', '.join(given) or 'none'}"
    if name is None:
        raise SwzError("SWZ561", f"{path} has {len(given)} {noun}s: which one?", hint=f"--{noun} NAME; {known}")
    raise SwzError("SWZ561", f"{path} has no {noun} '{name}'", hint=nearest(name, given) or known)

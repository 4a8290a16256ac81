"""Which kernels a user means: by the PTX's or a readable name, a unique beginning, or a glob."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final

from swzverify.core.demangle import demangled
from swzverify.errors import SwzError, nearest

_MOST_LISTED: Final = 8
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user wrote, and the names of the kernels that it means; `is_glob` where these are any number."""

    text: str
    names: tuple[str, ...]
    is_glob: bool = False


def wanted_kernels(text: str, kernels: Iterable[str]) -> Wanted:
    """The kernels of these names that a text means.

    A name that is the whole of the text goes before longer ones. Spaces do not count.

    Errors: SWZ551 if there is none, or if a text without `*` and `?` may mean several.

    >>> wanted_kernels("gemm<8>", ["_Z4gemmILi8EEvPf", "_Z4gemmILi16EEvPf"]).names
    ('_Z4gemmILi8EEvPf',)
    >>> wanted_kernels("gemm*", ["_Z4gemmILi8EEvPf", "_Z4gemmILi16EEvPf"]).names
    ('_Z4gemmILi8EEvPf', '_Z4gemmILi16EEvPf')
    """
    names = list(dict.fromkeys(kernels))
    if text in names:
        return Wanted(text, (text,))
    plain = _tight(text)
    if found := _fitting(names, lambda form: form == plain or form.partition("<")[0] == plain):
        return _one(text, found)
    if "*" in text or "?" in text:
        pattern = plain.replace("[", "[[]")
        if found := _fitting(names, lambda form: fnmatchcase(form, pattern)):
            return Wanted(text, tuple(found), is_glob=True)
    elif found := _fitting(names, lambda form: form.startswith(plain)):
        return _one(text, found)
    known = [form for each in names for form in dict.fromkeys((each, demangled(each).short))]
    hint = nearest(text, known) or f"there are {_listed(names)}"
    raise SwzError("SWZ551", f"no kernel is called {repr(text[:_LONGEST])[1:-1]}", hint=hint)


def _one(text: str, found: list[str]) -> Wanted:
    if len(found) > 1:
        hint = f"give more of the name; a glob such as '{text[:_LONGEST]}*' means all of them"
        message = f"{text[:_LONGEST]!r} may mean {len(found)} kernels: {_listed(found)}"
        raise SwzError("SWZ551", message, hint=hint)
    return Wanted(text, tuple(found))


def _fitting(names: Iterable[str], fits: Callable[[str], bool]) -> list[str]:
    return [each for each in names if any(fits(_tight(form)) for form in (each, *demangled(each)))]


def _tight(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _listed(names: list[str]) -> str:
    """Some of the names as people read them; whole ones where the short ones are alike."""
    short = [demangled(each).short for each in names]
    shown = [one if short.count(one) == 1 else demangled(each).whole for one, each in zip(short, names, strict=True)]
    more = ", ..." if len(names) > _MOST_LISTED else ""
    return ", ".join(each[:_LONGEST] for each in islice(shown, _MOST_LISTED)) + more if names else "none"

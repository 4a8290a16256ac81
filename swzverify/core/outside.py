"""What other packages add: claims, report formats and readers of files, by their entry points.

An entry point is looked for only when swzverify itself has no such name, or when names are listed,
so that an ordinary run does not look for any. A name of swzverify is never replaced.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from swzverify.errors import SwzError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

CODE = "SWZ821"


class Group(StrEnum):
    """What a package can add; the value is the group of its entry points."""

    CLAIMS = "swzverify.claims"
    FORMATS = "swzverify.formats"
    READERS = "swzverify.readers"

    @property
    def noun(self) -> str:
        """One of them."""
        return {"claims": "claim", "formats": "report format", "readers": "reader"}[self.value.partition(".")[2]]


def _found(group: Group) -> Mapping[str, tuple[EntryPoint, ...]]:
    """The entry points of a group by their names; nothing is imported."""
    return _found_on(group, tuple(sys.path))


@cache
def _found_on(group: Group, path: tuple[str, ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - most runs look for none

    del path  # another path may have other packages
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for each in entry_points(group=group.value):
        # Python lists an installed package twice if two entries of its path lead to the same folder.
        same = [one for one in found.get(each.name, ()) if (one.value, _package(one)) == (each.value, _package(each))]
        found[each.name] = (*found.get(each.name, ()), *([] if same else [each]))
    return found


def names(group: Group, inside: Collection[str] = ()) -> list[str]:
    """The names that other packages add, in order; those of swzverify itself are left out."""
    return sorted(name for name in _found(group) if name not in inside)


def has(group: Group, name: str) -> bool:
    """Whether a package adds this name."""
    return name in _found(group)


def load(group: Group, name: str) -> object:
    """The object of a name that a package adds.

    Raises:
        SwzError: SWZ821 if it cannot be used.
    """
    first, *others = _found(group)[name]
    if others:
        packages = " and ".join(sorted(_package(each) for each in (first, *others)))
        raise SwzError(CODE, f"the {group.noun} {name!r} is added by {packages}", hint="uninstall all but one of them")
    try:
        return first.load()
    except Exception as error:
        raise refuse(group, name, f"{type(error).__name__}: {error}", "it must be importable") from error


def refuse(group: Group, name: str, found: str, rule: str) -> SwzError:
    """The error for what a package adds and cannot be used: what was found, and the rule it breaks.

    >>> print(refuse(Group.CLAIMS, "mine", "it is 3", "a claim is a class"))
    SWZ821: the claim 'mine' cannot be used: it is 3
      a claim is a class
      mend or uninstall the package that adds it
    """
    entry = _found(group).get(name, ())
    by = f"{_package(entry[0])}, " if entry else ""
    value = f" ({by}{entry[0].value})" if entry else ""
    package = f"the package {_package(entry[0])}" if entry else "the package that adds it"
    return SwzError(
        CODE, f"the {group.noun} {name!r}{value} cannot be used: {found}", hint=f"{rule}\nmend or uninstall {package}"
    )


def _package(entry: EntryPoint) -> str:
    return "an unnamed package" if entry.dist is None else entry.dist.name

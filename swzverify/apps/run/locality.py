"""Orders of thread blocks of a spec, counted wave by wave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from swzverify.apps.run.one_case import named, one_case
from swzverify.errors import SwzError
from swzverify.search.costs import Locality, locality
from swzverify.spec import load_spec


@dataclass(frozen=True, slots=True)
class LocalityOptions:
    """What is asked of `locality`: the maps by name (none: all with a row and a column), the blocks
    of a wave, the case of the constants.
    """

    maps: Sequence[str] = ()
    wave: int = 132
    at: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Counted:
    """The orders of one case, in the order in which they are named, and the case in words."""

    path: str
    orders: tuple[Locality, ...]
    words: tuple[str, ...]


def count_locality(path: str, wanted: LocalityOptions) -> Counted:
    """Count the orders. Errors: `SpecError`; SWZ581 unknown name, value or case; `locality`'s."""
    spec = load_spec(path)
    case, words = one_case(spec, wanted.at)
    unknown = sorted(set(wanted.at) - set(case.chosen))
    if unknown:
        known = ", ".join(case.chosen) or "none"
        raise SwzError("SWZ581", f"--at {unknown[0]}: no constant with several values", hint=f"there are: {known}")
    names = list(dict.fromkeys(wanted.maps)) or [name for name, each in case.maps.items() if len(each.value) == 2]
    if not names:
        raise SwzError("SWZ585", f"{path} has no map with a row and a column", hint="value: [row, column]")
    orders = tuple(locality(named(case.maps, name, "map", path), wanted.wave) for name in names)
    return Counted(path, orders, words)

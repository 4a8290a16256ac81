"""All kinds of witnesses: how each is checked, and how one is looked for.

Looking needs nothing but the statement. So a recheck can tell a goal that has no witness from one
whose witness was taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from swzrecheck.propose import periods
from swzrecheck.statement import Statement
from swzrecheck.witness import Data
from swzrecheck.witness_bounds import check_bounds, find_bounds
from swzrecheck.witness_choices import check_choices, find_choices
from swzrecheck.witness_gf2 import check_gf2, find_gf2
from swzrecheck.witness_lanes import check_lanes, find_lanes
from swzrecheck.witness_radix import check_radix, find_radix
from swzrecheck.witness_residues import check_residues, find_residues
from swzrecheck.witness_slots import check_slots, find_slots

CHECKERS: Mapping[str, Callable[[Statement, Data], None]] = {
    "bounds": check_bounds,
    "choices": check_choices,
    "gf2": check_gf2,
    "lanes": check_lanes,
    "radix": check_radix,
    "residues": check_residues,
    "slots": check_slots,
}


def find_witness(statement: Statement) -> tuple[str, dict[str, object]] | None:
    """The cheapest witness of a statement, with its name; None where none applies."""
    for name, find in (("bounds", find_bounds), ("gf2", find_gf2), ("radix", find_radix), ("lanes", find_lanes)):
        found = find(statement)
        if found is not None:
            return name, found
    for proposed in periods(statement):
        for name, examine in (("residues", find_residues), ("choices", find_choices)):
            found = examine(statement, proposed)
            if found is not None:
                return name, found
    found = find_slots(statement)
    return None if found is None else ("slots", found)

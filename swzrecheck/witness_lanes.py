"""The witness of a limit that no warp instruction can exceed: one wavefront or sector per lane.

Only lanes with an address count. An aligned lane has at most one word in a bank, a copying lane is in
one class of its octet, and an aligned lane of global memory lies in one sector. So no warp
instruction costs more than it has lanes with addresses, for all addresses. The checker reads the
alignment from the expression.
"""

from __future__ import annotations

from swzrecheck.affine import forms
from swzrecheck.statement import Cost, GatherCost, Statement, variables_of
from swzrecheck.warp_rule import warp_rule
from swzrecheck.witness import Data, WitnessError, require, require_same


def find_lanes(statement: Statement) -> dict[str, object] | None:
    """The witness of a limit that is no less than the lanes with addresses; else None."""
    try:
        return _examine(statement)
    except WitnessError:
        return None


def check_lanes(statement: Statement, data: Data) -> None:
    """Refuse, by WitnessError, a witness that does not show the statement."""
    require_same(data, _examine(statement))


def _examine(statement: Statement) -> dict[str, object]:
    """The lanes with addresses; refused where the limit is less, or a lane may be misaligned."""
    if not isinstance(statement, Cost | GatherCost):
        raise WitnessError("lanes say nothing about such a statement")
    rule = warp_rule(statement.instruction)
    lanes = rule.address_lanes
    require(bool(statement.at_most) and statement.at_most[0] >= lanes, f"the limit is less than {lanes}")
    address = forms(statement.program, variables_of(statement), [statement.address])[0]
    low = address[: rule.width_bytes.bit_length() - 1]
    require(all(form == 0 for form in low), "that lanes are aligned cannot be read off the expression")
    return {"lanes": lanes}

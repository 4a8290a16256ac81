"""An access of compiled code as an access of a spec, with the claim that pins its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from swzverify.compiled.kernel import KernelAccess, LaneLeaf, Leaf, LoopLeaf, OpaqueLeaf, TripsLeaf
from swzverify.compiled.kernel.arithmetic import add
from swzverify.compiled.kernel.powers import power_of_terms
from swzverify.compiled.scan.spell import plain_name
from swzverify.compiled.scan.split import Parts, is_shared, split
from swzverify.compiled.scan.unwrapped import COORDINATES, NotWrittenError, all_of, unwrapped
from swzverify.compiled.scan.verdict import Decision, Verdict
from swzverify.hardware import INSTRUCTIONS
from swzverify.ir.c_formula import CFormula
from swzverify.ir.expr import TRUE, Expr, conjuncts, const

MOST_BITS: Final = 16
"""Bits of data of a lane that are written as a value of its own."""
_LARGEST_ALIGN: Final = 128


@dataclass(frozen=True, slots=True)
class Written:
    """An access as texts of a spec, or the reason why there are none.

    Attributes:
        instruction: The name of the instruction.
        address: The address.
        base_align: The alignment of the base.
        condition: The condition under which a lane takes part.
        loops: The text of each loop variable's range.
        lanes: The text of the range of each value that lanes have of their own.
        claim: The kind of the claim and its number of wavefronts, None for `conflict_free`.
        reason: Why there are no texts.
    """

    instruction: str = ""
    address: str = ""
    base_align: int | None = None
    condition: str = ""
    loops: Mapping[str, str] = field(default_factory=dict[str, str])
    lanes: Mapping[str, str] = field(default_factory=dict[str, str])
    claim: tuple[str, int | None] = ("", None)
    reason: str = ""


def written(access: KernelAccess, decision: Decision) -> Written:
    """An access as a spec states it.

    The part of the address that all lanes share is a part of the base: costs depend only on its
    alignment.
    """
    try:
        return _written(access, decision)
    except NotWrittenError as error:
        return Written(reason=str(error))


def _written(access: KernelAccess, decision: Decision) -> Written:
    row = access.cost.row
    if row is None or access.address is None or decision.verdict not in (Verdict.FREE, Verdict.CONFLICT):
        raise NotWrittenError(decision.reason or f"its verdict is {decision.verdict}")
    if decision.at_least or access.cost.note or row.name not in INSTRUCTIONS:
        raise NotWrittenError("what it costs is not pinned down")
    parts = split(access, access.address)
    names = _Names()
    offset = add(add(parts.own, parts.mixed), const(parts.shared.number, 32))
    for leaf in parts.leaves_of(offset):
        names.take(leaf)
    if row.warp_wide and parts.own_guard is not TRUE:
        raise NotWrittenError("some lanes of a warp do not make it, and it needs all")
    condition = "" if row.warp_wide else _condition(parts, names)
    address = unwrapped(offset, names.known, names.limits).text
    align = None
    if parts.shared.terms:
        align = max(row.width_bytes, power_of_terms(parts.shared.terms, _LARGEST_ALIGN))
    claim: tuple[str, int | None] = ("wavefronts", decision.wavefronts or row.group_count)
    if decision.verdict is Verdict.FREE and not row.joins:
        claim = ("conflict_free", None)
    elif decision.verdict is Verdict.CONFLICT and decision.wavefronts is None:
        raise NotWrittenError("its wavefronts are not known")
    return Written(row.name, address, align, condition, names.loops, names.lanes, claim)


class _Names:
    """The names of a spec's variables, and their ranges."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.loops: dict[str, str] = {}
        self.lanes: dict[str, str] = {}
        self.limits: dict[str, int] = {}

    def take(self, leaf: Leaf) -> None:
        """Name a variable. A `NotWrittenError` for what has no range in a spec."""
        if leaf.name in self.known:
            return
        if leaf.name in COORDINATES:
            self.known[leaf.name] = COORDINATES[leaf.name]
            return
        if leaf.values is not None and isinstance(leaf, LoopLeaf):
            name = f"{'trips' if isinstance(leaf, TripsLeaf) else 'value'}_{leaf.line}_{len(self.known)}"
            counted = isinstance(leaf, TripsLeaf)
            self.limits[leaf.name] = len(leaf.values) if counted else max(leaf.values) + 1
            if is_shared(leaf):
                self.loops[name] = str(len(leaf.values)) if counted else str(sorted(leaf.values))
            elif counted:
                self.lanes[name] = str(len(leaf.values))
            else:
                raise NotWrittenError(f"each lane has its own value of {plain_name(leaf.name)}")
        elif isinstance(leaf, OpaqueLeaf) and not is_shared(leaf) and leaf.variable.limit <= 1 << MOST_BITS:
            name = f"data_{leaf.line}_{len(self.known)}"
            self.lanes[name] = str(leaf.variable.limit)
        else:
            raise NotWrittenError(f"it depends on {plain_name(leaf.name)}")
        self.known[leaf.name] = name


def _condition(parts: Parts, names: _Names) -> str:
    """Which lanes make the access.

    Where lanes' distances are numbers, the cost was counted for all lanes that coordinates let
    through: what else the guard says may be left out.
    """
    found: list[CFormula] = []
    for each in (*conjuncts(parts.own_guard), *conjuncts(parts.other_guard)):
        try:
            found.append(_formula(each, parts, names))
        except NotWrittenError:
            if not parts.is_exact or all(isinstance(leaf, LaneLeaf) for leaf in parts.leaves_of(each)):
                raise
    whole = all_of(found)
    return "" if whole is None else whole.text


def _formula(condition: Expr, parts: Parts, names: _Names) -> CFormula:
    for leaf in parts.leaves_of(condition):
        names.take(leaf)
    return unwrapped(condition, names.known, names.limits)

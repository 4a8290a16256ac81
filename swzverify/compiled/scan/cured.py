"""What would free a conflict: the array of an access as a tile, for the search for cures.

An array may be read as rows of any length that divides it: an access is at the row and the place in
it where its bytes lie. The search changes how rows lie, and proves each change for all accesses of
the array, so that all of them must be known exactly; where one is not, the advice says so. Of the
proved original the wavefronts must be those of the scan.

A dynamic array has the bytes of the launch, or those that its accesses are proved to touch. An array
that PTX aligns to less than its widest access needs is taken to be aligned to that. The cure says both.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from swzverify.claims import ConflictFree, Measure, Outcome, Wavefronts
from swzverify.claims.cost_claim import CostClaim
from swzverify.compiled.kernel import ArrayLeaf, KernelAccess, LaneLeaf, TripsLeaf
from swzverify.compiled.kernel.arithmetic import sub
from swzverify.compiled.kernel.leaves import begin_of
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.compiled.kernel.listing import Touch
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kinds import SCAN_CLAIMS
from swzverify.compiled.ptx import Symbol
from swzverify.compiled.scan.bounds import PLACE_OF_BOUNDS
from swzverify.compiled.scan.claim import NEVER_MADE, Claim, ClaimVerdict, size_unknown
from swzverify.compiled.scan.spell import plain_name
from swzverify.compiled.scan.split import is_shared, split
from swzverify.compiled.scan.unwrapped import COORDINATES, NotWrittenError, unwrapped
from swzverify.compiled.scan.verdict import TRIAL, Decision, Verdict
from swzverify.core.words import counted, listed
from swzverify.errors import SwzError
from swzverify.hardware import INSTRUCTIONS, Instruction, find_target
from swzverify.ir.c_ast import BinaryOp
from swzverify.ir.c_formula import CFormula, every, joined
from swzverify.ir.expr import conjuncts, variables
from swzverify.layout import Layout
from swzverify.prover import Options, prove
from swzverify.search.cures import Cure, Surroundings, find_cures
from swzverify.subjects import Access, AlignedBase, Loop, Tile

MOST_ACCESSES: Final = 32
"""Accesses of one array."""
_MOST_ROWS: Final = 2
_MOST_LINES: Final = 3
_WORD_BYTES: Final = 4
_MOST_LANES: Final = 1 << 16
"""Lanes of an access, over all trips of its loops."""
_RLIMIT: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Judged:
    """An access with what the scan says of it: its cost, and its claims."""

    access: KernelAccess
    decision: Decision
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """The changes that free a conflict, the nearest of each kind, or why there are none.

    Both are empty if the access has no conflict.
    """

    cures: tuple[Cure, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Launched:
    """What is known of the launch: the block, the target, and the bytes of dynamic shared memory."""

    block: BlockShape | None
    target: str
    smem: int | None = None


def advice(judged: Sequence[Judged], launch: Launched) -> list[Advice]:
    """For each conflict what frees it, or why nothing is offered.

    The search is at the worst conflict of an array, and no other access of the array gets worse.
    """
    reasons = [""] * len(judged)
    found: dict[int, tuple[Cure, ...]] = {}
    made = [number for number, each in enumerate(judged) if each.decision.reason != NEVER_MADE]
    arrays, lost = _arrays([judged[number].access for number in made])
    if lost:
        reasons = [lost] * len(judged)
    searched: Symbol | None = None
    for symbol, places in arrays.items() if not lost else ():
        numbers = [made[place] for place in places]
        worst = max(numbers, key=lambda number: _cost(judged[number].decision))
        reason = _not_searched(symbol, judged[worst], len(numbers), searched)
        if not reason:
            searched = symbol
            try:
                array = _Array(symbol, [judged[number] for number in numbers], launch)
                found[worst], reason = array.cures(numbers.index(worst))
            except (NotWrittenError, SwzError, ValueError) as error:
                reason = str(error)
        line = judged[worst].access.site.line
        at_worst = f"a change of {symbol.name} is searched at its costliest access only, line {line}"
        for number in numbers:
            reasons[number] = _of_its_own(judged[number]) or (reason if reason or number == worst else at_worst)
    return [
        Advice(found.get(number, ()), "" if found.get(number) else reasons[number])
        if each.decision.verdict is Verdict.CONFLICT
        else Advice()
        for number, each in enumerate(judged)
    ]


def _not_searched(symbol: Symbol, worst: Judged, count: int, searched: Symbol | None) -> str:
    """Why no change of an array is looked for; empty if it is."""
    if not _cost(worst.decision):
        return _of_its_own(worst) or "it has no conflict"
    if count > MOST_ACCESSES:
        return f"{symbol.name} has {count} accesses; the search takes at most {MOST_ACCESSES}"
    return f"changes are looked for in one array of a kernel: {searched.name}" if searched is not None else ""


def _of_its_own(judged: Judged) -> str:
    """Why no change is looked for at an access, whatever is known of its array."""
    if judged.decision.engines == (TRIAL,):
        return "a trial found the conflict: what the access costs in other launches is not known"
    if judged.decision.at_least:
        return "only a lower bound of its cost is known"
    return "" if judged.decision.wavefronts is not None else "its wavefronts are not known"


def _cost(decision: Decision) -> int:
    """The wavefronts of a conflict that is known exactly; 0 of anything else."""
    if decision.verdict is not Verdict.CONFLICT or decision.at_least:
        return 0
    return decision.wavefronts or 0


def _arrays(made: Sequence[KernelAccess]) -> tuple[dict[Symbol, list[int]], str]:
    """The accesses of each array; or why this is not known of some access, which may then reach any."""
    arrays: dict[Symbol, list[int]] = {}
    for place, access in enumerate(made):
        symbols = _symbols_of(access)
        if access.touch is Touch.BARRIER:
            return {}, f"the barrier object of line {access.site.line} may lie in any array"
        if access.address is None or access.reason or access.cost.row is None:
            return {}, f"line {access.site.line} may reach any array"
        if len(symbols) != 1:
            names = " and ".join(each.name for each in symbols)
            reached = f"{names} by one address" if symbols else "no array by name"
            return {}, f"line {access.site.line} reaches {reached}"
        arrays.setdefault(symbols[0], []).append(place)
    dynamic = [each.name for each in arrays if each.size_bytes is None]
    if len(dynamic) > 1:
        return {}, f"{' and '.join(dynamic)} begin at one place in dynamic shared memory"
    return arrays, ""


def _symbols_of(access: KernelAccess) -> list[Symbol]:
    """The arrays that an address reads."""
    read = {each.name for each in variables(access.address)} if access.address is not None else set[str]()
    return [each.symbol for each in access.leaves if isinstance(each, ArrayLeaf) and each.name in read]


@dataclass(frozen=True, slots=True)
class _Formulas:
    """An access as formulas of a spec.

    `address` counts bytes from the array's start. `condition` holds in each lane that makes the access.
    `loops` go at least as far as its own.
    """

    row: Instruction
    address: CFormula
    condition: CFormula | None
    loops: tuple[Loop, ...]


def _formulas(access: KernelAccess) -> _Formulas:
    """An access in every place in which it may be made, and perhaps in more.

    An access that is free with more lanes is free with fewer.
    """
    row, address = access.cost.row, access.address
    if access.site.piece is not None:
        raise NotWrittenError("wmma reads rows that lie one stride apart: no other change than another stride helps it")
    if row is None or address is None or access.cost.note or row.name not in INSTRUCTIONS:
        raise NotWrittenError("the search does not know the instruction")
    (array,) = [each for each in access.leaves if isinstance(each, ArrayLeaf) and each.variable in variables(address)]
    offset = normal(sub(address, begin_of(array, 32)))
    leaves = {each.name: each for each in access.leaves}
    names, limits = dict[str, str](), dict[str, int]()
    for variable in variables(offset):
        leaf = leaves[variable.name]
        if isinstance(leaf, LaneLeaf) and leaf.name in COORDINATES:
            names[leaf.name] = COORDINATES[leaf.name]
        elif isinstance(leaf, TripsLeaf) and is_shared(leaf) and leaf.values is not None:
            names[leaf.name], limits[leaf.name] = f"trips_{len(names)}", max(leaf.values) + 1
        else:
            raise NotWrittenError(f"its address depends on {plain_name(leaf.name)}")
    place = unwrapped(offset, names, limits, can_wrap=False)
    loops = tuple(Loop(names[each], 0, limit) for each, limit in limits.items())
    own = {name: words for name, words in COORDINATES.items() if name in leaves}
    conditions: list[CFormula] = []
    for each in conjuncts(split(access, address).own_guard):
        with suppress(NotWrittenError):
            conditions += [] if row.warp_wide else [unwrapped(each, own)]
    return _Formulas(row, place, every(conditions), loops)


def _formulas_at_line(access: KernelAccess) -> _Formulas:
    """An access as formulas. Error: `NotWrittenError`, with its line."""
    try:
        return _formulas(access)
    except NotWrittenError as error:
        raise NotWrittenError(f"line {access.site.line}: {error}") from None


class _Array:
    """All accesses of one array, exactly."""

    def __init__(self, symbol: Symbol, judged: Sequence[Judged], launch: Launched) -> None:
        block = launch.block
        if block is None:
            raise NotWrittenError("the shape of the block is not known")
        self.symbol, self.judged, self.block, self.target = symbol, judged, block, launch.target
        for each in judged:
            if each.decision.is_of_source:
                raise NotWrittenError(f"line {each.access.site.line}: its cost depends on where the copy reads")
        self.said = [_formulas_at_line(each.access) for each in judged]
        self.element_bytes = min(each.row.width_bytes for each in self.said)
        if any(prod(block) * prod(loop.stop or 0 for loop in each.loops) > _MOST_LANES for each in self.said):
            raise NotWrittenError("an access of its array is made too often for a search")
        # A tile's base is aligned to what its widest access needs, whatever PTX aligns the array to.
        self.align_bytes = max(symbol.align_bytes, *(each.row.width_bytes for each in self.said))
        self.size_bytes = symbol.size_bytes or launch.smem or self._touched_bytes()
        # What is open of a dynamic array without a size is how many bytes suffice; else it is an alignment.
        enough = [self.align_bytes] * len(SCAN_CLAIMS)
        if symbol.size_bytes is None and launch.smem is None:
            enough[PLACE_OF_BOUNDS] = self.size_bytes
        for each in judged:
            if not all(map(_holds, each.claims, enough)):
                line = each.access.site.line
                raise NotWrittenError(f"line {line} is not known to be aligned and inside of {symbol.name}")

    def _touched_bytes(self) -> int:
        """The first bytes of a dynamic array that all its accesses are proved to stay in."""
        needs = [each.claims[PLACE_OF_BOUNDS].needs for each in self.judged]
        known = [each for each in needs if each is not None]
        if len(known) < len(needs):
            raise NotWrittenError(size_unknown(self.symbol.name))
        return max(known)

    def cures(self, place: int) -> tuple[tuple[Cure, ...], str]:
        """What frees the access at a place, for the longest rows that help; or why nothing does."""
        rows = self._rows(place)
        reason = f"no factor of its address divides {self.symbol.name} into rows"
        for row_bytes in rows:
            reason = f"no pad or swizzle of rows of {row_bytes} bytes was proved to free this access and harm no other"
            tile = self._tile(row_bytes)
            accesses = [self._access(tile, number, row_bytes) for number in range(len(self.said))]
            claims = [_claim(each) for each in accesses]
            claim = claims[place]
            verdict = prove(claim, options=Options(rlimit=_RLIMIT))
            if verdict.outcome is not Outcome.REFUTED or not _is_same_cost(
                verdict.measure, self.judged[place].decision
            ):
                reason = f"its cost depends on where {self.symbol.name} begins"
                continue
            beside = Surroundings(claims, accesses)
            if cures := find_cures(claim, beside, Options(rlimit=_RLIMIT), verdict.measure, quick=True):
                return tuple(self._with_rest(each, row_bytes, place) for each in cures), ""
        return (), reason

    def _with_rest(self, cure: Cure, row_bytes: int, place: int) -> Cure:
        """A cure that says what else has to change, of an array that PTX does not fix by itself."""
        name, found = self.symbol.name, [cure.also] if cure.also else []
        if self.element_bytes != _WORD_BYTES:
            found.append(f"an element is {self.element_bytes} bytes")
        if self.symbol.align_bytes < self.align_bytes:
            found.append(f"declare it with __align__({self.align_bytes}), PTX aligns it to {self.symbol.align_bytes}")
        if self.symbol.size_bytes is None:
            found += ["launch with these bytes more"] if cure.also else []
            found.append(f"the first {self.size_bytes} bytes of {name} are read as rows of {row_bytes} bytes")
        others = sorted({each.access.site.line for each in self.judged} - {self.judged[place].access.site.line})
        if others and (self.symbol.size_bytes is None or self.symbol.align_bytes < self.align_bytes):
            more = [f"{len(others) - _MOST_LINES} more"] if len(others) > _MOST_LINES else []
            lines = f"{counted(len(others), 'PTX line').partition(' ')[2]} {listed([*others[:_MOST_LINES], *more])}"
            found.append(f"the accesses at {lines} have to change alike")
        return replace(cure, also="; ".join(found), after=None)

    def _rows(self, place: int) -> list[int]:
        """Lengths of rows that the address suggests: its factors, the longest first."""
        access, size = self.judged[place].access, self.size_bytes
        assert access.address is not None  # noqa: S101 - it is stated
        begins = {each.variable for each in access.leaves if isinstance(each, ArrayLeaf)}
        terms = sum_of(access.address).terms.items()
        factors = {factor & 0xFFFFFFFF for term, factor in terms if not begins & {*variables(term)}}
        rows = [each for each in factors if 2 * self.element_bytes <= each < size]
        if self.symbol.size_bytes is not None:
            rows = [each for each in rows if not size % each]
        return sorted((each for each in rows if not each % self.element_bytes), reverse=True)[:_MOST_ROWS]

    def _tile(self, row_bytes: int) -> Tile:
        """The array as rows of so many bytes."""
        columns = row_bytes // self.element_bytes
        layout = Layout((-(-self.size_bytes // row_bytes), columns), (columns, 1))
        return Tile(self.symbol.name, 8 * self.element_bytes, layout, base=AlignedBase(self.align_bytes))

    def _access(self, tile: Tile, number: int, row_bytes: int) -> Access:
        """An access at the row and the place in it where its bytes lie."""
        said = self.said[number]
        row = joined(said.address.root, BinaryOp.DIVIDE, row_bytes)
        place = joined(joined(said.address.root, BinaryOp.REMAINDER, row_bytes), BinaryOp.DIVIDE, self.element_bytes)
        return Access(
            f"access_{number}",
            said.row,
            find_target(self.target),
            self.block,
            loops=said.loops,
            tile=tile,
            coord=(CFormula.of(row), CFormula.of(place)),
            predicate=said.condition,
        )


def _claim(access: Access) -> CostClaim:
    """That an access is free, as the scan means it: its groups do not join."""
    row = access.instruction
    return Wavefronts(access, row.group_count) if row.joins else ConflictFree(access)


def _holds(claim: Claim, enough: int) -> bool:
    """Whether a claim is proved, or would be with what is there."""
    if claim.verdict is ClaimVerdict.UNKNOWN and claim.needs is not None:
        return claim.needs <= enough
    return claim.verdict is ClaimVerdict.PROVED


def _is_same_cost(measure: Measure | None, decision: Decision) -> bool:
    """Whether the prover finds the wavefronts that the scan found."""
    if measure is None or decision.wavefronts is None or decision.at_least:
        return False
    return measure.wavefronts == decision.wavefronts or not measure.exact

"""What would free a conflict: the array of an access as a tile, for the search for cures.

An array may be read as rows of any length that divides it: an access is at the row and the place in
it where its bytes lie. The search changes how rows lie, and proves each change for all accesses of
the array, so that all of them must be known exactly; where one is not, nothing is said. Of the
proved original the wavefronts must be those of the scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Final

from swzverify.claims import ConflictFree, Measure, Outcome, Wavefronts
from swzverify.claims.cost_claim import CostClaim
from swzverify.compiled.kernel import KernelAccess, Kind
from swzverify.compiled.kernel.arithmetic import sub
from swzverify.compiled.kernel.leaves import begin_of
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import Symbol
from swzverify.compiled.scan.c_text import COORDINATES, NotWrittenError, c_text
from swzverify.compiled.scan.claim import NEVER_MADE, Claim, ClaimVerdict
from swzverify.compiled.scan.spell import plain_name
from swzverify.compiled.scan.split import is_shared, split
from swzverify.compiled.scan.verdict import Decision, Verdict
from swzverify.errors import SwzError
from swzverify.hardware import INSTRUCTIONS, Instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.ir.expr import conjuncts, variables
from swzverify.layout import Layout
from swzverify.prover import Options, prove
from swzverify.search.cures import Cure, Surroundings, find_cures
from swzverify.subjects import Access, AlignedBase, Loop, Tile

MOST_ARRAYS: Final = 1
"""Arrays of one function that are searched: the first ones with a conflict."""
MOST_ACCESSES: Final = 8
"""Accesses of one array."""
_MOST_ROWS: Final = 2
_MOST_LANES: Final = 1 << 16
"""Lanes of an access, over all trips of its loops."""
_RLIMIT: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Judged:
    """An access with what the scan says of it: its cost, and its claims."""

    access: KernelAccess
    decision: Decision
    claims: tuple[Claim, ...]


def cured(judged: Sequence[Judged], block: BlockShape | None, target: str) -> list[tuple[Cure, ...]]:
    """For each access the changes that free it, the nearest of each kind.

    The search is at the worst conflict of an array, and no other access of the array gets worse. Empty
    if the access has no conflict, or if nothing is proved.
    """
    found: list[tuple[Cure, ...]] = [() for _ in judged]
    made = [number for number, each in enumerate(judged) if each.decision.reason != NEVER_MADE]
    arrays: dict[Symbol, list[int]] = {}
    for number in made:
        symbol = _array_of(judged[number].access)
        if symbol is None or block is None:
            # What is not known to be of one array may be of any.
            return found
        arrays.setdefault(symbol, []).append(number)
    searches = MOST_ARRAYS
    for symbol, numbers in arrays.items():
        worst = max(numbers, key=lambda number: _cost(judged[number].decision))
        if not _cost(judged[worst].decision) or len(numbers) > MOST_ACCESSES or not searches or block is None:
            continue
        searches -= 1
        try:
            array = _Array(symbol, [judged[number] for number in numbers], block, target)
            found[worst] = array.cures(numbers.index(worst))
        except (NotWrittenError, SwzError, ValueError):
            continue
    return found


def _cost(decision: Decision) -> int:
    """The wavefronts of a conflict that is known exactly; 0 of anything else."""
    if decision.verdict is not Verdict.CONFLICT or decision.at_least:
        return 0
    return decision.wavefronts or 0


def _array_of(access: KernelAccess) -> Symbol | None:
    """The one array that an access is known to be of."""
    if access.address is None or access.reason or access.row is None:
        return None
    read = {each.name for each in variables(access.address)}
    symbols = [each.symbol for each in access.leaves if each.symbol is not None and each.name in read]
    return symbols[0] if len(symbols) == 1 and symbols[0].size_bytes is not None else None


@dataclass(frozen=True, slots=True)
class _Said:
    """An access as texts of a spec.

    `address` counts bytes from the array's start. `condition` holds in each lane that makes the access.
    `loops` go at least as far as its own.
    """

    row: Instruction
    address: str
    condition: str
    loops: tuple[Loop, ...]


def _said(access: KernelAccess) -> _Said:
    """An access in every place in which it may be made, and perhaps in more.

    An access that is free with more lanes is free with fewer.
    """
    row, address = access.row, access.address
    if row is None or address is None or access.note or row.name not in INSTRUCTIONS:
        raise NotWrittenError("a spec has no such instruction")
    (array,) = [each for each in access.leaves if each.symbol is not None and each.variable in variables(address)]
    offset = normal(sub(address, begin_of(array, 32)))
    leaves = {each.name: each for each in access.leaves}
    names, limits = dict[str, str](), dict[str, int]()
    for variable in variables(offset):
        leaf = leaves[variable.name]
        if leaf.kind is Kind.LANE and leaf.name in COORDINATES:
            names[leaf.name] = COORDINATES[leaf.name]
        elif leaf.kind is Kind.TRIPS and is_shared(leaf) and leaf.values is not None:
            names[leaf.name], limits[leaf.name] = f"trips_{len(names)}", max(leaf.values) + 1
        else:
            raise NotWrittenError(f"it depends on {plain_name(leaf.name)}")
    text = c_text(offset, names, limits, can_wrap=False)
    loops = tuple(Loop(names[each], 0, limit) for each, limit in limits.items())
    own = {name: words for name, words in COORDINATES.items() if name in leaves}
    conditions: list[str] = []
    for each in conjuncts(split(access, address).own_guard):
        with suppress(NotWrittenError):
            conditions += [] if row.warp_wide else [c_text(each, own)]
    return _Said(row, text, " && ".join(conditions), loops)


class _Array:
    """All accesses of one array, exactly."""

    def __init__(self, symbol: Symbol, judged: Sequence[Judged], block: BlockShape, target: str) -> None:
        if any(claim.verdict is not ClaimVerdict.PROVED for each in judged for claim in each.claims):
            raise NotWrittenError("some access is not known to be aligned and in bounds")
        self.symbol, self.judged, self.block, self.target = symbol, judged, block, target
        self.said = [_said(each.access) for each in judged]
        self.element_bytes = min(each.row.width_bytes for each in self.said)
        if any(prod(block) * prod(loop.stop or 0 for loop in each.loops) > _MOST_LANES for each in self.said):
            raise NotWrittenError("the access is made too often for a search")
        # A tile's base is aligned to what its widest access needs; PTX aligns the array so.
        widest = max(each.row.width_bytes for each in self.said)
        if symbol.align_bytes % widest:
            raise NotWrittenError("the array is not aligned to its widest access")

    def cures(self, place: int) -> tuple[Cure, ...]:
        """What frees the access at a place, for the longest rows that help."""
        for row_bytes in self._rows(place):
            tile = self._tile(row_bytes)
            accesses = [self._access(tile, number, row_bytes) for number in range(len(self.said))]
            claims = [_claim(each) for each in accesses]
            claim = claims[place]
            verdict = prove(claim, options=Options(rlimit=_RLIMIT))
            if verdict.outcome is not Outcome.REFUTED or not _is_same_cost(
                verdict.measure, self.judged[place].decision
            ):
                continue
            beside = Surroundings(claims, accesses)
            if cures := find_cures(claim, beside, Options(rlimit=_RLIMIT), verdict.measure, quick=True):
                return cures
        return ()

    def _rows(self, place: int) -> list[int]:
        """Lengths of rows that the address suggests: its factors, the longest first."""
        access, size = self.judged[place].access, self.symbol.size_bytes or 0
        assert access.address is not None  # noqa: S101 - it is stated
        begins = {each.variable for each in access.leaves if each.symbol is not None}
        terms = sum_of(access.address).terms.items()
        factors = {factor & 0xFFFFFFFF for term, factor in terms if not begins & {*variables(term)}}
        rows = [each for each in factors if 2 * self.element_bytes <= each < size]
        return sorted((each for each in rows if not size % each and not each % self.element_bytes), reverse=True)[
            :_MOST_ROWS
        ]

    def _tile(self, row_bytes: int) -> Tile:
        """The array as rows of so many bytes."""
        columns = row_bytes // self.element_bytes
        layout = Layout(((self.symbol.size_bytes or 0) // row_bytes, columns), (columns, 1))
        return Tile(self.symbol.name, 8 * self.element_bytes, layout, base=AlignedBase(self.symbol.align_bytes))

    def _access(self, tile: Tile, number: int, row_bytes: int) -> Access:
        """An access at the row and the place in it where its bytes lie."""
        said = self.said[number]
        coord = (f"{said.address} / {row_bytes}", f"{said.address} % {row_bytes} / {self.element_bytes}")
        return Access(
            f"access_{number}",
            said.row,
            find_target(self.target),
            self.block,
            loops=said.loops,
            tile=tile,
            coord=tuple(map(parse, coord)),
            predicate=parse(said.condition) if said.condition else None,
        )


def _claim(access: Access) -> CostClaim:
    """That an access is free, as the scan means it: its groups do not join."""
    row = access.instruction
    return Wavefronts(access, row.group_count) if row.joins else ConflictFree(access)


def _is_same_cost(measure: Measure | None, decision: Decision) -> bool:
    """Whether the prover finds the wavefronts that the scan found."""
    if measure is None or decision.wavefronts is None or decision.at_least:
        return False
    return measure.wavefronts == decision.wavefronts or not measure.exact

"""What a synthesis finds: the best member of a family, its equals, and why nothing is better."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.ir.c_parse import parse
from swzverify.search.synth.expressions import layout_expression, xor_expression
from swzverify.search.synth.objective import Score
from swzverify.search.synth.problem import Problem, Variant
from swzverify.search.synth.reasons import Reason, family_reason, xor_reason
from swzverify.search.synth.search import Member, Term, price_family
from swzverify.search.synth.xor import solve, xor_search
from swzverify.subjects import OffsetMap, Tile
from swzverify.subjects.offset_map import MODE_NAMES


@dataclass(frozen=True, slots=True)
class Solution:
    """The best members of a family, the answer first; nothing is proved of them yet.

    `optimal` says that every member was priced or ruled out; `looked_at` how many were priced.
    `reason` is None where a member is free of conflicts.
    """

    problem: Problem
    members: tuple[Member, ...]
    optimal: bool
    looked_at: int
    reason: Reason | None

    @property
    def answer(self) -> Member:
        """The best one, first in the family's order."""
        return self.members[0]


def find(problem: Problem, *, every: bool = False) -> Solution:
    """The best member of the problem's family, with every other one of its score if `every`.

    Raises:
        SwzError: Those of the family; SWZ206 for more to price than the budget; SWZ563 for a family
            without a member that the tile can have.

    >>> from swzverify.spec import parse_spec
    >>> from swzverify.search.synth.problem import Form
    >>> case = parse_spec('''
    ... swzverify: 1
    ... tiles: {T: {element: f32, layout: "(32,32):(32,1)"}}
    ... accesses:
    ...   write: {tile: T, instruction: st.shared.b32, threads: 1024, coord: [warp, lane]}
    ...   read: {tile: T, instruction: ld.shared.b32, threads: 1024, coord: [lane, warp]}
    ... ''').cases[0]
    >>> variant = Variant(case.tiles["T"], dict(case.accesses), Form(), 232448)
    >>> found = find(Problem("swizzle", (variant,)))
    >>> str(found.answer.swizzle), found.answer.wavefronts, found.optimal
    ('Swizzle<5,0,5>', (1, 1), True)
    """
    if problem.family == "xor":
        return _by_xor(problem)
    priced = price_family(problem)
    rows = priced.ties() if every else [priced.best()]
    members = tuple(priced.member(row) for row in rows)
    reason = family_reason(problem, priced) if members[0].score.conflicted else None
    return Solution(problem, members, optimal=True, looked_at=priced.count, reason=reason)


def _by_xor(problem: Problem) -> Solution:
    search = xor_search(problem)
    found = solve(search)
    wavefronts = tuple(path.groups << lacks for path, lacks in zip(search.paths, found.lacks, strict=True))
    conflicts = tuple(each - path.groups for path, each in zip(search.paths, wavefronts, strict=True))
    tiles = tuple(_mapped(variant, found.terms) for variant in problem.variants)
    weight = problem.weight_of
    score = Score(
        any(conflicts),
        sum(count * times for count, times in zip(wavefronts, weight, strict=True)),
        sum(count * times for count, times in zip(conflicts, weight, strict=True)),
        max(tile.total_bytes for tile in tiles),
    )
    member = Member(tiles, score, wavefronts, conflicts, terms=found.terms)
    reason = xor_reason(problem) if score.conflicted else None
    return Solution(problem, (member,), found.complete and found.fewest, found.looked_at, reason)


def _mapped(variant: Variant, terms: tuple[Term, ...]) -> Tile:
    """The tile under a map: an expression of the coordinate, or its plain layout without terms."""
    tile = variant.bare()
    if not terms:
        return tile
    expression = xor_offset(variant, terms)
    layout = OffsetMap(tuple(zip(MODE_NAMES, tile.extents, strict=False)), parse(expression), name=tile.name)
    return tile.relaid(layout)


def xor_offset(variant: Variant, terms: tuple[Term, ...]) -> str:
    """The element offset under a map, as a C expression of i, j, ...

    Raises:
        SwzError: SWZ564 if there are more modes than names.
    """
    layout = variant.layout
    if layout.rank > len(MODE_NAMES):
        raise SwzError("SWZ564", f"xor: a tile of {layout.rank} modes has no expression: at most {len(MODE_NAMES)}")
    plain = layout_expression(layout)
    value = f"({plain})" if not plain.isalnum() else plain
    return xor_expression(terms, value, tile_shift(variant.tile))


def tile_shift(tile: Tile) -> int:
    """log2 of an element's bytes; negative for smaller ones."""
    return tile.element_bits.bit_length() - 4

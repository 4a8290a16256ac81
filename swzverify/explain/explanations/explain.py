"""The explanation of a tile or of an access: all statements that can be made of it."""

from __future__ import annotations

from collections.abc import Mapping

from swzverify.claims.cost_claim import CostClaim
from swzverify.errors import SwzError
from swzverify.explain.explanations.changes import best_pad, swizzle_changes
from swzverify.explain.explanations.crowds import crowds, steps
from swzverify.explain.explanations.ranks import ranks
from swzverify.explain.explanations.reading import Forms, access_forms, access_formulas
from swzverify.explain.explanations.statements import Cost, Explanation, Limit, Statement, Unpriced
from swzverify.explain.explanations.tiles import one_to_one, periods, pitches, swizzle_bits, tile_formulas
from swzverify.explain.pictures.chosen import Chosen, chosen
from swzverify.explain.pictures.probe import priced
from swzverify.explain.pictures.words import access_words, map_words
from swzverify.subjects import Access, OffsetMap, Tile
from swzverify.subjects.loop import STAGE


def explain_tile(tile: Tile) -> Explanation:
    """Why the elements of a tile lie in their banks, in its first stage.

    >>> from swzverify.layout import Layout
    >>> found = explain_tile(Tile("T", 32, Layout((32, 32), (32, 1))))
    >>> print(*(each for each in found.statements if str(each).startswith("bank")), sep="; ")
    bank[0] = col[0]; bank[1] = col[1]; bank[2] = col[2]; bank[3] = col[3]; bank[4] = col[4]
    """
    found = (*_of_tile(tile, tile.origin.start_bytes), *one_to_one(tile))
    return Explanation("tile", tile.name, _map(tile), found)


def _map(tile: Tile) -> str:
    shown = "an expression" if isinstance(tile.layout, OffsetMap) else map_words(tile)
    # a tile of the command line has its layout for a name
    return shown if ":" in tile.name or "<" in tile.name else f"{tile.name}: {shown}"


def _of_tile(tile: Tile, start: int) -> list[Statement]:
    return [*swizzle_bits(tile), *tile_formulas(tile, start), *pitches(tile), *periods(tile, start)]


def limit_of(claim: CostClaim, costs: Cost) -> Limit:
    """What a claim on costs allows, and whether these costs keep it."""
    reaches = claim.reaches
    over = costs.bank_conflicts > 0 if claim.limit is None else costs.wavefronts > claim.limit
    short = reaches is not None and costs.wavefronts < reaches
    return Limit(claim.kind, claim.access.name, claim.limit, reaches is not None, not over and not short)


def explain_access(access: Access, at: Mapping[str, int] | None = None, *, changes: bool = True) -> Explanation:
    """Why an access takes its wavefronts.

    The explanation has the lanes of the worst warp instruction, or of the one at the values `at`.
    Without `changes`, other swizzles and pads are left out: they take most of the time.

    Raises:
        SwzError: SWZ581 for values that `at` cannot have, SWZ409 for an access to global memory.

    >>> from swzverify import Layout
    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> tile = Tile("T", 32, Layout((32, 32), (32, 1)))
    >>> column = (parse("lane"), parse("0"))
    >>> read = Access("read", find_instruction("ld.shared.b32"), find_target("sm_90"), (32,), tile=tile, coord=column)
    >>> explain_access(read).statements[1]
    Rank(group_bits=5, unit_bytes=4, unit_rank=5, slot_rank=0, groups=1, joined=False, counts_equal=False)
    """
    access.require_banks()
    run, statements = _costs(access, at)
    forms = access_forms(access)
    statements += _by_bits(access, forms, run)
    if access.tile is not None:
        point: Mapping[str, int] = {} if run is None else run.point
        # The first stage, where the access itself chooses the stage.
        start = access.origin.at(point) + point.get(STAGE, 0) * access.tile.pitch_bytes
        statements += _of_tile(access.tile, start)
    if changes and run is not None and run.costs is not None:
        statements += [*swizzle_changes(access, run.costs), *best_pad(access, run.costs)]
    of_tile = "" if access.tile is None else f", tile {_map(access.tile)}"
    return Explanation("access", access.name, f"{access_words(access)}{of_tile}", tuple(statements))


def _costs(access: Access, at: Mapping[str, int] | None) -> tuple[Chosen | None, list[Statement]]:
    try:
        run = chosen(access, at)
    except SwzError:
        if at:
            raise
        run = None
    costs = priced(access) if run is None or run.costs is None else run.costs
    if isinstance(costs, SwzError):
        return run, [Unpriced(access.name, costs.code, costs.message)]
    rule = (access.instruction.name, access.target.name, str(costs.evidence))
    worst = (costs.wavefronts, costs.minimum, costs.bank_conflicts)
    return run, [Cost(access.name, *rule, *worst, costs.instructions, costs.where)]


def _by_bits(access: Access, forms: Forms, run: Chosen | None) -> list[Statement]:
    formulas: list[Statement] = list(access_formulas(access, forms))
    if run is None:
        return formulas
    why: list[Statement] = list(ranks(access, forms, run.point))
    if why:
        return [*why, *(crowds(run) if run.cost.bank_conflicts else []), *formulas]
    return [*crowds(run), *steps(run), *formulas]

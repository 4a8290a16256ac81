"""From a claim to all that it rests on: the one place that says what a claim of each kind is made of.

The certificate says none of this: extents, limits, counts, which goals there are, and whether anything is excluded
follow from the statement that is printed.
"""

from __future__ import annotations

from swzverify.certificates import goals_accesses, goals_maps, goals_tiles
from swzverify.certificates.claim import Access, Claim, IndexMap, Tile
from swzverify.certificates.draft import Goals, MeaninglessError


def goals_of(claim: Claim) -> Goals:
    """What decides a claim.

    Errors: UntrueError for a claim that its numbers refute; MeaninglessError for one that says nothing.
    """
    try:
        return _goals(claim)
    except ValueError as error:
        # Wider than any address: check_operation refuses it.
        raise MeaninglessError(f"it reaches further than a certificate can state: {error}") from None


def _goals(claim: Claim) -> Goals:
    kind, numbers, first = claim.kind, claim.numbers, claim.about(0)
    other = claim.about(1) if len(claim.of) > 1 else None
    match kind, first, other:
        case "injective", Tile(), None:
            return goals_tiles.injective(first)
        case "bijective", Tile(), None:
            return goals_tiles.bijective(first)
        case "contiguous", Tile(), None:
            return goals_tiles.contiguous(first, numbers["elements"], numbers["mode"])
        case "in_bounds", Tile(), None:
            return goals_tiles.in_bounds(first)
        case "in_bounds", Access(), None:
            return goals_accesses.in_bounds(claim, first)
        case "aligned", Access(), None:
            return goals_accesses.aligned(claim, first)
        case "conflict_free", Access(), None:
            return goals_accesses.cost(claim, first, ())
        case "wavefronts", Access(), None:
            return goals_accesses.cost(claim, first, (numbers["at_most"],))
        case "covers", Access(), Tile():
            return goals_accesses.covers(claim, first, other, numbers["times"])
        case "equivalent", Access(), Access():
            return goals_accesses.equal_lanes(claim, first, other)
        case "equivalent", Tile() | IndexMap(), Tile() | IndexMap():
            return goals_maps.equal_places(first, other)
        case "disjoint", Tile(), Tile() | None:
            return goals_tiles.disjoint(first, other)
        case "permutation", IndexMap(), None:
            return goals_maps.permutation(first)
        case _:
            raise MeaninglessError(f"{kind} says nothing about these")

"""From the models of claims to the claims themselves, in one case of the constants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from swzverify.claims import (
    Aligned,
    Bijective,
    Claim,
    ConflictFree,
    Contiguous,
    Covers,
    Disjoint,
    Equivalent,
    InBounds,
    Injective,
    Permutation,
    Wavefronts,
)
from swzverify.spec.claim_models import (
    AccessArgument,
    AccessesArgument,
    AlignedClaim,
    AnyClaim,
    BijectiveClaim,
    ConflictFreeClaim,
    ContiguousClaim,
    CoversClaim,
    DisjointClaim,
    EquivalentClaim,
    InBoundsClaim,
    InjectiveClaim,
    MapArgument,
    MapsArgument,
    PermutationClaim,
    TileArgument,
    TilesArgument,
    WavefrontsClaim,
)
from swzverify.spec.names import Names
from swzverify.spec.tree import Node
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Access, IndexMap, Tile

MAX_VECTOR_ELEMENTS = 4096
"""A counterexample lists every element of a vector."""


@dataclass(frozen=True, slots=True)
class PlacedClaim:
    """A claim of the file with its place, and the constants that it and its subjects use.

    `part` is its model; None for one that `standard` stands for.
    """

    claim: Claim
    part: AnyClaim | None
    where: Node
    uses: frozenset[str]


def build_claim(part: AnyClaim, values: Values, names: Names) -> Claim:
    """A claim; `values.node` is its list item. Raises `Broken` after noting what is wrong with it."""
    with values.noted(values.name):
        claim = _claim(part, values, names)
        values.require_sound()
        return claim
    raise Broken


def _claim(part: AnyClaim, values: Values, names: Names) -> Claim:
    match part:
        case InjectiveClaim():
            return Injective(_tile(part.injective, "injective", values, names))
        case BijectiveClaim():
            return Bijective(_tile(part.bijective, "bijective", values, names))
        case ContiguousClaim():
            return _contiguous(part, values, names)
        case AlignedClaim():
            return Aligned(_access(part.aligned, "aligned", values, names))
        case InBoundsClaim():
            return _in_bounds(part, values, names)
        case ConflictFreeClaim():
            return ConflictFree(_access(part.conflict_free, "conflict_free", values, names))
        case WavefrontsClaim():
            access = names.access(part.wavefronts.access, values.at("wavefronts", "access"))
            return Wavefronts(access, values.number(part.wavefronts.at_most, "wavefronts", "at_most", least=1))
        case CoversClaim():
            return _covers(part, values, names)
        case EquivalentClaim():
            return _equivalent(part, values, names)
        case DisjointClaim():
            return _disjoint(part, values, names)
        case PermutationClaim():
            if isinstance(part.permutation, MapArgument):
                return Permutation(names.map(part.permutation.map, values.at("permutation", "map")))
            return Permutation(names.map(part.permutation, values.at("permutation")))
        case _:
            assert_never(part)


def _tile(choice: str | TileArgument, kind: str, values: Values, names: Names) -> Tile:
    if isinstance(choice, TileArgument):
        return names.tile(choice.tile, values.at(kind, "tile"))
    return names.tile(choice, values.at(kind))


def _access(choice: str | AccessArgument, kind: str, values: Values, names: Names) -> Access:
    if isinstance(choice, AccessArgument):
        return names.access(choice.access, values.at(kind, "access"))
    return names.access(choice, values.at(kind))


def _contiguous(part: ContiguousClaim, values: Values, names: Names) -> Claim:
    argument = part.contiguous
    tile = names.tile(argument.tile, values.at("contiguous", "tile"))
    elements = values.number(argument.elements, "contiguous", "elements", least=1, most=MAX_VECTOR_ELEMENTS)
    mode = None
    if argument.mode is not None:
        mode = values.number(argument.mode, "contiguous", "mode", least=0, most=len(tile.extents) - 1)
    return Contiguous(tile, elements, mode)


def _in_bounds(part: InBoundsClaim, values: Values, names: Names) -> Claim:
    match part.in_bounds:
        case TileArgument(tile=name):
            return InBounds(names.tile(name, values.at("in_bounds", "tile")))
        case AccessArgument(access=name):
            subject = names.access(name, values.at("in_bounds", "access"))
        case str() as name:
            subject = names.subject(name, values.at("in_bounds"), ("tiles", "accesses"))
    if isinstance(subject, IndexMap):
        raise Broken
    if isinstance(subject, Access) and subject.tile is None and subject.bytes is None:
        message = f"access {subject.name} is a bare address: what its bounds are is not said"
        values.fail("SWZ105", message, values.at("in_bounds"), "give the access `bytes: n`")
        raise Broken
    return InBounds(subject)


def _covers(part: CoversClaim, values: Values, names: Names) -> Claim:
    argument = part.covers
    access = names.access(argument.access, values.at("covers", "access"))
    times = values.number(argument.times, "covers", "times", least=0)
    tile = access.tile if argument.tile is None else names.tile(argument.tile, values.at("covers", "tile"))
    if tile is None:
        message = f"access {access.name} is a bare address: which tile it should cover is not said"
        values.fail("SWZ104", message, values.at("covers"), "give `tile:`")
        raise Broken
    return Covers(access, tile, times)


def _equivalent(part: EquivalentClaim, values: Values, names: Names) -> Claim:
    match part.equivalent:
        case TilesArgument(tiles=pair):
            first, second = (names.tile(name, values.at("equivalent", "tiles", i)) for i, name in enumerate(pair))
        case AccessesArgument(accesses=pair):
            first, second = (names.access(name, values.at("equivalent", "accesses", i)) for i, name in enumerate(pair))
        case MapsArgument(maps=pair):
            first, second = (names.map(name, values.at("equivalent", "maps", i)) for i, name in enumerate(pair))
        case list() as pair:
            sections = ("tiles", "accesses", "maps")
            first, second = (names.subject(name, values.at("equivalent", i), sections) for i, name in enumerate(pair))
    return Equivalent(first, second)


def _disjoint(part: DisjointClaim, values: Values, names: Names) -> Claim:
    match part.disjoint:
        case str() as name:
            return Disjoint(names.tile(name, values.at("disjoint")))
        case TileArgument(tile=name):
            return Disjoint(names.tile(name, values.at("disjoint", "tile")))
        case TilesArgument(tiles=pair):
            first, second = (names.tile(name, values.at("disjoint", "tiles", i)) for i, name in enumerate(pair))
        case list() as pair:
            first, second = (names.tile(name, values.at("disjoint", i)) for i, name in enumerate(pair))
    return Disjoint(first, second)


def standard_claims(names: Names) -> Iterator[Claim]:
    """What `standard` stands for: tiles first, then accesses, in the order of the file."""
    for tile in names.tiles.values():
        yield Injective(tile)
        yield InBounds(tile)
    for access in names.accesses.values():
        yield Aligned(access)
        if access.tile is not None or access.bytes is not None:
            yield InBounds(access)
        yield ConflictFree(access)

"""The form of the claims in a spec file: one model a kind, each with `expect`, `because` and `source`."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Literal, TypeAlias, cast

from pydantic import BeforeValidator, Field, Tag
from pydantic_core import PydanticCustomError

from swzverify.spec.fields import Count, Expect, Name, Part, Text, branch, by_shape, kind_of


class TileArgument(Part):
    """The tile that is meant."""

    tile: Name = Field(description="the name of a tile", examples=["A"])


class AccessArgument(Part):
    """The access that is meant."""

    access: Name = Field(description="the name of an access", examples=["read_A"])


class MapArgument(Part):
    """The map that is meant."""

    map: Name = Field(description="the name of a map", examples=["grouped"])


TileChoice: TypeAlias = Annotated[
    Annotated[Name, Tag("?name")] | Annotated[TileArgument, Tag("?TileArgument")],
    branch("the name of a tile or {tile: name}", by_shape(text="?name", mapping="?TileArgument")),
]
AccessChoice: TypeAlias = Annotated[
    Annotated[Name, Tag("?name")] | Annotated[AccessArgument, Tag("?AccessArgument")],
    branch("the name of an access or {access: name}", by_shape(text="?name", mapping="?AccessArgument")),
]
MapChoice: TypeAlias = Annotated[
    Annotated[Name, Tag("?name")] | Annotated[MapArgument, Tag("?MapArgument")],
    branch("the name of a map or {map: name}", by_shape(text="?name", mapping="?MapArgument")),
]


def _choose_tile_or_access(value: object) -> str | None:
    match value:
        case str():
            return "?name"
        case dict():
            return "?AccessArgument" if "access" in value else "?TileArgument"
        case _:
            return None


TileOrAccessChoice: TypeAlias = Annotated[
    Annotated[Name, Tag("?name")]
    | Annotated[TileArgument, Tag("?TileArgument")]
    | Annotated[AccessArgument, Tag("?AccessArgument")],
    branch("the name of a tile or access, {tile: name} or {access: name}", _choose_tile_or_access),
]


class ContiguousArgument(Part):
    """Vectors of `elements` along a mode."""

    tile: Name = Field(description="the name of a tile", examples=["A"])
    elements: Count = Field(description="how many neighbours lie together, aligned and in order", examples=[8])
    mode: Count | None = Field(
        None, description="along which mode, from 0; default: the mode of the first stride 1", examples=[1, 0]
    )


class WavefrontsArgument(Part):
    """At most so many wavefronts a warp instruction."""

    access: Name = Field(description="the name of an access", examples=["read_A"])
    at_most: Count = Field(description="wavefronts of one warp instruction", examples=[4])


class CoversArgument(Part):
    """Each element of the tile is touched so often."""

    access: Name = Field(description="the name of an access", examples=["write_A"])
    tile: Name | None = Field(None, description="the tile that is covered; default: the access's own", examples=["A"])
    times: Count = Field(1, description="how often each element is touched", examples=[1, 2])


Pair: TypeAlias = Annotated[list[Name], Field(min_length=2, max_length=2)]


class TilesArgument(Part):
    """Two tiles."""

    tiles: Pair = Field(description="the names of two tiles", examples=[["A", "B"]])


class AccessesArgument(Part):
    """Two accesses."""

    accesses: Pair = Field(description="the names of two accesses", examples=[["read_A", "write_A"]])


class MapsArgument(Part):
    """Two maps."""

    maps: Pair = Field(description="the names of two maps", examples=[["grouped", "strips"]])


def _choose_pair(value: object) -> str | None:
    match value:
        case list():
            return "?pair"
        case dict():
            if "accesses" in value:
                return "?AccessesArgument"
            return "?MapsArgument" if "maps" in value else "?TilesArgument"
        case _:
            return None


PairChoice: TypeAlias = Annotated[
    Annotated[Pair, Tag("?pair")]
    | Annotated[TilesArgument, Tag("?TilesArgument")]
    | Annotated[AccessesArgument, Tag("?AccessesArgument")]
    | Annotated[MapsArgument, Tag("?MapsArgument")],
    branch("[first, second], or {tiles: [...]}, {accesses: [...]} or {maps: [...]}", _choose_pair),
]


def _choose_disjoint(value: object) -> str | None:
    match value:
        case str():
            return "?name"
        case list():
            return "?pair"
        case dict():
            return "?TileArgument" if "tile" in value else "?TilesArgument"
        case _:
            return None


DisjointChoice: TypeAlias = Annotated[
    Annotated[Name, Tag("?name")]
    | Annotated[Pair, Tag("?pair")]
    | Annotated[TileArgument, Tag("?TileArgument")]
    | Annotated[TilesArgument, Tag("?TilesArgument")],
    branch("the name of a tile, [first, second], {tile: name} or {tiles: [...]}", _choose_disjoint),
]


class ClaimPart(Part):
    """What every claim may say besides itself."""

    expect: Expect = Field("proved", description="how the claim should come out", examples=["refuted", "proved"])
    because: Text = Field(
        "", description="why it comes out so", examples=["the column of an unswizzled tile lies in one bank"]
    )
    source: Text = Field("", description="where the claim comes from", examples=["CUDA Programming Guide"])


class InjectiveClaim(ClaimPart):
    """No two elements share a bit."""

    injective: TileChoice = Field(description="no two elements of this tile share a bit", examples=["A", {"tile": "A"}])


class BijectiveClaim(ClaimPart):
    """Injective, and the elements fill the allocation."""

    bijective: TileChoice = Field(
        description="the elements of this tile share no bit and fill its allocation", examples=["A", {"tile": "A"}]
    )


class ContiguousClaim(ClaimPart):
    """Vectors of neighbours stay together."""

    contiguous: ContiguousArgument = Field(
        description="vectors of neighbouring elements stay together, aligned and in order",
        examples=[{"tile": "A", "elements": 8}],
    )


class AlignedClaim(ClaimPart):
    """Every address is a multiple of the width."""

    aligned: AccessChoice = Field(
        description="every address of this access is a multiple of the instruction's width",
        examples=["read_A", {"access": "read_A"}],
    )


class InBoundsClaim(ClaimPart):
    """Nothing outside the allocation is touched."""

    in_bounds: TileOrAccessChoice = Field(
        description="this access touches nothing outside of its tile, or this tile nothing outside of its allocation",
        examples=["read_A", {"access": "read_A"}, {"tile": "A"}],
    )


class ConflictFreeClaim(ClaimPart):
    """No bank conflicts."""

    conflict_free: AccessChoice = Field(
        description="this access has no bank conflicts", examples=["read_A", {"access": "read_A"}]
    )


class WavefrontsClaim(ClaimPart):
    """A bound of the cost."""

    wavefronts: WavefrontsArgument = Field(
        description="a warp instruction of this access takes at most so many wavefronts",
        examples=[{"access": "write_A", "at_most": 4}],
    )


class CoversClaim(ClaimPart):
    """Each element is touched exactly so often."""

    covers: CoversArgument = Field(
        description="over all threads and iterations the access touches each element exactly so often",
        examples=[{"access": "write_A", "times": 1}],
    )


class EquivalentClaim(ClaimPart):
    """The same addresses."""

    equivalent: PairChoice = Field(
        description="two tiles, accesses or maps give the same addresses",
        examples=[["A", "B"], {"accesses": ["read_A", "write_A"]}],
    )


class DisjointClaim(ClaimPart):
    """No shared bits."""

    disjoint: DisjointChoice = Field(
        description="two tiles, or the stages of one, share no bit", examples=["A", ["A", "B"], {"tiles": ["A", "B"]}]
    )


class PermutationClaim(ClaimPart):
    """One box one to one onto another."""

    permutation: MapChoice = Field(
        description="this map takes its box one to one onto the box `onto`", examples=["grouped", {"map": "grouped"}]
    )


AnyClaim: TypeAlias = (
    InjectiveClaim
    | BijectiveClaim
    | ContiguousClaim
    | AlignedClaim
    | InBoundsClaim
    | ConflictFreeClaim
    | WavefrontsClaim
    | CoversClaim
    | EquivalentClaim
    | DisjointClaim
    | PermutationClaim
)

CLAIM_PARTS: dict[str, type[ClaimPart]] = {
    "injective": InjectiveClaim,
    "bijective": BijectiveClaim,
    "contiguous": ContiguousClaim,
    "aligned": AlignedClaim,
    "in_bounds": InBoundsClaim,
    "conflict_free": ConflictFreeClaim,
    "wavefronts": WavefrontsClaim,
    "covers": CoversClaim,
    "equivalent": EquivalentClaim,
    "disjoint": DisjointClaim,
    "permutation": PermutationClaim,
}
"""The model of each claim, by its key."""

_CHOICES: tuple[type[Part], ...] = (
    TileArgument,
    AccessArgument,
    MapArgument,
    TilesArgument,
    AccessesArgument,
    MapsArgument,
)
ARGUMENT_PARTS: dict[str, type[Part]] = {
    "contiguous": ContiguousArgument,
    "wavefronts": WavefrontsArgument,
    "covers": CoversArgument,
    **{f"?{part.__name__}": part for part in _CHOICES},
}
"""The model of a claim's argument, by the claim's key or the union's tag."""

_OTHER_KEYS = tuple(ClaimPart.model_fields)


def claim_kind(keys: object) -> str | None:
    """The claim that a mapping's keys state, where it is exactly one.

    >>> claim_kind(["injective", "expect"]), claim_kind(["injective", "aligned"])
    ('injective', None)
    """
    kinds = [key for key in cast("list[str]", keys) if key in CLAIM_PARTS]
    return kinds[0] if len(kinds) == 1 else None


def _check_claim(value: object) -> object:
    """A claim is `standard` or a mapping with exactly one claim's key; say what it has instead."""
    if value == "standard":
        return value
    if not isinstance(value, dict):
        message = f"expected a claim such as `injective: A`, or `standard`, not {kind_of(value)}"
        raise PydanticCustomError("SWZ105", "{message}", {"message": message})
    keys = [str(key) for key in cast("dict[object, object]", value)]
    if claim_kind(keys):
        return cast("object", value)
    known = [key for key in keys if key in CLAIM_PARTS]
    if len(known) > 1:
        message = f"a list item states one claim, this one states {' and '.join(known)}"
        context = {"message": message, "hint": "begin another item with '- '", "key": known[1]}
        raise PydanticCustomError("SWZ104", "{message}", context)
    listed = "claims: " + ", ".join(CLAIM_PARTS)
    unknown = [key for key in keys if key not in _OTHER_KEYS]
    if not unknown:
        raise PydanticCustomError("SWZ104", "{message}", {"message": "this item states no claim", "hint": listed})
    near = get_close_matches(unknown[0], CLAIM_PARTS, n=1)
    hint = f"did you mean '{near[0]}'?\n{listed}" if near else listed
    context = {"message": f"unknown claim '{unknown[0]}'", "hint": hint, "key": unknown[0]}
    raise PydanticCustomError("SWZ104", "{message}", context)


def _choose_claim(value: object) -> str | None:
    if isinstance(value, dict):
        kind = claim_kind(list(cast("dict[str, object]", value)))
        return f"?{kind}" if kind else None
    return "?standard"


ClaimItem: TypeAlias = Annotated[
    Annotated[Literal["standard"], Tag("?standard")]
    | Annotated[InjectiveClaim, Tag("?injective")]
    | Annotated[BijectiveClaim, Tag("?bijective")]
    | Annotated[ContiguousClaim, Tag("?contiguous")]
    | Annotated[AlignedClaim, Tag("?aligned")]
    | Annotated[InBoundsClaim, Tag("?in_bounds")]
    | Annotated[ConflictFreeClaim, Tag("?conflict_free")]
    | Annotated[WavefrontsClaim, Tag("?wavefronts")]
    | Annotated[CoversClaim, Tag("?covers")]
    | Annotated[EquivalentClaim, Tag("?equivalent")]
    | Annotated[DisjointClaim, Tag("?disjoint")]
    | Annotated[PermutationClaim, Tag("?permutation")],
    branch("a claim", _choose_claim),
    BeforeValidator(_check_claim),
]
"""One item of `claims:`."""

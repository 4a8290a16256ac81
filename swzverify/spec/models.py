"""The form of a spec file, version 1, as models: its keys and what each of them takes.

Meanings and cross-references are `build`'s. A tag such as `?Dense` names the model of a union's
branch; `check` finds the model of a mistake by it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from swzverify.spec.access_models import AccessPart, LoopPart
from swzverify.spec.claim_models import ClaimItem
from swzverify.spec.fields import Count, Expression, Identifier, Name, Text, by_shape
from swzverify.spec.lane_models import LaneBitsPart, LaneRangePart
from swzverify.spec.listing_models import ListingPart
from swzverify.spec.part import Choice, Length, Part, Tag, key
from swzverify.spec.place_models import AlignedBasePart, BaseValue, MemoryBasePart, MemoryPart
from swzverify.spec.sweep_models import AxisPart, SweepPart
from swzverify.spec.tile_models import DenseLayoutPart, StagesPart, SwizzlePart, TilePart


class MapPart(Part):
    """An index map: expressions over a box."""

    over: dict[Identifier, Count] = key(least=1, description="variables and their extents", examples=[{"bid": 128}])
    value: list[Expression] = key(
        least=1, description="one expression per dimension", examples=[["bid%8 + bid/64*8", "bid/8%8"]]
    )
    onto: list[Count] | None = key(
        None, least=1, description="the box that the values fill, for permutation", examples=[[16, 8]]
    )
    base: BaseValue | None = key(
        None, description="what `base` in the expressions stands for", examples=[{"align": 1024}, 4096]
    )


ConstantValue: TypeAlias = Annotated[
    Annotated[int, Tag("?integer")] | Annotated[list[int], Tag("?integers"), Length(1)],
    Choice("an integer or a list of integers", by_shape(integer="?integer", items="?integers")),
]

ClaimsValue: TypeAlias = Annotated[
    Annotated[Literal["standard"], Tag("?standard")] | Annotated[list[ClaimItem], Tag("?claims")],
    Choice("a list of claims, or `standard`", by_shape(text="?standard", items="?claims")),
]


class SourceConstantPart(Part):
    """An integer constant that the kernel's code defines."""

    file: Text | None = key(
        None,
        description="the source file, from the spec's folder; default: the file that the contract is in",
        examples=["../src/gemm.cu"],
    )
    name: Text | None = key(
        None, description="its name in the code, with scopes where needed; default: the key", examples=["Config::BK"]
    )


SourceValue: TypeAlias = Annotated[
    Annotated[Text, Tag("?text")] | Annotated[SourceConstantPart, Tag("?SourceConstantPart")],
    Choice(
        "a constant's name in this file, or {file: ..., name: ...}",
        by_shape(text="?text", mapping="?SourceConstantPart"),
    ),
]

FromSourceValue: TypeAlias = Annotated[
    Annotated[dict[Identifier, SourceValue], Tag("?mapping")] | Annotated[list[Identifier], Tag("?names")],
    Choice(
        "constants with the places they are read from, or a list of constants of this file",
        by_shape(mapping="?mapping", items="?names"),
    ),
]


class SpecPart(Part):
    """A spec file of swzverify: tiles, accesses, maps and listings, and what is claimed of them."""

    swzverify: Literal[1] = key(description="the version of this form", examples=[1])
    title: Text = key("", description="what the file is about", examples=["fp16 GEMM, K-major operands"])
    source: Text = key("", description="where the configuration comes from", examples=["csrc/gemm.cu, load_tile"])
    target: Text = key("sm_90", description="the GPU architecture", examples=["sm_90", "sm_80"])
    constants: dict[Identifier, ConstantValue] = key(
        {},
        description="names for numbers; a list makes cases, and every combination is proved",
        examples=[{"BM": 64, "BK": [32, 64]}],
    )
    from_source: FromSourceValue = key(
        {},
        description="constants that are read from the kernel's code, so that the spec follows it",
        examples=[{"BK": {"file": "../src/gemm.cu", "name": "Config::BK"}}, ["BM", "BK"]],
    )
    let: dict[Identifier, Expression] = key(
        {},
        description="names for expressions, which the expressions of every access and tile may use",
        examples=[{"row": "warp*16 + lane%16"}],
    )
    memories: dict[Name, MemoryPart] = key(
        {},
        description="stretches of shared memory that several tiles lie in, by name",
        examples=[{"smem": {"bytes": 98304, "align": 1024}}],
    )
    tiles: dict[Name, TilePart] = key(
        {},
        description="tiles in shared memory, by name",
        examples=[{"A": {"element": "f16", "layout": "(64,64):(64,1)", "swizzle": "Swizzle<3,3,3>"}}],
    )
    accesses: dict[Name, AccessPart] = key(
        {},
        description="what the threads do with one instruction each, by name",
        examples=[
            {
                "read_A": {
                    "tile": "A",
                    "instruction": "ldmatrix.x4",
                    "threads": 128,
                    "coord": ["warp*16 + lane%16", "lane/16*8"],
                }
            }
        ],
    )
    maps: dict[Name, MapPart] = key(
        {},
        description="index maps, for permutation and equivalent, by name",
        examples=[{"grouped": {"over": {"bid": 128}, "value": ["bid%8 + bid/64*8", "bid/8%8"], "onto": [16, 8]}}],
    )
    listings: dict[Name, ListingPart] = key(
        {},
        description="listings of machine code, for claims on register banks, by name",
        examples=[{"inner_loop": {"target": "sm_52", "file": "build/gemm.sass"}}],
    )
    claims: ClaimsValue = key(
        [],
        description="what is claimed: a list, or `standard`",
        examples=["standard", [{"bijective": "A"}, {"conflict_free": "read_A"}]],
    )
    sweep: SweepPart | None = key(
        None,
        description="variants of this spec for `swzverify sweep`; the other commands take the spec as it stands",
        examples=[{"over": {"BK": {"start": 16, "stop": 129, "step": 16}}, "where": ["BK <= BM"]}],
    )


PARTS: dict[str, type[Part]] = {
    f"?{part.__name__}": part
    for part in (
        AlignedBasePart,
        MemoryBasePart,
        DenseLayoutPart,
        SwizzlePart,
        StagesPart,
        LoopPart,
        LaneRangePart,
        LaneBitsPart,
        SourceConstantPart,
        AxisPart,
    )
}
"""The model of a union's branch, by its tag."""

SECTIONS: dict[str, type[Part]] = {
    "memories": MemoryPart,
    "tiles": TilePart,
    "accesses": AccessPart,
    "maps": MapPart,
    "listings": ListingPart,
}
"""The model of each entry of a section."""

"""The form of a spec file, version 1, as pydantic models: its keys and what each of them takes.

Meanings and cross-references are `build`'s. A tag such as `?Dense` names the model of a union's
branch; `check` finds the model of a mistake by it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, Tag

from swzverify.spec.access_models import AccessPart, LaneBitsPart, LaneRangePart, LoopPart, SourcePart
from swzverify.spec.claim_models import ClaimItem
from swzverify.spec.fields import Count, Expression, Identifier, Name, Part, Text, branch, by_shape
from swzverify.spec.listing_models import ListingPart
from swzverify.spec.operand_models import CompiledOperandPart, DescriptorPart, OperandPart, ReadsPart
from swzverify.spec.phase_models import (
    ArrivePart,
    BarArrivePart,
    BarSyncPart,
    CopyPart,
    FencePart,
    PassPart,
    PhasePart,
    ProductPart,
    ProductWaitPart,
    RunPart,
    WaitPart,
)
from swzverify.spec.place_models import AlignedBasePart, BaseValue, MemoryBasePart, MemoryPart
from swzverify.spec.sweep_models import AxisPart, SweepPart
from swzverify.spec.tile_models import DenseLayoutPart, StagesPart, SwizzlePart, TilePart


class MapPart(Part):
    """An index map: expressions over a box."""

    over: dict[Identifier, Count] = Field(
        min_length=1, description="variables and their extents", examples=[{"bid": 128}]
    )
    let: dict[Identifier, Expression] = Field(
        default_factory=dict,
        description="names for expressions, which `value` may use",
        examples=[{"group": "bid/64"}],
    )
    value: list[Expression] = Field(
        min_length=1, description="one expression per dimension", examples=[["bid%8 + bid/64*8", "bid/8%8"]]
    )
    onto: list[Count] | None = Field(
        None, min_length=1, description="the box that the values fill, for permutation", examples=[[16, 8]]
    )
    base: BaseValue | None = Field(
        None, description="what `base` in the expressions stands for", examples=[{"align": 1024}, 4096]
    )


ConstantValue: TypeAlias = Annotated[
    Annotated[int, Tag("?integer")] | Annotated[list[int], Tag("?integers"), Field(min_length=1)],
    branch("an integer or a list of integers", by_shape(integer="?integer", items="?integers")),
]

ClaimsValue: TypeAlias = Annotated[
    Annotated[Literal["standard"], Tag("?standard")] | Annotated[list[ClaimItem], Tag("?claims")],
    branch("a list of claims, or `standard`", by_shape(text="?standard", items="?claims")),
]


class SourceConstantPart(Part):
    """An integer constant that the kernel's code defines."""

    file: Text | None = Field(
        None,
        description="the source file, from the spec's folder; default: the file that the contract is in",
        examples=["../src/gemm.cu"],
    )
    name: Text | None = Field(
        None, description="its name in the code, with scopes where needed; default: the key", examples=["Config::BK"]
    )


SourceValue: TypeAlias = Annotated[
    Annotated[Text, Tag("?text")] | Annotated[SourceConstantPart, Tag("?SourceConstantPart")],
    branch(
        "a constant's name in this file, or {file: ..., name: ...}",
        by_shape(text="?text", mapping="?SourceConstantPart"),
    ),
]

FromSourceValue: TypeAlias = Annotated[
    Annotated[dict[Identifier, SourceValue], Tag("?mapping")] | Annotated[list[Identifier], Tag("?names")],
    branch(
        "constants with the places they are read from, or a list of constants of this file",
        by_shape(mapping="?mapping", items="?names"),
    ),
]


class SpecPart(Part):
    """A spec file of swzverify: tiles, accesses, maps, operands and listings, and what is claimed of them."""

    swzverify: Literal[1] = Field(description="the version of this form", examples=[1])
    title: Text = Field("", description="what the file is about", examples=["fp16 GEMM, K-major operands"])
    source: Text = Field("", description="where the configuration comes from", examples=["csrc/gemm.cu, load_tile"])
    target: Text = Field("sm_90", description="the GPU architecture", examples=["sm_90", "sm_80"])
    constants: dict[Identifier, ConstantValue] = Field(
        default_factory=dict,
        description="names for numbers; a list makes cases, and every combination is proved",
        examples=[{"BM": 64, "BK": [32, 64]}],
    )
    from_source: FromSourceValue = Field(
        default_factory=dict[str, SourceValue],
        description="constants that are read from the kernel's code, so that the spec follows it",
        examples=[{"BK": {"file": "../src/gemm.cu", "name": "Config::BK"}}, ["BM", "BK"]],
    )
    let: dict[Identifier, Expression] = Field(
        default_factory=dict,
        description="names for expressions, which the expressions of every access, tile and map may use",
        examples=[{"row": "warp*16 + lane%16"}],
    )
    memories: dict[Name, MemoryPart] = Field(
        default_factory=dict,
        description="stretches of shared memory that several tiles lie in, by name",
        examples=[{"smem": {"bytes": 98304, "align": 1024}}],
    )
    tiles: dict[Name, TilePart] = Field(
        default_factory=dict,
        description="tiles in shared memory, by name",
        examples=[{"A": {"element": "f16", "layout": "(64,64):(64,1)", "swizzle": "Swizzle<3,3,3>"}}],
    )
    accesses: dict[Name, AccessPart] = Field(
        default_factory=dict,
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
    maps: dict[Name, MapPart] = Field(
        default_factory=dict,
        description="index maps, for permutation and equivalent, by name",
        examples=[{"grouped": {"over": {"bid": 128}, "value": ["bid%8 + bid/64*8", "bid/8%8"], "onto": [16, 8]}}],
    )
    operands: dict[Name, OperandPart] = Field(
        default_factory=dict,
        description="what the tensor core reads through matrix descriptors, by name",
        examples=[
            {
                "A": {
                    "instruction": "wgmma.m64n128k16.f16",
                    "role": "A",
                    "for": {"k": 4},
                    "descriptor": {"start": "k*32", "sbo": 1024, "swizzle": "128B"},
                    "reads": {"tile": "A", "at": [0, "k*16"]},
                }
            }
        ],
    )
    phases: dict[Name, PhasePart] = Field(
        default_factory=dict,
        description="the order of accesses in a loop, with the barriers between them, by name",
        examples=[{"mainloop": {"for": {"i": "any"}, "steps": ["write_A", "barrier", "read_A", "barrier"]}}],
    )
    listings: dict[Name, ListingPart] = Field(
        default_factory=dict,
        description="listings of machine code, for claims on register banks, by name",
        examples=[{"inner_loop": {"target": "sm_52", "file": "build/gemm.sass"}}],
    )
    claims: ClaimsValue = Field(
        [],
        description="what is claimed: a list, or `standard`",
        examples=["standard", [{"bijective": "A"}, {"conflict_free": "read_A"}]],
    )
    sweep: SweepPart | None = Field(
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
        SourcePart,
        LaneRangePart,
        LaneBitsPart,
        SourceConstantPart,
        AxisPart,
        RunPart,
        WaitPart,
        PassPart,
        ArrivePart,
        CopyPart,
        ProductPart,
        ProductWaitPart,
        FencePart,
        BarSyncPart,
        BarArrivePart,
    )
}
"""The model of a union's branch, by its tag."""

SECTIONS: dict[str, type[Part]] = {
    "memories": MemoryPart,
    "tiles": TilePart,
    "accesses": AccessPart,
    "maps": MapPart,
    "operands": OperandPart,
    "listings": ListingPart,
    "phases": PhasePart,
}
"""The model of each entry of a section."""

NESTED: dict[tuple[str, str], type[Part]] = {
    ("operands", "descriptor"): DescriptorPart,
    ("operands", "compiled"): CompiledOperandPart,
    ("operands", "reads"): ReadsPart,
}
"""The model of a key of an entry, by the section and the key."""

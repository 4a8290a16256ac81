"""The form of a spec file, version 1, as pydantic models: which keys there are and what each of
them takes.

Meanings and cross-references are `build`'s. A tag such as `?Dense` names the model of a union's
branch; `check` finds the model of a mistake by it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, Tag

from swzverify.layout.tma import TmaMode
from swzverify.spec.claim_models import ClaimItem
from swzverify.spec.elements import ELEMENT_BITS
from swzverify.spec.fields import Count, Expression, Identifier, Name, Part, Text, branch, by_shape
from swzverify.spec.lane_models import LaneBitsPart, LaneRangePart, LaneValue

MAX_MODES = 8
"""Of a tile: as many as modes have names of their own, i to p."""


class MemoryPart(Part):
    """A stretch of shared memory that several tiles lie in."""

    bytes: Count = Field(description="size in bytes", examples=[98304, "BM*BK*2"])
    align: Count = Field(
        1024, description="the memory's address is a multiple of this, in bytes; a power of two", examples=[1024, 128]
    )
    base: Count | None = Field(None, description="the memory's byte address, where it is fixed", examples=[0, 1024])


class AlignedBasePart(Part):
    """Any address that is a multiple of `align`."""

    align: Count = Field(description="bytes, a power of two", examples=[1024, 16])


class MemoryBasePart(Part):
    """A place in a memory."""

    in_: Name = Field(alias="in", description="the memory's name", examples=["smem"])
    offset: Count = Field(0, description="bytes from the memory's start", examples=[16384, "BM*BK*2"])


def _choose_base(value: object) -> str | None:
    match value:
        case bool():
            return None
        case int() | str():
            return "?number"
        case dict():
            return "?AlignedBasePart" if "in" not in value and "offset" not in value else "?MemoryBasePart"
        case _:
            return None


BaseValue: TypeAlias = Annotated[
    Annotated[Count, Tag("?number")]
    | Annotated[AlignedBasePart, Tag("?AlignedBasePart")]
    | Annotated[MemoryBasePart, Tag("?MemoryBasePart")],
    branch("a byte address, {align: n} or {in: memory, offset: n}", _choose_base),
]


class DenseLayoutPart(Part):
    """A row- or column-major layout, padded or not."""

    shape: list[Count] = Field(
        min_length=1, max_length=MAX_MODES, description="extents of the modes", examples=[[64, 64]]
    )
    order: Literal["row", "col"] = Field(
        "row", description="row: the last mode lies together; col: the first one does", examples=["row", "col"]
    )
    pad: Count = Field(0, description="elements added to each row (row) or column (col)", examples=[8, 1])


LayoutValue: TypeAlias = Annotated[
    Annotated[Text, Tag("?text")] | Annotated[DenseLayoutPart, Tag("?DenseLayoutPart")],
    branch(
        "CuTe notation or {shape: [...], order: row|col, pad: n}", by_shape(mapping="?DenseLayoutPart", text="?text")
    ),
]


class SwizzlePart(Part):
    """Swizzle<bits, base, shift>, on element offsets or on byte addresses."""

    bits: Count = Field(description="B: how many bits are XORed", examples=[3])
    base: Count = Field(description="M: the lowest bit that changes", examples=[3, 4])
    shift: Count = Field(
        description="S: how many bits higher the bits lie that they are XORed with; at least B in size", examples=[3]
    )
    on: Literal["offset", "address"] = Field(
        "offset",
        description="what is swizzled: the offset, counted in elements, or the address, counted in bytes",
        examples=["offset", "address"],
    )


SwizzleValue: TypeAlias = Annotated[
    Annotated[Text, Tag("?text")] | Annotated[SwizzlePart, Tag("?SwizzlePart")],
    branch(
        "Swizzle<B,M,S> or {bits: B, base: M, shift: S, on: offset|address}",
        by_shape(mapping="?SwizzlePart", text="?text"),
    ),
]


class TmaPart(Part):
    """A tile as the tensor memory accelerator writes it."""

    swizzle: Annotated[Text, Field(json_schema_extra={"enum": [mode.value for mode in TmaMode]})] = Field(
        "none", description="the tensor map's swizzle mode", examples=["128B", "none"]
    )
    box: list[Count] = Field(
        min_length=2, max_length=2, description="rows, elements of the inner dimension", examples=[[64, 64]]
    )


class StagesPart(Part):
    """Copies of the tile, `pitch` bytes apart."""

    count: Count = Field(description="how many copies", examples=[2])
    pitch: Count | None = Field(
        None, description="bytes from one stage to the next; default: the allocation, aligned", examples=[8192]
    )


StagesValue: TypeAlias = Annotated[
    Annotated[Count, Tag("?number")] | Annotated[StagesPart, Tag("?StagesPart")],
    branch(
        "an integer or {count: n, pitch: bytes}", by_shape(mapping="?StagesPart", text="?number", integer="?number")
    ),
]


ShapeValue: TypeAlias = Annotated[
    Annotated[list[Count], Tag("?extents"), Field(min_length=1, max_length=MAX_MODES)]
    | Annotated[dict[Identifier, Count], Tag("?modes"), Field(min_length=1, max_length=MAX_MODES)],
    branch("a list of extents, or a mapping of names to extents", by_shape(items="?extents", mapping="?modes")),
]


class TilePart(Part):
    """A tile in shared memory: `element` or `bits`, and `layout`, `tma`, or `shape` with an
    expression.
    """

    element: Annotated[Text, Field(json_schema_extra={"enum": list(ELEMENT_BITS)})] | None = Field(
        None, description="the type of an element: f16, bf16, f32, i8, ...", examples=["f16", "f8e4m3"]
    )
    bits: Count | None = Field(None, description="size of an element in bits, in place of `element`", examples=[16, 12])
    layout: LayoutValue | None = Field(
        None,
        description="CuTe notation, or shape, order and pad",
        examples=["(64,64):(64,1)", "(BM,BK):(BK,1)", {"shape": [64, 64], "order": "row", "pad": 8}],
    )
    swizzle: SwizzleValue | None = Field(
        None,
        description="Swizzle<B,M,S> on element offsets, or a mapping",
        examples=["Swizzle<3,3,3>", {"bits": 3, "base": 4, "shift": 3, "on": "address"}],
    )
    tma: TmaPart | None = Field(
        None,
        description="the box that TMA writes, in place of `layout` and `swizzle`",
        examples=[{"swizzle": "128B", "box": [64, 64]}],
    )
    shape: ShapeValue | None = Field(
        None,
        description="extents of the modes, for `offset` or `address`; their names are i, j, k, ... or those given",
        examples=[[64, 8], {"row": 64, "chunk": 8}],
    )
    offset: Expression | None = Field(
        None,
        description="where the element of a coordinate lies, in elements from the start; in place of `layout`",
        examples=["i*8 + (j ^ i%8)", "row*8 + (chunk ^ row%8)"],
    )
    address: Expression | None = Field(
        None,
        description="where the element of a coordinate lies, in bytes from the start; in place of `offset`",
        examples=["i*144 + j*16"],
    )
    base: BaseValue | None = Field(
        None,
        description="where the tile begins; default {align: 1024}",
        examples=[{"align": 1024}, {"in": "smem", "offset": 16384}, 4096],
    )
    stages: StagesValue = Field(
        1, description="copies of the tile, one behind the other", examples=[2, {"count": 2, "pitch": 8192}]
    )
    bytes: Count | None = Field(
        None, description="allocation of one stage, in bytes; default: up to the last element", examples=[8192]
    )


class LoopPart(Part):
    """C's loop `for (i = start; i < stop; i += step)`, or with `i *= times`."""

    start: Count = Field(0, description="the first value", examples=[0])
    stop: Count = Field(description="the first value that is not reached", examples=[64, "BK"])
    step: Count = Field(1, description="from one value to the next", examples=[16])
    times: Count | None = Field(
        None, description="each value is so many times the one before; in place of `step`", examples=[2]
    )


LoopValue: TypeAlias = Annotated[
    Annotated[Count, Tag("?number")]
    | Annotated[LoopPart, Tag("?LoopPart")]
    | Annotated[list[Count], Tag("?values"), Field(min_length=1)],
    branch(
        "a number of iterations, {start: a, stop: b, step: c}, a list of values or any",
        by_shape(mapping="?LoopPart", text="?number", integer="?number", items="?values"),
    ),
]


class WalkPart(Part):
    """An address that moves from each iteration of a loop to the next: `(address ^ xor) + step`."""

    over: Identifier | None = Field(None, description="the loop; default: the only one", examples=["k"])
    start: Expression = Field(description="the address in the first iteration", examples=["lane*16"])
    step: Expression | None = Field(
        None, description="what each iteration adds, after `xor`", examples=[64, "(k % 4 == 3)*128"]
    )
    xor: Expression | None = Field(None, description="what each iteration XORs, before `step`", examples=[32, "k*16"])


LinesValue: TypeAlias = Annotated[
    Annotated[Count, Tag("?number")] | Annotated[list[Count], Tag("?lines"), Field(min_length=2)],
    branch("a line of the PTX, or a list of lines", by_shape(text="?number", integer="?number", items="?lines")),
]


class CompiledPart(Part):
    """An instruction of a compiled kernel."""

    file: Text = Field(description="the PTX file, from the spec's folder", examples=["build/gemm.ptx"])
    kernel: Text | None = Field(
        None, description="the kernel's name in the PTX; default: the only one", examples=["_Z4gemmPKfPf"]
    )
    line: LinesValue = Field(
        description="its line in the PTX; several lines are the iterations of `over`", examples=[147, [57, 72, 87]]
    )
    over: Identifier | None = Field(
        None, description="the loop whose iterations the lines are, in order; default: the only one", examples=["i"]
    )
    loops: dict[Identifier, Count] = Field(
        default_factory=dict,
        description="for each loop of `for` the PTX line where it begins; where there is one, it is found",
        examples=[{"k": 139}],
    )
    array: Text | None = Field(
        None, description="the array that its address must begin with, by its name in the PTX", examples=["buf"]
    )
    parameters: dict[Identifier, Count] = Field(
        default_factory=dict,
        description="values of the kernel's integer parameters, by name, or by number as param0, param1, ...",
        examples=[{"lda": 128}, {"param2": 64}],
    )


class AccessPart(Part):
    """What the threads of a block do with one instruction: `coord` in a tile, or an `address`."""

    instruction: Text = Field(
        description="PTX name, such as ldmatrix.x4 or st.shared.v4.b32",
        examples=["ldmatrix.x4", "st.shared.v4.b32", "ld.shared.v4.f32"],
    )
    tile: Name | None = Field(None, description="the tile that is accessed, at `coord`", examples=["A"])
    threads: Count | None = Field(None, description="threads of the block, at most 1024", examples=[128])
    block: list[Count] | None = Field(
        None,
        min_length=1,
        max_length=3,
        description="extents of the block: x, y, z; in place of `threads`",
        examples=[[32, 4]],
    )
    for_: dict[Identifier, LoopValue] = Field(
        default_factory=dict,
        alias="for",
        description="loop variables and their values",
        examples=[{"i": 4}, {"k": {"start": 0, "stop": 64, "step": 16}}, {"s": [1, 2, 4, 8]}],
    )
    let: dict[Identifier, Expression] = Field(
        default_factory=dict,
        description="names for expressions, which the other expressions of this access may use",
        examples=[{"row": "warp*16 + lane%16"}],
    )
    lanes: dict[Identifier, LaneValue] = Field(
        default_factory=dict,
        description="values that each lane has of its own, such as data that it reads; claims hold for every choice",
        examples=[{"bin": 64}, {"row": {"start": 0, "stop": 64, "step": 8}}, {"index": {"bits": 8}}],
    )
    coord: list[Expression] | None = Field(
        None,
        min_length=1,
        description="one expression per mode of the tile",
        examples=[["warp*16 + lane%16", "lane/16*8"]],
    )
    stage: Expression | None = Field(None, description="the stage; without it every one", examples=[0, "warp%2"])
    address: Expression | None = Field(
        None, description="a byte address, added to `base`; in place of `tile`", examples=["((tid >> 1) & 7) << 4"]
    )
    walk: WalkPart | None = Field(
        None,
        description="a byte address that moves with a loop, added to `base`; in place of `address`",
        examples=[{"start": "lane*16", "xor": 32}],
    )
    compiled: CompiledPart | None = Field(
        None,
        description="an instruction of a compiled kernel, whose array begins at `base`; in place of `address`",
        examples=[{"file": "build/gemm.ptx", "line": 147}],
    )
    base: BaseValue | None = Field(
        None,
        description="added to `address`, `walk` or `compiled`; default 0",
        examples=[{"align": 128}, {"in": "smem", "offset": 0}],
    )
    bytes: Count | None = Field(None, description="bytes that `address` may touch, for in_bounds", examples=[128])
    if_: Expression | None = Field(
        None, alias="if", description="which threads take part: those for which it is not 0", examples=["tid < 96"]
    )
    assume: list[Expression] = Field(
        [],
        description="what holds of loop variables and constants; the claims hold where it does",
        examples=[["i < 4"]],
    )
    weight: Count = Field(
        1,
        description="how often its wavefronts count where `swzverify synth` has to choose; claims do not read it",
        examples=[4],
    )


class MapPart(Part):
    """An index map: expressions over a box."""

    over: dict[Identifier, Count] = Field(
        min_length=1, description="variables and their extents", examples=[{"bid": 128}]
    )
    value: list[Expression] = Field(
        min_length=1, description="one expression a dimension", examples=[["bid%8 + bid/64*8", "bid/8%8"]]
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
    """A spec file of swzverify: tiles, accesses and maps, and what is claimed of them."""

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
        description="names for expressions, which the expressions of every access and tile may use",
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
    claims: ClaimsValue = Field(
        [],
        description="what is claimed: a list, or `standard`",
        examples=["standard", [{"bijective": "A"}, {"conflict_free": "read_A"}]],
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
    )
}
"""The model of a union's branch, by its tag."""

SECTIONS: dict[str, type[Part]] = {
    "memories": MemoryPart,
    "tiles": TilePart,
    "accesses": AccessPart,
    "maps": MapPart,
}
"""The model of each entry of a section."""

"""What a spec says of a tile."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, Tag

from swzverify.layout.tma import TmaMode
from swzverify.spec.elements import ELEMENT_BITS
from swzverify.spec.fields import Count, Expression, Identifier, Part, Text, branch, by_shape
from swzverify.spec.place_models import BaseValue

MAX_MODES = 8
"""The modes of a tile: as many as have names of their own, i to p."""


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
    """A tile in shared memory: `element` or `bits`, and `layout`, `tma`, or `shape` with an expression."""

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

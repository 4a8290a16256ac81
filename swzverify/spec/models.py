"""The form of a spec file, version 1, as pydantic models: which keys there are and what each of them takes.

Meanings and cross-references are `build`'s. A tag such as `?Dense` names the model of a union's branch; `check` finds
the model of a mistake by it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, Tag

from swzverify.layout.tma import TmaMode
from swzverify.spec.claim_models import ClaimItem
from swzverify.spec.elements import ELEMENT_BITS
from swzverify.spec.fields import Count, Expression, Identifier, Name, Part, Text, branch, by_shape


class MemoryPart(Part):
    """A stretch of shared memory that several tiles lie in."""

    bytes: Count = Field(description="size in bytes")
    align: Count = Field(1024, description="the memory's address is a multiple of this, in bytes")
    base: Count | None = Field(None, description="the memory's byte address, where it is fixed")


class AlignedBasePart(Part):
    """Any address that is a multiple of `align`."""

    align: Count = Field(description="bytes, a power of two")


class MemoryBasePart(Part):
    """A place in a memory."""

    in_: Name = Field(alias="in", description="the memory's name")
    offset: Count = Field(0, description="bytes from the memory's start")


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

    shape: list[Count] = Field(min_length=1, max_length=8, description="extents of the modes")
    order: Literal["row", "col"] = "row"
    pad: Count = Field(0, description="elements added to each row (row) or column (col)")


LayoutValue: TypeAlias = Annotated[
    Annotated[Text, Tag("?text")] | Annotated[DenseLayoutPart, Tag("?DenseLayoutPart")],
    branch(
        "CuTe notation or {shape: [...], order: row|col, pad: n}", by_shape(mapping="?DenseLayoutPart", text="?text")
    ),
]


class SwizzlePart(Part):
    """Swizzle<bits, base, shift>, on element offsets or on byte addresses."""

    bits: Count
    base: Count
    shift: Count
    on: Literal["offset", "address"] = "offset"


SwizzleValue: TypeAlias = Annotated[
    Annotated[Text, Tag("?text")] | Annotated[SwizzlePart, Tag("?SwizzlePart")],
    branch(
        "Swizzle<B,M,S> or {bits: B, base: M, shift: S, on: offset|address}",
        by_shape(mapping="?SwizzlePart", text="?text"),
    ),
]


class TmaPart(Part):
    """A tile as the tensor memory accelerator writes it."""

    swizzle: Annotated[Text, Field(json_schema_extra={"enum": [mode.value for mode in TmaMode]})] = "none"
    box: list[Count] = Field(min_length=2, max_length=2, description="rows, elements of the inner dimension")


class StagesPart(Part):
    """Copies of the tile, `pitch` bytes apart."""

    count: Count
    pitch: Count | None = Field(None, description="bytes from one stage to the next")


StagesValue: TypeAlias = Annotated[
    Annotated[Count, Tag("?number")] | Annotated[StagesPart, Tag("?StagesPart")],
    branch(
        "an integer or {count: n, pitch: bytes}", by_shape(mapping="?StagesPart", text="?number", integer="?number")
    ),
]


class TilePart(Part):
    """A tile in shared memory: `element` or `bits`, and `layout` or `tma`."""

    element: Annotated[Text, Field(json_schema_extra={"enum": list(ELEMENT_BITS)})] | None = Field(
        None, description="f16, bf16, f32, i8, ..."
    )
    bits: Count | None = Field(None, description="size of an element in bits")
    layout: LayoutValue | None = Field(None, description="CuTe notation, or shape, order and pad")
    swizzle: SwizzleValue | None = Field(None, description="Swizzle<B,M,S> on element offsets, or a mapping")
    tma: TmaPart | None = None
    base: BaseValue | None = Field(None, description="where the tile begins; default {align: 1024}")
    stages: StagesValue = 1
    bytes: Count | None = Field(None, description="allocation of one stage, in bytes")


class LoopPart(Part):
    """C's loop `for (i = start; i < stop; i += step)`."""

    start: Count = 0
    stop: Count
    step: Count = 1


LoopValue: TypeAlias = Annotated[
    Annotated[Count, Tag("?number")] | Annotated[LoopPart, Tag("?LoopPart")],
    branch(
        "a number of iterations, {start: a, stop: b, step: c} or any",
        by_shape(mapping="?LoopPart", text="?number", integer="?number"),
    ),
]


class AccessPart(Part):
    """What the threads of a block do with one instruction: `coord` in a tile, or an `address`."""

    instruction: Text = Field(description="PTX name, such as ldmatrix.x4 or st.shared.v4.b32")
    tile: Name | None = None
    threads: Count | None = Field(None, description="threads of the block")
    block: list[Count] | None = Field(None, min_length=1, max_length=3, description="extents of the block: x, y, z")
    for_: dict[Identifier, LoopValue] = Field(default_factory=dict, alias="for", description="loop variables")
    coord: list[Expression] | None = Field(None, min_length=1, description="one expression a mode of the tile")
    stage: Expression | None = Field(None, description="the stage; without it every one")
    address: Expression | None = Field(None, description="a byte address, added to `base`")
    base: BaseValue | None = Field(None, description="added to `address`; default 0")
    bytes: Count | None = Field(None, description="bytes that `address` may touch, for in_bounds")
    if_: Expression | None = Field(None, alias="if", description="which threads take part")
    assume: list[Expression] = Field([], description="of loop variables and constants")


class MapPart(Part):
    """An index map: expressions over a box."""

    over: dict[Identifier, Count] = Field(min_length=1, description="variables and their extents")
    value: list[Expression] = Field(min_length=1)
    onto: list[Count] | None = Field(None, min_length=1, description="the box that the values fill, for permutation")
    base: BaseValue | None = Field(None, description="what `base` in the expressions stands for")


ConstantValue: TypeAlias = Annotated[
    Annotated[int, Tag("?integer")] | Annotated[list[int], Tag("?integers"), Field(min_length=1)],
    branch("an integer or a list of integers", by_shape(integer="?integer", items="?integers")),
]

ClaimsValue: TypeAlias = Annotated[
    Annotated[Literal["standard"], Tag("?standard")] | Annotated[list[ClaimItem], Tag("?claims")],
    branch("a list of claims, or `standard`", by_shape(text="?standard", items="?claims")),
]


class SpecPart(Part):
    """A spec file of swzverify: tiles, accesses and maps, and what is claimed of them."""

    swzverify: Literal[1] = Field(description="the version of this form")
    title: Text = ""
    source: Text = Field("", description="where the configuration comes from")
    target: Text = Field("sm_90", description="the GPU architecture")
    constants: dict[Identifier, ConstantValue] = Field(default_factory=dict, description="a list makes cases")
    memories: dict[Name, MemoryPart] = Field(default_factory=dict)
    tiles: dict[Name, TilePart] = Field(default_factory=dict)
    accesses: dict[Name, AccessPart] = Field(default_factory=dict)
    maps: dict[Name, MapPart] = Field(default_factory=dict)
    claims: ClaimsValue = Field([], description="a list, or `standard`")


PARTS: dict[str, type[Part]] = {
    f"?{part.__name__}": part
    for part in (AlignedBasePart, MemoryBasePart, DenseLayoutPart, SwizzlePart, StagesPart, LoopPart)
}
"""The model of a union's branch, by its tag."""

SECTIONS: dict[str, type[Part]] = {
    "memories": MemoryPart,
    "tiles": TilePart,
    "accesses": AccessPart,
    "maps": MapPart,
}
"""The model of each entry of a section."""

"""What a spec says of an operand of the tensor core: its descriptor, and the elements that it should be."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from swzverify.spec.access_models import LoopValue
from swzverify.spec.fields import Count, Expression, Identifier, Name, Part, Text
from swzverify.spec.place_models import BaseValue

Dimension: TypeAlias = Literal["MN", "K"]


class DescriptorPart(Part):
    """The fields of a matrix descriptor, in bytes."""

    start: Expression = Field(
        description="the start address, added to `base`: an expression of loops and constants",
        examples=["stage*16384 + k*32"],
    )
    lbo: Count = Field(
        0, description="leading byte offset; K-major operands with a swizzle do not read it", examples=[8192]
    )
    sbo: Count = Field(description="stride byte offset", examples=[1024])
    swizzle: Text = Field(description="the mode: none, 32B, 64B or 128B", examples=["128B", "none"])
    base_offset: Count = Field(0, description="the base offset, 0 to 7", examples=[0])
    base: BaseValue | None = Field(
        None, description="where `start` counts from; default: the tile's base", examples=[{"in": "smem", "offset": 0}]
    )


class ReadsPart(Part):
    """The elements of a tile that the operand should be."""

    tile: Name = Field(description="the tile", examples=["A"])
    at: list[Expression] = Field(
        min_length=2,
        max_length=2,
        description="the tile's coordinate of the operand's element (0, 0)",
        examples=[[0, "k*16"]],
    )
    stage: Expression | None = Field(
        None, description="the tile's stage; needed if it has several", examples=["stage", 0]
    )
    modes: list[Dimension] = Field(
        ["MN", "K"],
        min_length=2,
        max_length=2,
        description="which dimension of the operand each mode of the tile is",
        examples=[["MN", "K"], ["K", "MN"]],
    )


class OperandPart(Part):
    """An operand that the tensor core reads from shared memory through a matrix descriptor."""

    instruction: Text = Field(
        description="wgmma or tcgen05.mma, with shape and type",
        examples=["wgmma.m64n128k16.f16", "wgmma.m64n256k16.bf16"],
    )
    role: Literal["A", "B"] = Field(description="operand A or B", examples=["A", "B"])
    major: Dimension = Field("K", description="the dimension along which elements lie side by side", examples=["MN"])
    for_: dict[Identifier, LoopValue] = Field(
        default_factory=dict,
        alias="for",
        description="loop variables and their values: stages, steps of K, warp groups",
        examples=[{"stage": 3, "k": 4}],
    )
    descriptor: DescriptorPart = Field(
        description="the fields of the matrix descriptor",
        examples=[{"start": "stage*16384 + k*32", "sbo": 1024, "swizzle": "128B"}],
    )
    reads: ReadsPart = Field(
        description="the elements that it should be", examples=[{"tile": "A", "at": [0, "k*16"], "stage": "stage"}]
    )

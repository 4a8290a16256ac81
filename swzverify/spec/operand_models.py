"""What a spec says of an operand of the tensor core: its descriptor, and the elements that it should be."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from swzverify.spec.access_models import CodePart, LoopValue
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


class CompiledOperandPart(CodePart):
    """Instructions `wgmma.mma_async` of a compiled kernel, which read the operand."""

    stages: Identifier | None = Field(
        None,
        description="the loop whose values are the start addresses that a line can have, in ascending order",
        examples=["stage"],
    )
    groups: Identifier | None = Field(
        None, description="the loop over the warp groups that execute the lines, in ascending order", examples=["wg"]
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
    threads: Count | None = Field(None, description="with `compiled`: threads of the block", examples=[384])
    block: list[Count] | None = Field(
        None,
        min_length=1,
        max_length=3,
        description="with `compiled`: extents of the block, x, y, z; in place of `threads`",
        examples=[[128, 3]],
    )
    descriptor: DescriptorPart | None = Field(
        None,
        description="the fields of the matrix descriptor",
        examples=[{"start": "stage*16384 + k*32", "sbo": 1024, "swizzle": "128B"}],
    )
    compiled: CompiledOperandPart | None = Field(
        None,
        description="instructions of a compiled kernel, which say the descriptor; in place of `descriptor`",
        examples=[{"file": "build/gemm.ptx", "line": [210, 214, 218, 222], "over": "k", "stages": "stage"}],
    )
    base: BaseValue | None = Field(
        None,
        description="with `compiled`: where the array of the start address begins; default: the tile's base",
        examples=[{"in": "smem", "offset": 0}],
    )
    reads: ReadsPart = Field(
        description="the elements that it should be", examples=[{"tile": "A", "at": [0, "k*16"], "stage": "stage"}]
    )

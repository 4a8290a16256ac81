"""What a spec says of an access, with the values that each lane has of its own (`lanes:`)."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, Tag

from swzverify.spec.fields import Count, Expression, Identifier, Name, Part, Text, branch, by_shape
from swzverify.spec.place_models import AlignedBasePart, BaseValue


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


class SourcePart(Part):
    """Where a copy reads in global memory."""

    address: Expression = Field(description="a byte address, added to `base`", examples=["tid/4*4096 + tid%4*16"])
    base: (
        Annotated[
            Annotated[Count, Tag("?number")] | Annotated[AlignedBasePart, Tag("?AlignedBasePart")],
            branch(
                "a byte address, or {align: n}",
                by_shape(mapping="?AlignedBasePart", text="?number", integer="?number"),
            ),
        ]
        | None
    ) = Field(
        None,
        description="where the array begins; default: any multiple of 16",
        examples=[{"align": 256}],
    )


SourceOfCopy: TypeAlias = Annotated[
    Annotated[Expression, Tag("?expression")] | Annotated[SourcePart, Tag("?SourcePart")],
    branch(
        "a byte address, or {address: ..., base: ...}",
        by_shape(mapping="?SourcePart", text="?expression", integer="?expression"),
    ),
]

LinesValue: TypeAlias = Annotated[
    Annotated[Count, Tag("?number")] | Annotated[list[Count], Tag("?lines"), Field(min_length=2)],
    branch("a line of the PTX, or a list of lines", by_shape(text="?number", integer="?number", items="?lines")),
]


class CodePart(Part):
    """Instructions of a compiled kernel: what accesses and operands say of them."""

    file: Text = Field(description="the PTX file, from the spec's folder", examples=["build/gemm.ptx"])
    kernel: Text | None = Field(
        None, description="the kernel's name in the PTX; default: the only one", examples=["_Z4gemmPKfPf"]
    )
    line: LinesValue | None = Field(
        None,
        description="its line in the PTX; several lines are the iterations of `over`",
        examples=[147, [57, 72, 87]],
    )
    source: Count | None = Field(
        None,
        description="its line in the source, in place of `line`: every such instruction from there, in order",
        examples=[16],
    )
    over: Identifier | None = Field(
        None, description="the loop whose iterations the lines are, in order; default: the only one", examples=["i"]
    )
    array: Text | None = Field(
        None, description="the array that its address must begin with, by its name in the PTX", examples=["buf"]
    )
    parameters: dict[Identifier, Count] = Field(
        default_factory=dict,
        description="values of the kernel's integer parameters, by name, or by number as param0, param1, ...",
        examples=[{"lda": 128}, {"param2": 64}],
    )


class CompiledPart(CodePart):
    """An instruction of a compiled kernel."""

    loops: dict[Identifier, Count] = Field(
        default_factory=dict,
        description="for each loop of `for` the PTX line where it begins; where there is one, it is found",
        examples=[{"k": 139}],
    )


class FragmentPart(Part):
    """What a load should put into the registers of `mma.sync`."""

    mma: Text = Field(
        description="shape and type of the mma.sync, such as m16n8k16.f16, m16n8k8.tf32 or m16n8k32.s8",
        examples=["m16n8k16.f16", "m16n8k16.bf16"],
    )
    role: Literal["A", "B"] = Field(description="operand A or B", examples=["A"])
    tile: Name | None = Field(None, description="the tile that is meant, if the access has no `tile`", examples=["A"])
    stage: Expression | None = Field(
        None,
        description="the stage of that tile; it may read warp, loops and constants; needed if it has several",
        examples=["k%2", 0],
    )
    at: list[Expression] = Field(
        min_length=2,
        max_length=2,
        description="the tile's coordinate of the operand's element (0, 0); it may read warp, loops, constants and "
        "`register`, the register of the load",
        examples=[["warp*16", "k"], ["warp*16", 0]],
    )
    register_: Expression = Field(
        "register",
        alias="register",
        description="which register of the fragment a register of the load is",
        examples=["register%2", "register"],
    )
    modes: list[Literal["MN", "K"]] = Field(
        ["MN", "K"],
        min_length=2,
        max_length=2,
        description="which dimension of the operand each mode of the tile is",
        examples=[["MN", "K"], ["K", "MN"]],
    )


class LaneRangePart(Part):
    """A lane's value is one of start, start + step, ..., below stop."""

    start: Count = Field(0, description="the first value", examples=[0])
    stop: Count = Field(description="the first value that is not reached", examples=[64, "BK"])
    step: Count = Field(1, description="from one value to the next", examples=[4])


class LaneBitsPart(Part):
    """A lane's value is any number of so many bits."""

    bits: Count = Field(description="bits of the value, which is not negative; 1 to 32", examples=[8])


LaneValue: TypeAlias = Annotated[
    Annotated[Count, Tag("?number")]
    | Annotated[LaneRangePart, Tag("?LaneRangePart")]
    | Annotated[LaneBitsPart, Tag("?LaneBitsPart")],
    branch(
        "a number of values, {start: a, stop: b, step: c} or {bits: n}",
        by_shape(
            mapping=lambda keys: "?LaneBitsPart" if "bits" in keys else "?LaneRangePart",
            text="?number",
            integer="?number",
        ),
    ),
]


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
    source: SourceOfCopy | None = Field(
        None,
        description="the byte address in global memory that each lane of cp.async.16 reads; "
        "default: each octet reads one 128-byte line",
        examples=["tid*16", {"address": "tid/4*4096 + tid%4*16", "base": {"align": 256}}],
    )
    fragment: FragmentPart | None = Field(
        None,
        description="what the registers should hold for mma.sync, for `delivers`",
        examples=[{"mma": "m16n8k16.f16", "role": "A", "at": ["warp*16", "k"]}],
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

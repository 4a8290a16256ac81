"""What a spec says of the order of accesses: the steps of a phase."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, Tag

from swzverify.spec.fields import Count, Expression, Identifier, Name, Part, branch, by_shape


class RunPart(Part):
    """An access that a step runs in a stated iteration of its own loops."""

    access: Name = Field(description="the name of an access", examples=["copy_A"])
    at: dict[Identifier, Expression] = Field(
        min_length=1,
        description="values of the access's loop variables: a number, or the phase's variable plus a number",
        examples=[{"k": "i + 2"}, {"k": 0}],
    )


class WaitPart(Part):
    """`cp.async.wait_group n`: each thread waits for all its groups of copies but the n newest."""

    wait_group: Count = Field(description="how many of the newest groups may still be under way", examples=[1, 0])


class PassPart(Part):
    """`mbarrier.try_wait.parity` until it succeeds: each thread of the role waits for a phase of a barrier."""

    wait: Name = Field(description="the name of a barrier of this phase", examples=["full", "empty"])
    stage: Expression = Field(0, description="which of its objects, over the phase's variable", examples=["i%3"])
    phase: Expression = Field(description="the phase bit, 0 or 1, over the phase's variable", examples=["i/3%2"])
    by: Expression | None = Field(
        None,
        description="which threads of the role wait, over tid, warp and lane; default: all",
        examples=["lane == 0"],
    )


class ArrivePart(Part):
    """`mbarrier.arrive`: each thread of the role arrives once; with `bytes`, `mbarrier.arrive.expect_tx`."""

    arrive: Name = Field(description="the name of a barrier of this phase", examples=["full", "empty"])
    stage: Expression = Field(0, description="which of its objects, over the phase's variable", examples=["i%3"])
    by: Expression | None = Field(
        None,
        description="which threads of the role arrive, over tid, warp and lane; default: all",
        examples=["lane == 0"],
    )
    bytes: Count | None = Field(
        None, description="the bytes that each of these threads expects to be copied", examples=[32768]
    )


class CopyPart(Part):
    """`cp.async.bulk` into a stage of a tile: the asynchronous proxy writes it, and its bytes count at a barrier."""

    tma: Name = Field(description="the name of a tile; all its bytes in the stage are written", examples=["A"])
    stage: Expression = Field(
        0, description="the stage of the tile and of the barrier, over the phase's variable", examples=["i%3"]
    )
    barrier: Name = Field(description="the barrier at which the copied bytes count", examples=["full"])
    by: Expression | None = Field(
        None, description="the thread of the role that copies; needed if it has several", examples=["tid == 0"]
    )


class ProductPart(Part):
    """`wgmma.mma_async`: the asynchronous proxy reads an operand; steps that follow each other are one group."""

    wgmma: Name = Field(description="the name of an operand", examples=["A"])
    at: dict[Identifier, Expression] = Field(
        default_factory=dict,
        description="values of loops of the operand, over the phase's variable; of the other loops every value is read",
        examples=[{"s": "i%3"}],
    )


class ProductWaitPart(Part):
    """`wgmma.wait_group n`: each thread waits for all its groups of `wgmma` steps but the n newest."""

    wgmma_wait: Count = Field(description="how many of the newest groups may still read", examples=[0, 1])


class FencePart(Part):
    """`fence.proxy.async`: what comes before it is visible to the asynchronous proxy."""

    fence: Literal["proxy"] = Field(description="which fence", examples=["proxy"])
    by: Expression | None = Field(
        None,
        description="which threads of the role do it, over tid, warp and lane; default: all",
        examples=["warp == 0"],
    )


class BarSyncPart(Part):
    """`bar.sync a, b`: the threads of the role arrive at a named barrier, and wait until it is complete."""

    bar_sync: Count = Field(description="the number of the barrier, 0 to 15", examples=[1])
    threads: Count = Field(description="how many threads complete it, a multiple of 32", examples=[256])


class BarArrivePart(Part):
    """`bar.arrive a, b`: the threads of the role arrive at a named barrier, and go on."""

    bar_arrive: Count = Field(description="the number of the barrier, 0 to 15", examples=[1])
    threads: Count = Field(description="how many threads complete it, a multiple of 32", examples=[256])


StepValue: TypeAlias = Annotated[
    Annotated[Name, Tag("?step")]
    | Annotated[RunPart, Tag("?RunPart")]
    | Annotated[WaitPart, Tag("?WaitPart")]
    | Annotated[PassPart, Tag("?PassPart")]
    | Annotated[ArrivePart, Tag("?ArrivePart")]
    | Annotated[CopyPart, Tag("?CopyPart")]
    | Annotated[ProductPart, Tag("?ProductPart")]
    | Annotated[ProductWaitPart, Tag("?ProductWaitPart")]
    | Annotated[FencePart, Tag("?FencePart")]
    | Annotated[BarSyncPart, Tag("?BarSyncPart")]
    | Annotated[BarArrivePart, Tag("?BarArrivePart")],
    branch(
        "the name of an access, barrier, syncwarp, commit, wait_all, {wait_group: n}, {access: name, at: {...}}, "
        "or, in a role, {wait: barrier, phase: bit}, {arrive: barrier}, {tma: tile, barrier: name}, {wgmma: operand}, "
        "{wgmma_wait: n}, {fence: proxy}, {bar_sync: number, threads: n} or {bar_arrive: number, threads: n}",
        by_shape(
            mapping=lambda keys: next((tag for key, tag in _TAGS.items() if key in keys), "?RunPart"), text="?step"
        ),
    ),
]
_TAGS = {
    "wait_group": "?WaitPart",
    "wait": "?PassPart",
    "arrive": "?ArrivePart",
    "tma": "?CopyPart",
    "wgmma": "?ProductPart",
    "wgmma_wait": "?ProductWaitPart",
    "fence": "?FencePart",
    "bar_sync": "?BarSyncPart",
    "bar_arrive": "?BarArrivePart",
}


class BarrierPart(Part):
    """`mbarrier` objects, one for each stage, fresh when the phase begins."""

    stages: Count = Field(1, description="how many objects", examples=[3])
    arrivals: Count = Field(description="the count of `mbarrier.init`: arrivals that complete a phase", examples=[128])


class RolePart(Part):
    """Threads that do steps of their own in each iteration."""

    threads: Expression = Field(description="which threads, over tid, warp and lane", examples=["warp == 0"])
    before: list[StepValue] = Field(
        default_factory=list[StepValue],
        description="the steps before the loop",
        examples=[[{"tma": "A", "stage": 0, "barrier": "full", "by": "tid == 0"}]],
    )
    steps: list[StepValue] = Field(
        min_length=1,
        description="the steps of an iteration: those of a phase, and those that only roles have",
        examples=[[{"wait": "full", "stage": "i%3", "phase": "i/3%2"}, "read_A", {"arrive": "empty", "stage": "i%3"}]],
    )
    after: list[StepValue] = Field(
        default_factory=list[StepValue],
        description="the steps behind the loop",
        examples=[[{"wgmma_wait": 0}, {"bar_sync": 3, "threads": 256}, "store_C"]],
    )


class PhasePart(Part):
    """What each thread of the block does, in order, in each iteration of a loop."""

    for_: dict[Identifier, Count] = Field(
        default_factory=dict,
        alias="for",
        max_length=1,
        description="the loop's variable, and its number of iterations or `any`; without it the steps run once",
        examples=[{"i": "any"}, {"i": 8}],
    )
    before: list[StepValue] | None = Field(
        None,
        description="the steps before the loop; without the key nothing is said of them",
        examples=[[{"access": "copy_A", "at": {"k": 0}}, "commit"]],
    )
    threads: Count | None = Field(
        None,
        description="the threads of the block, for roles that run no access of `accesses:`",
        examples=[128],
    )
    barriers: dict[Name, BarrierPart] = Field(
        default_factory=dict,
        description="the mbarriers at which roles wait and arrive, by name",
        examples=[{"full": {"stages": 3, "arrivals": 1}, "empty": {"stages": 3, "arrivals": 128}}],
    )
    roles: dict[Name, RolePart] = Field(
        default_factory=dict,
        description="threads with steps of their own, such as producer and consumer, by name; in place of `steps`",
        examples=[{"producer": {"threads": "warp == 0", "steps": ["write_A", {"arrive": "full", "stage": "i%3"}]}}],
    )
    steps: list[StepValue] | None = Field(
        None,
        min_length=1,
        description="the steps of an iteration: names of accesses, barrier, syncwarp, commit, wait_all, "
        "{wait_group: n}",
        examples=[["write_A", "barrier", "read_A"]],
    )
    after: list[StepValue] | None = Field(
        None,
        description="the steps after the loop; without the key nothing is said of them",
        examples=[["barrier", "store_C"]],
    )

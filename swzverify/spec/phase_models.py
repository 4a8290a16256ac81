"""What a spec says of the order of accesses: the steps of a phase."""

from __future__ import annotations

from typing import Annotated, TypeAlias

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


class ArrivePart(Part):
    """`mbarrier.arrive`: each thread of the role arrives once."""

    arrive: Name = Field(description="the name of a barrier of this phase", examples=["full", "empty"])
    stage: Expression = Field(0, description="which of its objects, over the phase's variable", examples=["i%3"])


StepValue: TypeAlias = Annotated[
    Annotated[Name, Tag("?step")]
    | Annotated[RunPart, Tag("?RunPart")]
    | Annotated[WaitPart, Tag("?WaitPart")]
    | Annotated[PassPart, Tag("?PassPart")]
    | Annotated[ArrivePart, Tag("?ArrivePart")],
    branch(
        "the name of an access, barrier, syncwarp, commit, wait_all, {wait_group: n}, {access: name, at: {...}}, "
        "{wait: barrier, phase: bit} or {arrive: barrier}",
        by_shape(
            mapping=lambda keys: next((tag for key, tag in _TAGS.items() if key in keys), "?RunPart"), text="?step"
        ),
    ),
]
_TAGS = {"wait_group": "?WaitPart", "wait": "?PassPart", "arrive": "?ArrivePart"}


class BarrierPart(Part):
    """`mbarrier` objects, one for each stage, fresh when the phase begins."""

    stages: Count = Field(1, description="how many objects", examples=[3])
    arrivals: Count = Field(description="the count of `mbarrier.init`: arrivals that complete a phase", examples=[128])


class RolePart(Part):
    """Threads that do steps of their own in each iteration."""

    threads: Expression = Field(description="which threads, over tid, warp and lane", examples=["warp >= 1"])
    steps: list[StepValue] = Field(
        min_length=1,
        description="the steps of an iteration: names of accesses, {wait: barrier, phase: bit}, {arrive: barrier}",
        examples=[[{"wait": "full", "stage": "i%3", "phase": "i/3%2"}, "read_A", {"arrive": "empty", "stage": "i%3"}]],
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

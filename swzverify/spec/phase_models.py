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


StepValue: TypeAlias = Annotated[
    Annotated[Name, Tag("?step")] | Annotated[RunPart, Tag("?RunPart")] | Annotated[WaitPart, Tag("?WaitPart")],
    branch(
        "the name of an access, barrier, syncwarp, commit, wait_all, {wait_group: n} or {access: name, at: {...}}",
        by_shape(mapping=lambda keys: "?WaitPart" if "wait_group" in keys else "?RunPart", text="?step"),
    ),
]


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
    steps: list[StepValue] = Field(
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

"""The form of `lanes:` in an access: values that each lane has of its own."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field, Tag

from swzverify.spec.fields import Count, Part, branch, by_shape


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

"""What a spec says of a sweep: the axes, and which combinations count."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field, StringConstraints, Tag

from swzverify.spec.fields import Expression, Identifier, Part, Text, branch, by_shape

MAX_AXES = 32
MAX_VALUES = 65_536
"""The values of one axis."""

Value: TypeAlias = Annotated[str, StringConstraints(pattern=r"^.+$")]
"""A text that stands at a place of the spec."""

Entry: TypeAlias = Annotated[
    Annotated[int, Tag("?integer")] | Annotated[Text, Tag("?text")],
    branch("an integer or a text", by_shape(integer="?integer", text="?text")),
]

ValuesValue: TypeAlias = Annotated[
    Annotated[list[Entry], Tag("?entries"), Field(min_length=1, max_length=MAX_VALUES)]
    | Annotated[dict[Value, int], Tag("?numbered"), Field(min_length=1, max_length=MAX_VALUES)],
    branch("a list of values, or a mapping of values to numbers", by_shape(items="?entries", mapping="?numbered")),
]

PlacesValue: TypeAlias = Annotated[
    Annotated[Text, Tag("?text")] | Annotated[list[Text], Tag("?places"), Field(min_length=1)],
    branch("a place in the spec, or a list of places", by_shape(text="?text", items="?places")),
]


class AxisPart(Part):
    """An axis of a sweep: `values`, or a range, and the places of the spec that take them."""

    values: ValuesValue | None = Field(
        None,
        description="the values; a mapping gives each the number that its constant and `where` read",
        examples=[["f16", "f32"], {"i8": 1, "f16": 2, "f32": 4}],
    )
    start: int = Field(0, description="the first value of a range", examples=[16])
    stop: int | None = Field(None, description="the first value that the range does not reach", examples=[257])
    step: int = Field(1, description="from one value to the next", examples=[16])
    times: int | None = Field(
        None, description="each value is so many times the one before; in place of `step`", examples=[2]
    )
    at: PlacesValue | None = Field(
        None,
        description="where the value is put; default: the constant of the axis's name",
        examples=["tiles.A.element", ["tiles.A.element", "tiles.B.element"]],
    )


AxisValue: TypeAlias = Annotated[
    Annotated[list[int], Tag("?integers"), Field(min_length=1, max_length=MAX_VALUES)]
    | Annotated[AxisPart, Tag("?AxisPart")],
    branch(
        "a list of integers, or {values: ..., at: ...}, or {start: a, stop: b, step: c}",
        by_shape(items="?integers", mapping="?AxisPart"),
    ),
]


class SweepPart(Part):
    """Many variants of the spec, which `swzverify sweep` measures."""

    over: dict[Identifier, AxisValue] = Field(
        min_length=1,
        max_length=MAX_AXES,
        description="the axes, by name: constants of the spec, or values with a place",
        examples=[{"BK": [32, 64], "E": {"at": "tiles.A.element", "values": ["i8", "f16"]}}],
    )
    where: list[Expression] = Field(
        [],
        description="conditions on the axes: a combination counts where none is 0",
        examples=[["BK <= 64", "BM*BK >= 1024"]],
    )

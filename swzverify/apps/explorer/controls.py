"""The page's controls: one for each field of a state, with its label, values and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from swzverify.apps.explorer.state import State
from swzverify.apps.explorer.thread_maps import MAP_WORDS
from swzverify.hardware import INSTRUCTIONS, TARGETS
from swzverify.spec.elements import ELEMENT_BITS

_ORDERS = {"row": "row-major", "column": "column-major", "layout": "CuTe notation"}
_SWIZZLES = {"none": "none", "offset": "on element offsets", "address": "on byte addresses"}
_VIEWS = {"logical": "by coordinate", "physical": "in memory, rows of 128 bytes"}
_FILTERS = {"-1": "all", **{str(number): str(number) for number in range(32)}}


@dataclass(frozen=True, slots=True)
class Control:
    """A control of the page.

    Attributes:
        name: The name of the state's field.
        label: The label on the page.
        value: The present value.
        default: The value of a new page.
        options: The words of a choice, by value.
        least: The least value of a number.
        most: The largest value of a number.
        hint: What to write.
        local: Whether it only filters the pictures; nothing is computed for it.
    """

    name: str
    label: str
    value: str
    default: str
    options: Mapping[str, str] | None = None
    least: int | None = None
    most: int | None = None
    hint: str = ""
    local: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Controls below a heading."""

    title: str
    controls: tuple[Control, ...]


def controls(given: Mapping[str, str]) -> tuple[Section, ...]:
    """The controls with these values, checked or not, and the defaults of the others."""
    state = State()
    defaults = {name: str(value) for name, value in state.model_dump().items()}

    def value(name: str) -> str:
        return given.get(name, defaults[name])

    def number(name: str, label: str) -> Control:
        schema = State.model_json_schema()["properties"][name]
        return Control(name, label, value(name), defaults[name], None, schema["minimum"], schema["maximum"])

    def choice(name: str, label: str, options: Mapping[str, str], *, local: bool = False) -> Control:
        return Control(name, label, value(name), defaults[name], options, local=local)

    def text(name: str, label: str, hint: str) -> Control:
        return Control(name, label, value(name), defaults[name], hint=hint)

    return (
        Section(
            "Tile",
            (
                number("rows", "Rows"),
                number("columns", "Columns"),
                number("pad", "Pad"),
                choice("element", "Element", {name: f"{name} ({bits} bits)" for name, bits in ELEMENT_BITS.items()}),
                choice("order", "Layout", _ORDERS),
                text("layout", "CuTe layout", "such as (64,64):(64,1)"),
                choice("swizzle", "Swizzle", _SWIZZLES),
                number("bits", "B"),
                number("base", "M"),
                number("shift", "S"),
            ),
        ),
        Section(
            "Access",
            (
                choice("instruction", "Instruction", {name: name for name in INSTRUCTIONS}),
                number("threads", "Threads"),
                choice("target", "Target", {name: name for name in TARGETS}),
                choice("map", "Thread map", MAP_WORDS),
                text("coord", "Coordinate", "expressions in tid, lane, warp and the loops"),
                text("loops", "Loops", "such as k=0:64:16 i=4"),
            ),
        ),
        Section(
            "Pictures",
            (
                choice("view", "Draw the tile", _VIEWS),
                text("at", "Warp instruction", "empty: the worst; or warp=1, k=16"),
                choice("bank", "Only bank", _FILTERS, local=True),
                choice("group", "Only group of lanes", _FILTERS, local=True),
            ),
        ),
    )

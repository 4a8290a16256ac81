"""The axes of a sweep: their values, the numbers that conditions read, and where each is put."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import prod
from typing import cast

from swzverify.errors import SwzError, nearest
from swzverify.ir.c_ast import names
from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_parse import expression
from swzverify.spec.check import Checked
from swzverify.spec.problems import Problems
from swzverify.spec.source import MAX_INTEGER, MIN_INTEGER, to_data
from swzverify.spec.sweep_models import MAX_VALUES, AxisPart
from swzverify.spec.tree import Data, Mapping, Node, Scalar, Sequence, get, key_of

MAX_COMBINATIONS = 10**9
"""The combinations of all axes, before the conditions."""
Place = tuple[str | int, ...]
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Axis:
    """What one axis varies.

    `values` are put at each of `places`, paths of keys and indices in the file; `numbers`, one for
    each value, are what conditions and the constant of the axis's name read: the values themselves
    where they are integers, None where a text has no number. `is_constant` says that there is such a
    constant.
    """

    name: str
    values: tuple[int | str, ...]
    numbers: tuple[int, ...] | None
    places: tuple[Place, ...]
    is_constant: bool


@dataclass(frozen=True, slots=True)
class Sweep:
    """The axes in order, then constants with several values and no axis; and the conditions."""

    axes: tuple[Axis, ...]
    where: tuple[CFormula, ...]

    @property
    def combinations(self) -> int:
        """How many there are of the axes' values, whether a condition holds or not."""
        return prod(len(axis.values) for axis in self.axes)


def read_sweep(checked: Checked, problems: Problems) -> Sweep | None:
    """The sweep of a spec; None without one, or with mistakes, which go to `problems`."""
    part = checked.spec.sweep
    if part is None:
        return None
    before = len(problems)
    axes = [_axis(name, value, checked, problems) for name, value in part.over.items()]
    named = {axis.name for axis in axes}
    for name, value in checked.spec.constants.items():
        if isinstance(value, list) and name not in named:
            axes.append(Axis(name, tuple(value), tuple(value), (), is_constant=True))
    _check_places(axes, checked, problems)
    where = _conditions(part.where, axes, checked, problems)
    found = Sweep(tuple(axes), tuple(where))
    if found.combinations > MAX_COMBINATIONS:
        message = f"{found.combinations} combinations of the axes' values: at most {MAX_COMBINATIONS}"
        problems.add("SWZ107", message, key_of(get(checked.root, "sweep"), "over"), "give the axes fewer values")
    return found if len(problems) == before else None


def _axis(name: str, value: list[int] | AxisPart, checked: Checked, problems: Problems) -> Axis:
    where = _key(checked, name)
    is_constant = name in checked.spec.constants
    part = AxisPart.model_validate({"values": value}) if isinstance(value, list) else value
    values = _values(name, part, where, problems)
    numbers = _numbers(part, values)
    texts = [part.at] if isinstance(part.at, str) else part.at or []
    places = [_place(text, checked, where, problems) for text in texts]
    if not texts and not is_constant:
        known = list(checked.spec.constants)
        hint = nearest(name, known) or "an axis is a constant of `constants:`, or says `at:` where its values go"
        problems.add("SWZ106", f"the spec has no constant '{name}'", where, hint)
    if is_constant and numbers is None:
        hint = "give each value its number: values: {i8: 1, f16: 2}"
        problems.add("SWZ105", f"'{name}' is a constant, and its values are texts", where, hint)
    if {type(value) for value in values} == {int, str}:
        values = tuple(map(str, values))  # a column has one type
    if len(set(values)) < len(values):
        problems.add("SWZ105", f"axis '{name}' has the same value twice", where, "each value is a case of its own")
    return Axis(name, values, numbers, tuple(place for place in places if place), is_constant)


def _values(name: str, part: AxisPart, where: Node, problems: Problems) -> tuple[int | str, ...]:
    if part.values is not None:
        if part.stop is not None:
            problems.add("SWZ105", f"axis '{name}' has `values` and a range: one of them", where)
        return tuple(part.values)
    if part.stop is None:
        problems.add("SWZ104", f"axis '{name}' has no values", where, "values: [...], or start, stop and step")
        return (0,)
    found: list[int] = []
    value = part.start
    while value < part.stop and len(found) <= MAX_VALUES:
        found.append(value)
        step = value * (part.times - 1) if part.times is not None else part.step
        if step < 1:
            problems.add("SWZ105", f"axis '{name}': the range from {part.start} never reaches {part.stop}", where)
            break
        value += step
    if not found:
        problems.add("SWZ105", f"axis '{name}': no value from {part.start} to below {part.stop}", where)
    elif len(found) > MAX_VALUES:
        problems.add("SWZ107", f"axis '{name}' has more than {MAX_VALUES} values", where)
    elif found[-1] > MAX_INTEGER or found[0] < MIN_INTEGER:
        problems.add("SWZ107", f"axis '{name}': {found[-1]} is too large", where)
    return tuple(found) or (0,)


def _numbers(part: AxisPart, values: Iterable[int | str]) -> tuple[int, ...] | None:
    if isinstance(part.values, dict):
        return tuple(part.values.values())
    numbers = tuple(value for value in values if isinstance(value, int))
    return numbers if len(numbers) == len(tuple(values)) else None


def _place(text: str, checked: Checked, where: Node, problems: Problems) -> Place:
    """The path of a place such as `tiles.A.element`; a name with dots is one key."""
    node: Node = checked.root
    path: list[str | int] = []
    rest = text
    while rest:
        step = _step(node, rest)
        if step is None:
            break
        key, rest = step
        path.append(key)
        node = get(node, key)
    if rest or not isinstance(node, Scalar) or path[0] in ("sweep", "constants", "swzverify", "from_source"):
        hint = "a place is a path of keys to one value that the file has, such as tiles.A.element or target"
        known = [key.text for key, _ in node.entries] if isinstance(node, Mapping) else []
        near = nearest(rest.partition(".")[0], known) if rest else ""
        problems.add("SWZ106", f"the spec has no single value at '{text}'", where, near or hint)
        return ()
    return tuple(path)


def _step(node: Node, rest: str) -> tuple[str | int, str] | None:
    """The key or index that a path begins with, the longest that there is, and what follows it."""
    if isinstance(node, Sequence):
        first, _, after = rest.partition(".")
        return (int(first), after) if first.isdigit() and int(first) < len(node.items) else None
    if isinstance(node, Mapping):
        keys = [key.text for key, _ in node.entries if rest == key.text or rest.startswith(f"{key.text}.")]
        if keys:
            key = max(keys, key=len)
            return key, rest[len(key) + 1 :]
    return None


def _check_places(axes: Iterable[Axis], checked: Checked, problems: Problems) -> None:
    """Refuse two axes for one thing."""
    owner: dict[Place, str] = {}
    for axis in axes:
        for place in axis.places:
            if place in owner:
                text = ".".join(map(str, place))
                where = _key(checked, axis.name)
                problems.add("SWZ105", f"axes '{owner[place]}' and '{axis.name}' both set {text}", where)
            owner[place] = axis.name


def _conditions(
    stated: Iterable[int | str], axes: Collection[Axis], checked: Checked, problems: Problems
) -> list[CFormula]:
    known = {axis.name for axis in axes if axis.numbers is not None}
    known |= {name for name, value in checked.spec.constants.items() if not isinstance(value, list)}
    node = get(checked.root, "sweep", "where")
    found: list[CFormula] = []
    for index, text in enumerate(stated):
        where = node.items[index] if isinstance(node, Sequence) else node
        with problems.at(where):
            formula = expression(text)
            for name in sorted(names(formula.root)):
                if name not in known:
                    without = name in {axis.name for axis in axes}
                    hint = "give its values numbers: values: {i8: 1, f16: 2}" if without else nearest(name, known)
                    raise SwzError(
                        "SWZ301", f"'{name}' has no number here", hint=hint or f"axes are {', '.join(sorted(known))}"
                    )
            found.append(formula)
    return found


def only_in_swizzles(root: Mapping, axes: Collection[Axis]) -> dict[str, tuple[str, ...]]:
    """For each tile the axes that only its `swizzle` reads.

    All values of these axes can be examined at once. A tile is left out if an axis replaces its swizzle.
    An axis is left out if a placed value may name it.
    """
    data = cast("dict[str, Data]", to_data(root))
    for section in ("sweep", "constants", "title", "source"):
        data.pop(section, None)
    tiles = cast("dict[str, dict[str, Data]]", data.get("tiles", {}))
    swizzles = {name: _words(tile.pop("swizzle", None)) for name, tile in tiles.items()}
    others = _words(data).union(*(_words(list(axis.values)) for axis in axes if axis.places))
    placed = {place[1] for axis in axes for place in axis.places if place[:1] == ("tiles",) and "swizzle" in place}
    found: dict[str, tuple[str, ...]] = {}
    for name, words in swizzles.items():
        elsewhere = others.union(*(words for other, words in swizzles.items() if other != name))
        own = tuple(
            axis.name
            for axis in axes
            if axis.is_constant and not axis.places and axis.name in words and axis.name not in elsewhere
        )
        if own and name not in placed:
            found[name] = own
    return found


def _words(data: Data) -> set[str]:
    """Every word of the texts in plain data, keys included."""
    if isinstance(data, str):
        return set(_WORD.findall(data))
    if isinstance(data, dict):
        return set[str]().union(*(_words(key) | _words(value) for key, value in data.items()))
    if isinstance(data, list):
        return set[str]().union(*map(_words, data))
    return set()


def _key(checked: Checked, name: str) -> Node:
    return key_of(get(checked.root, "sweep", "over"), name) or checked.root

"""What each case of a sweep is, by brute force: the axes written into the spec one by one, and every
case judged by the oracle of docs/semantics.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

from tests.oracle.accesses import read_access
from tests.oracle.brute_force import judge
from tests.oracle.c_expr import constant
from tests.oracle.hardware import read_instruction
from tests.oracle.lets import read_lets
from tests.oracle.oracle_errors import OracleError
from tests.oracle.subjects import read_memories, read_tile
from tests.sweep.puzzles import Puzzle


@dataclass(frozen=True)
class Case:
    """The axes' values, the status, and for each access the worst wavefronts and bank conflicts."""

    values: dict[str, int | str]
    status: str
    costs: dict[str, tuple[int, int]]


def cases(puzzle: Puzzle) -> Iterator[Case]:
    """Every case that meets the conditions, in any order."""
    axes = {name: _values(axis) for name, axis in puzzle["sweep"]["over"].items()}
    for chosen in product(*axes.values()):
        numbers = dict(puzzle["constants"])
        spec = deepcopy(puzzle)
        del spec["sweep"]
        for name, (value, number) in zip(axes, chosen, strict=True):
            axis: Any = puzzle["sweep"]["over"][name]
            if number is not None:
                numbers[name] = number
            if "at" in axis:
                _put(spec, str(axis["at"]), value)
        spec["constants"] = {name: numbers[name] for name in puzzle["constants"]}
        if all(constant(text, numbers) for text in puzzle["sweep"].get("where", [])):
            values = {name: value for name, (value, _) in zip(axes, chosen, strict=True)}
            yield _judged(values, spec)


def _values(axis: Any) -> list[tuple[Any, Any]]:
    if isinstance(axis, list):
        return [(value, value) for value in cast("list[int]", axis)]
    if "values" in axis:
        stated = axis["values"]
        if isinstance(stated, dict):
            return list(cast("dict[str, int]", stated).items())
        listed = cast("list[int | str]", stated)
        return [(value, value if isinstance(value, int) else None) for value in listed]
    found: list[tuple[Any, Any]] = []
    value = axis.get("start", 0)
    while value < axis["stop"]:
        found.append((value, value))
        value = value * axis["times"] if "times" in axis else value + axis.get("step", 1)
    return found


def _put(spec: Any, place: str, value: int | str) -> None:
    *path, last = place.split(".")
    for step in path:
        spec = spec[step]
    spec[last] = value


def _judged(values: dict[str, int | str], spec: Any) -> Case:
    claims: list[dict[str, Any]] = [{"injective": "A"}, {"in_bounds": {"tile": "A"}}]
    for name, access in spec["accesses"].items():
        claims += [{"aligned": name}, {"wavefronts": {"access": name, "at_most": 1}}]
        if "tile" in access:
            claims.append({"contiguous": {"tile": "A", "elements": _elements(spec, access)}})
    try:
        found = judge({**spec, "claims": cast("Any", claims)})
        leaves = any(_leaves(spec, name) for name, access in spec["accesses"].items() if "tile" in access)
    except OracleError:
        return Case(values, "refused", {})
    verdict = {(each.kind, each.subject): each.verdict for each in found}
    if "vacuous" in [each.verdict for each in found if each.kind == "wavefronts"]:
        return Case(values, "refused", {})
    torn = {name for name in spec["accesses"] if verdict["aligned", name] == "refuted"}
    wholes = iter([each.verdict for each in found if each.kind == "contiguous"])
    torn |= {name for name, access in spec["accesses"].items() if "tile" in access and next(wholes) != "proved"}
    costs = {
        each.subject: (cast("int", each.wavefronts), cast("int", each.most_bank_conflicts))
        for each in found
        if each.kind == "wavefronts" and each.subject not in torn
    }
    if verdict["injective", "A"] == "refuted":
        return Case(values, "overlaps", costs)
    if verdict["in_bounds", "A"] == "refuted" or leaves:
        return Case(values, "outside", costs)
    if torn:
        return Case(values, "torn", costs)
    return Case(values, "conflicts" if any(clash for _, clash in costs.values()) else "free", costs)


def _elements(spec: Any, access: Any) -> int:
    bits = {"i8": 8, "f16": 16, "f32": 32, "f64": 64}[spec["tiles"]["A"]["element"]]
    return max(1, -(-8 * read_instruction(access["instruction"]).width_bytes // bits))


def _leaves(spec: Any, name: str) -> bool:
    """Whether a lane's vector begins or ends outside the shape."""
    numbers, target = spec["constants"], spec["target"]
    memories, lets = read_memories(spec, numbers), read_lets(None, numbers)
    tile = read_tile("A", spec["tiles"]["A"], memories, numbers, target, lets)
    access = read_access(name, spec["accesses"][name], {"A": tile}, memories, numbers, target, lets)
    extents = [constant(text, numbers) for text in ("R", "C")]
    stated = spec["tiles"]["A"].get("layout")
    along = 0 if isinstance(stated, dict) and stated["order"] == "col" and extents[0] > 1 else 1
    reach = [1, 1]
    reach[along] = _elements(spec, spec["accesses"][name])
    return any(
        access.coordinates[mode][point] + reach[mode] > extents[mode] for point in access.active for mode in (0, 1)
    )

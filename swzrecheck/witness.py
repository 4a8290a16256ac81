"""What all witnesses share: their fields as a file has them, and how one is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from swzrecheck.program import Program

Data: TypeAlias = Mapping[str, object]
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,4096}")


class WitnessError(Exception):
    """A witness that does not show what it should; the text says why."""


def require(condition: bool, why: str) -> None:
    """Refuse the witness unless the condition holds."""
    if not condition:
        raise WitnessError(why)


def only(data: Data, *names: str) -> None:
    """Refuse a witness with other fields than these."""
    require(set(data) == set(names), f"its fields are {', '.join(sorted(data)) or 'none'}, not {', '.join(names)}")


def numbers(data: Data, name: str) -> list[int]:
    """A list of numbers, each a JSON number or a hexadecimal text."""
    value = data.get(name)
    if not isinstance(value, list):
        raise WitnessError(f"{name!r} is not a list")
    return [as_number(item, name) for item in value]  # type: ignore[reportUnknownVariableType]


def as_number(value: object, name: str) -> int:
    """One number."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and _HEXADECIMAL.fullmatch(value):
        return int(value, 16)
    raise WitnessError(f"{name!r} is not a number")


def periods_of(data: Data, program: Program, places: Sequence[int]) -> list[tuple[int, int]]:
    """Each variable's place and how many of its first values stand for all."""
    given = data.get("periods")
    if not isinstance(given, dict):
        raise WitnessError("'periods' is missing")
    names = {program[place].name for place in places}
    require(set(given) <= names, "'periods' names another variable")  # type: ignore[reportUnknownArgumentType]
    found: list[tuple[int, int]] = []
    for place in places:
        period = as_number(given.get(program[place].name, program[place].number), "periods")  # type: ignore[reportUnknownMemberType]
        require(period >= 1, f"the period of {program[place].name} is 0")
        found.append((place, min(period, program[place].number)))
    return found


def require_same(data: Data, found: Mapping[str, object], *given: str) -> None:
    """Refuse a witness whose fields, but those given, are not as the expression gives them."""
    only(data, *given, *found)
    for name, value in found.items():
        require(data.get(name) == value, f"{name!r} is another than the expression gives")


def hexadecimal(values: Sequence[int]) -> list[str]:
    """Numbers as a file has those of matrices."""
    return [f"{value:x}" for value in values]

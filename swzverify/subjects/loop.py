"""The loops around an access, and the names of an access's variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.c_ast import VALUE_MAX, VALUE_MIN
from swzverify.ir.integers import Integer
from swzverify.ir.whole import keep_whole, required

T = TypeVar("T")
LANE, WARP, STAGE = "lane", "warp", "stage"
AXIS_WORDS = ("tid_", "threadIdx.", "blockDim.")
"""What an expression may read of each axis of the block that is said."""
RESERVED_NAMES = frozenset(
    [
        "tid",
        "tid_x",
        "tid_y",
        "tid_z",
        "lane",
        "warp",
        "stage",
        "base",
        "min",
        "max",
        "any",
        "threadIdx",
        "blockDim",
        "blockIdx",
        "gridDim",
    ]
)
"""Names with a meaning of their own, which no constant or loop variable may take."""
NOT_FOR_MAPS = RESERVED_NAMES - {"tid", "lane", "warp", "tid_x", "tid_y", "tid_z"}
"""What no variable of a map may be called: a map has no threads, so it may go over what is called
so.
"""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
ANY_LIMIT = 1 << 32
"""Where an unbounded loop ends: beyond C's range in any case."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A counting loop `for (name = start; name < stop; name += step)`.

    Without `stop` it takes every value from `start` on at which nothing overflows.

    Raises:
        SwzError: SWZ105 for a step below 1, SWZ107 for a number that is no integer of C.

    >>> Loop("k", 0, 64, 16).count
    4
    """

    name: str
    start: int
    stop: int | None
    step: int = 1

    def __post_init__(self) -> None:
        """Refuse a loop that goes down or nowhere."""
        keep_whole(self, f"loop {self.name}", "start", "step", optional=("stop",))
        if self.step < 1:
            raise SwzError("SWZ105", f"loop {self.name} has the step {self.step}: at least 1")
        for what, value in (("start", self.start), ("stop", self.stop), ("step", self.step)):
            if value is not None:
                require_c_integer(f"loop {self.name}", what, value)

    @property
    def count(self) -> int | None:
        """Iterations; None without a bound."""
        if self.stop is None:
            return None
        return max(0, -(-(self.stop - self.start) // self.step))

    @property
    def is_unbounded(self) -> bool:
        """Whether it goes on as long as nothing overflows."""
        return self.stop is None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two loops of the same start, step and number of iterations."""
        return ("loop", self.start, self.step, self.count)

    def value(self, iteration: int) -> int:
        """The value in an iteration, from 0.

        >>> Loop("k", 0, 64, 16).value(2)
        32
        """
        return self.start + self.step * iteration

    def values_at(self, iterations: NDArray[np.int64]) -> NDArray[np.int64]:
        """The values in many iterations."""
        return self.start + self.step * iterations

    def iteration_of(self, value: int) -> int | None:
        """The iteration in which the loop takes a value, for a loop without an end.

        None for a value between two steps or before the start.

        >>> Loop("k", 0, 64, 16).iteration_of(32), Loop("k", 0, 64, 16).iteration_of(33)
        (2, None)
        """
        iteration, rest = divmod(value - self.start, self.step)
        return None if rest or iteration < 0 else iteration

    def lowered(self, index: Integer) -> Integer:
        """The value over an expression of the iteration."""
        return ints.add(ints.multiply(index, ints.integer(self.step)), ints.integer(self.start))

    def describe(self, limit: int, ended_by: int | None = None) -> str:
        """The first `limit` values of the loop, in words; beyond them, thread `ended_by` overflows.

        >>> Loop("k", 0, 64, 16).describe(4), Loop("k", 0, None).describe(2, 63)
        ('k in 0..48 step 16', 'k in 0..1 (beyond, thread 63 overflows)')
        """
        beyond = "" if ended_by is None else f" (beyond, thread {ended_by} overflows)"
        if limit == 0:
            return f"never any {self.name}{beyond.replace('beyond, ', '')}"
        step = f" step {self.step}" if self.step > 1 and limit > 1 else ""
        return f"{self.name} in {self.start}..{self.start + self.step * (limit - 1)}{step}{beyond}"


def require_c_integer(owner: str, what: str, value: int) -> None:
    """Refuse, by SWZ107, a number of the owner's that no integer of C is."""
    if not VALUE_MIN <= value <= VALUE_MAX:
        message = f"{owner} has the {what} {value}: no integer of C"
        raise SwzError("SWZ107", message, hint="integers lie in -2^31 .. 2^32 - 1")


class Constants(Mapping[str, int]):
    """The constants of a subject, which cannot be changed.

    A claim is judged from expressions that were made of the constants before.

    >>> Constants({"BM": 64})
    {'BM': 64}
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, int]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> int:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


def own_constants(owner: str, constants: Mapping[str, int]) -> Constants:
    """A subject's own copy of its constants, since the caller may go on to change the mapping.

    Raises:
        SwzError: SWZ105 for a name that an expression cannot have, SWZ202 for a value that is no
            integer.
    """
    found: dict[str, int] = {}
    for name, value in constants.items():
        _check_name(owner, name)
        found[name] = required(value, f"{owner}: the constant {name}")
    return Constants(found)


def own_tuple(owner: str, field: str, values: Iterable[T]) -> tuple[T, ...]:
    """A subject's own copy of a field of several objects, since the caller may go on to change a list.

    Raises:
        SwzError: SWZ105 if the value has no items.
    """
    try:
        return tuple(values)
    except TypeError:
        what = f"{owner}: {field} is {values!r} ({type(values).__name__})"
        raise SwzError("SWZ105", what, hint="give a tuple, also of one item: (item,)") from None


def check_variables(
    owner: str, names: Sequence[str], constants: Mapping[str, int], reserved: frozenset[str] = RESERVED_NAMES
) -> None:
    """Refuse, by SWZ105, variables that have another meaning in the owner's expressions, or none."""
    for at, name in enumerate(names):
        _check_name(owner, name, reserved)
        if name in constants or name in names[:at]:
            what = "a constant" if name in constants else "another variable"
            raise SwzError("SWZ105", f"{owner}: '{name}' is {what} already", hint="give one of them another name")


def _check_name(owner: str, name: str, reserved: frozenset[str] = RESERVED_NAMES) -> None:
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SwzError("SWZ105", f"{owner}: {name!r} is not a name that can stand in an expression")
    if name in reserved:
        raise SwzError("SWZ105", f"{owner}: '{name}' has a meaning of its own in expressions", hint="name it otherwise")

"""Values that each lane has of its own: data that the kernel reads, with a known range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swzverify.engines.obligations import of_lane
from swzverify.errors import SwzError
from swzverify.ir.expr import Var, var
from swzverify.ir.whole import keep_whole
from swzverify.subjects.loop import require_c_integer


@dataclass(frozen=True, slots=True)
class Unknown:
    """A number that each thread has of its own in each iteration: start, start + step, ... below `stop`.

    Engines count its values from 0, as they do those of a loop.

    Raises:
        SwzError: SWZ105 for a step below 1 or a range without a value, SWZ107 for a number that is no
            integer of C.

    >>> Unknown("bin", 0, 64).count, Unknown("row", 8, 24, 8).value(1)
    (64, 16)
    """

    name: str
    start: int
    stop: int
    step: int = 1

    def __post_init__(self) -> None:
        """Refuse a range that goes down or nowhere."""
        keep_whole(self, f"the unknown {self.name}", "start", "stop", "step")
        if self.step < 1:
            raise SwzError("SWZ105", f"the unknown {self.name} has the step {self.step}: at least 1")
        if self.stop <= self.start:
            raise SwzError(
                "SWZ105",
                f"the unknown {self.name} has no value: it starts at {self.start} and stops before {self.stop}",
                hint="each lane has a value: give a range with at least one value",
            )
        for what, value in (("start", self.start), ("last value", self.value(self.count - 1)), ("step", self.step)):
            require_c_integer(f"the unknown {self.name}", what, value)

    @property
    def count(self) -> int:
        """How many values there are."""
        return -(-(self.stop - self.start) // self.step)

    @property
    def variable(self) -> Var:
        """The place of its value in the range, as a variable."""
        return var(self.name, self.count)

    def value(self, index: int) -> int:
        """The value at a place of the range."""
        return self.start + self.step * index

    def describe(self) -> str:
        """The values in words.

        >>> Unknown("row", 8, 24, 8).describe()
        'any row in 8..16 step 8 in each lane'
        """
        step = f" step {self.step}" if self.step > 1 and self.count > 1 else ""
        return f"any {self.name} in {self.start}..{self.value(self.count - 1)}{step} in each lane"


def columns(unknowns: Sequence[Unknown], taken: Sequence[str]) -> tuple[str, ...]:
    """What tables call the lanes' own values, beside columns of other names.

    >>> columns([Unknown("bin", 0, 64), Unknown("bank", 0, 2)], ["lane", "bank"])
    ('bin', 'bank of the lane')
    """
    return tuple(f"{each.name} of the lane" if each.name in taken else each.name for each in unknowns)


def own_values(unknowns: Sequence[Unknown], point: Mapping[str, int], lane: int) -> dict[str, int]:
    """One lane's values at a point.

    Values of the lane itself come first, then those that the point gives all lanes, then the first
    value of the range.

    >>> own_values([Unknown("bin", 0, 64)], {"bin": 3, "bin[1]": 9}, 1)
    {'bin': 9}
    """
    shared = {each.name: point.get(each.name, 0) for each in unknowns}
    return {each.name: each.value(point.get(of_lane(each.name, lane), shared[each.name])) for each in unknowns}

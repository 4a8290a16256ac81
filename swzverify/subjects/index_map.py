"""Index maps: C expressions over a box of variables.

An example is the order in which thread blocks take their tiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.c_formula import CFormula
from swzverify.ir.expr import Var, var
from swzverify.ir.formula import Reading
from swzverify.ir.integers import Integer
from swzverify.ir.whole import required
from swzverify.subjects.loop import NOT_FOR_MAPS, check_variables, own_constants, own_tuple
from swzverify.subjects.memory import AlignedBase, Base, Origin, origin

MAX_ENUMERATED = 1 << 18


@dataclass(frozen=True, eq=False)
class IndexMap:
    """A map given by `value` (one expression per result) at every point of the box `over`.

    `onto` is the box that the results should fill.

    Raises:
        SwzError: SWZ301 for an unknown name, SWZ303 to SWZ305, with the span of the sub-expression, if C
            leaves the value undefined.

    >>> from swzverify.ir.c_parse import parse
    >>> IndexMap("order", (("bid", 128),), (parse("bid%8 + bid/64*8"), parse("bid/8%8")), (16, 8)).at({"bid": 70})
    (14, 0)
    """

    name: str
    over: tuple[tuple[str, int], ...]
    value: tuple[CFormula, ...]
    onto: tuple[int, ...] | None = None
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    base: Base | None = None

    def __post_init__(self) -> None:
        """Refuse boxes without points and expressions that are not defined everywhere."""
        object.__setattr__(self, "value", own_tuple(f"map {self.name}", "value", self.value))
        over = tuple((name, required(extent, f"map {self.name}: the extent of {name}")) for name, extent in self.over)
        object.__setattr__(self, "over", over)
        if self.onto is not None:
            onto = tuple(required(extent, f"map {self.name}: an extent of onto") for extent in self.onto)
            object.__setattr__(self, "onto", onto)
        object.__setattr__(self, "constants", own_constants(f"map {self.name}", self.constants))
        check_variables(f"map {self.name}", [name for name, _ in self.over], self.constants, NOT_FOR_MAPS)
        if not self.over or any(extent < 1 for _, extent in self.over):
            raise SwzError("SWZ105", f"map {self.name}: every variable needs at least one value")
        _ = self.lowered

    @property
    def variables(self) -> tuple[Var, ...]:
        """The box's variables."""
        return tuple(var(name, extent) for name, extent in self.over)

    @property
    def uses_base(self) -> bool:
        """Whether an expression reads `base`, of the map or of the tile that it is compared with."""
        return any("base" in expression.names for expression in self.value)

    @property
    def origin(self) -> Origin | None:
        """The base as a variable, if the map reads one; without `base:` any address."""
        if not self.uses_base:
            return None
        return origin(AlignedBase(1) if self.base is None else self.base)

    @cached_property
    def lowered(self) -> tuple[Integer, ...]:
        """The results of the map as expressions."""
        return self.lower(self.origin)

    def lower(self, place: Origin | None) -> tuple[Integer, ...]:
        """The results with `base` at another place."""
        env = {name: ints.integer(value) for name, value in self.constants.items()}
        env |= {node.name: ints.variable(node) for node in self.variables}
        if place is not None and self.uses_base:
            env["base"] = place.address()
        reading = Reading(env, self._enumerate)
        return tuple(expression.lowered(reading) for expression in self.value)

    def _enumerate(self, names: frozenset[str]) -> dict[str, NDArray[np.int64]] | None:
        wanted = [(name, extent) for name, extent in self.over if name in names]
        if "base" in names or np.prod([extent for _, extent in wanted], dtype=float) > MAX_ENUMERATED:
            return None
        arrays: dict[str, NDArray[np.int64]] = {
            name: np.full(1, value, dtype=np.int64) for name, value in self.constants.items()
        }
        axes = np.meshgrid(*(np.arange(extent, dtype=np.int64) for _, extent in wanted), indexing="ij")
        return arrays | {name: axis.ravel() for (name, _), axis in zip(wanted, axes, strict=True)}

    def at(self, point: Mapping[str, int]) -> tuple[int, ...]:
        """The results at one point, in plain integers; `point` has `base` in bytes if the map uses it."""
        env = {**self.constants, **point}
        return tuple(expression.at(env) for expression in self.value)

    def at_many(self, point: Mapping[str, NDArray[np.int64]]) -> tuple[NDArray[np.int64], ...]:
        """The results at many points, from the same definition."""
        env = {**self.constants, **point}
        return tuple(expression.at_many(env) for expression in self.value)

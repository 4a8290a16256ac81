"""`permutation`: an index map takes its box one to one onto another box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from swzverify.claims.claim import Claim
from swzverify.claims.form import Form, Role
from swzverify.claims.goal import Fact, Goal, Plan
from swzverify.claims.stated import at_most, less
from swzverify.claims.verdict import Counterexample, Row
from swzverify.core.words import binding_text
from swzverify.engines.obligations import Always, Arrays, Injective, Numbers, Truths, second
from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import conjunction
from swzverify.subjects import IndexMap
from swzverify.subjects.plain_access import base_bytes


@dataclass(frozen=True, slots=True)
class Permutation(Claim):
    """Every point of `onto` is the value of exactly one point of `over`."""

    kind: ClassVar[str] = "permutation"
    form = Form(
        title="One box one to one onto another.",
        says="this map takes its box one to one onto the box `onto`",
        roles=(Role.MAP,),
        examples=("grouped", {"map": "grouped"}),
    )
    map: IndexMap

    def __post_init__(self) -> None:
        """Refuse a map that does not say what it should fill."""
        self.check_subjects()
        if self.map.onto is None:
            raise SwzError(
                "SWZ104", f"permutation: map {self.map.name} has no `onto`", hint="onto: [16, 8], one extent per value"
            )
        if len(self.map.onto) != len(self.map.value):
            raise SwzError(
                "SWZ105", f"map {self.map.name} has {len(self.map.value)} values, `onto` {len(self.map.onto)} extents"
            )

    @property
    def box(self) -> tuple[int, ...]:
        """The extents that the values should fill."""
        return self.map.onto or ()

    def plan(self) -> Plan:
        """Values inside the box, no two alike, as many points as the box has: none is left out."""
        extents = [extent for _, extent in self.map.over]
        points, room = prod(extents), prod(self.box)
        note = f"{points} points cannot fill a box of {room} one to one"
        return Plan((Goal(self._inside(), "inside"), Goal(self._apart(), "one to one")), (Fact(points == room, note),))

    def _domain(self) -> Domain:
        base = None if self.map.origin is None else self.map.origin.variable
        return Domain(self.map.variables if base is None else (*self.map.variables, base))

    def _inside(self) -> Always:
        parts = [
            condition
            for value, extent in zip(self.map.lowered, self.box, strict=True)
            for condition in (at_most(ints.integer(0), value), less(value, ints.integer(extent)))
        ]

        def definition(arrays: Arrays) -> tuple[Truths, Truths]:
            inside = np.asarray(True)
            for value, extent in zip(self._values(arrays), self.box, strict=True):
                inside = inside & (value >= 0) & (value < extent)
            return np.asarray(True), inside

        return Always(self._domain(), conjunction(parts), definition)

    def _apart(self) -> Injective:
        """In the box, the mixed-radix number of values tells them apart; else `_inside` fails."""
        weight = 1
        parts: list[ints.Integer] = []
        for value, extent in zip(self.map.lowered, self.box, strict=True):
            parts.append(ints.multiply(value, ints.integer(weight)))
            weight *= extent

        def definition(arrays: Arrays) -> tuple[Truths, Numbers]:
            values = self._values(arrays)
            low = min(0, *(int(value.min()) for value in values))
            total, scale = np.zeros(1, dtype=np.int64), 1
            for value in values:
                total = total + (value - low) * scale
                scale *= int(value.max()) - low + 1
            return np.asarray(True), total

        domain = self._domain()
        shared = tuple(node for node in domain.variables if node not in self.map.variables)
        return Injective(domain, shared, ints.total(parts).bits, 1, None, definition, 1)

    def _values(self, arrays: Arrays) -> tuple[Numbers, ...]:
        place = self.map.origin
        names = {name: arrays[name] for name, _ in self.map.over}
        if place is not None:
            names["base"] = base_bytes(place, arrays)
        return self.map.at_many(names)

    def scope(self) -> str:
        """The scope in words: the box."""
        over = " x ".join(f"{name} < {extent}" for name, extent in self.map.over)
        return f"all {over} onto {' x '.join(map(str, self.box))}"

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """A value outside the box, or two points with one value."""
        place = self.map.origin
        base = {} if place is None else {"base": place.at(point)}
        first = {name: point[name] for name, _ in self.map.over}
        value = self.map.at(first | base)
        columns = (*(name for name, _ in self.map.over), "value")
        if isinstance(goal.obligation, Always):
            if all(0 <= v < extent for v, extent in zip(value, self.box, strict=True)):
                return None
            note = f"{binding_text(first)} has the value {value}, outside {self.box}"
            return Counterexample(first, note, columns, (Row((*first.values(), value), "x"),))
        other = {name: point[second(name)] for name, _ in self.map.over}
        same = self.map.at(other | base)
        if first == other or value != same:
            return None
        rows = tuple(Row((*p.values(), v), "x") for p, v in ((first, value), (other, same)))
        return Counterexample(
            first, f"{binding_text(first)} and {binding_text(other)} have the same value {value}", columns, rows
        )

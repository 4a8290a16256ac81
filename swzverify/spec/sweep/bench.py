"""The cases of a sweep by number, each measured.

Cases that differ in nothing but the swizzle of one tile are measured together: the spec is built
once for them, without that swizzle. Every other case is built as `prove` builds it.

A case is known by its number, which says the value of each axis.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_parse import expression
from swzverify.layout import Swizzle, parse_swizzle
from swzverify.search.synth.pricing import Fields
from swzverify.spec import SpecError
from swzverify.spec.sweep.columns import Cell, Column, case_columns
from swzverify.spec.sweep.measure import NO_SWIZZLE, Row, judge, measure
from swzverify.spec.sweep_axes import Axis, Sweep, only_in_swizzles
from swzverify.spec.tile_models import SwizzlePart, TilePart
from swzverify.spec.variants import Variant, Variants
from swzverify.subjects import OffsetMap
from swzverify.subjects.tile import SwizzleOn

MAX_SWIZZLES = 4096
"""The most swizzles that are measured in one go."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is swept: the text of a spec, and whether its claims are proved in every case.

    `path` is what messages call the file, and where it looks for other files. `spec_sha256` and
    `version` go into every row.
    """

    text: str
    path: str
    target: str | None = None
    prove: bool = False
    spec_sha256: str = ""
    version: str = ""


class Bench:
    """Measures the cases of one question; a process makes one bench and keeps it.

    >>> bench = Bench(Question('''
    ... swzverify: 1
    ... constants: {P: 0}
    ... tiles: {A: {element: f32, layout: {shape: [32, 32], pad: P}}}
    ... accesses: {read: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}}
    ... sweep: {over: {P: [0, 1]}}
    ... ''', "a.yaml"))
    >>> [(row["P"], row["status"], row["read_wavefronts"]) for row in bench.rows(0, 2)]
    [(0, 'conflicts', 32), (1, 'free', 1)]
    """

    def __init__(self, question: Question, *, together: bool = True) -> None:
        """`together=False` builds every case by itself.

        Raises:
            SpecError: The spec is wrong.
            SwzError: SWZ571 if there is no sweep.
        """
        self.question = question
        self.variants = Variants(question.text, question.path, question.target)
        if self.variants.sweep is None:
            raise SwzError(
                "SWZ571",
                f"{question.path} has no `sweep:`, so that there is nothing to vary",
                hint="sweep: {over: {PAD: {start: 0, stop: 17}}}, where PAD is a constant of the spec",
            )
        self.sweep: Sweep = self.variants.sweep
        spec = self.variants.checked.spec
        if not spec.accesses:
            raise SwzError("SWZ571", f"{question.path} has no accesses, so that nothing has a cost")
        if question.target is not None and any(("target",) in axis.places for axis in self.sweep.axes):
            raise SwzError(
                "SWZ572", "an axis sets the target, and --target does too", hint="leave out --target, or the axis"
            )
        # The numbering is the same whether cases are measured together or not.
        self.batched = _batched(self.variants, self.sweep)
        self.together = together and not question.prove
        inner = self.batched[1] if self.batched else ()
        single = {name: value for name, value in spec.constants.items() if not isinstance(value, list)}
        self.cases = Cases(self.sweep, single, inner)
        self.columns: tuple[Column, ...] = case_columns(self.sweep, tuple(spec.accesses), proves=question.prove)

    def rows(self, first: int, end: int) -> Iterator[dict[str, Cell]]:
        """A row for each case from number `first` to below `end` at which every condition holds.

        Errors are those of the conditions.
        """
        numbers, places = self.cases.between(first, end)
        outer = [axis for axis in self.cases.axes if axis.name not in self.cases.inner]
        inner = [axis for axis in self.cases.axes if axis.name in self.cases.inner]
        keys = np.stack([places[axis.name] for axis in outer] or [np.zeros_like(numbers)], axis=1)
        changes = np.flatnonzero((keys[1:] != keys[:-1]).any(axis=1)) + 1
        edges = [0, *changes.tolist(), len(numbers)] if len(numbers) else []
        for begin, stop in pairwise(edges):
            at = {axis.name: int(places[axis.name][begin]) for axis in outer}
            some = [{axis.name: int(places[axis.name][row]) for axis in inner} for row in range(begin, stop)]
            measured = self._group(at, some)
            for row, own, found in zip(range(begin, stop), some, measured, strict=True):
                yield self._cells(int(numbers[row]), {**at, **own}, found)

    def _cells(self, number: int, at: Mapping[str, int], row: Row) -> dict[str, Cell]:
        cells: dict[str, Cell] = {"case": number}
        cells |= {axis.name: axis.values[at[axis.name]] for axis in self.sweep.axes}
        cells |= {"status": row.status, "code": row.code, "message": row.message, "bytes": row.bytes}
        told = row.status in ("free", "conflicts")
        cells["wavefronts"] = _weighed(row.wavefronts, row.weights) if told else None
        cells["conflicts"] = _weighed(row.conflicts, row.weights) if told else None
        for name in self.variants.checked.spec.accesses:
            cells[f"{name}_wavefronts"] = row.wavefronts.get(name)
            cells[f"{name}_conflicts"] = row.conflicts.get(name)
            cells[f"{name}_evidence"] = row.evidence.get(name, "")
        if self.question.prove:
            cells |= {"claims": row.claims, "claims_proved": row.proved}
        return cells

    def _group(self, at: Mapping[str, int], inner: list[dict[str, int]]) -> list[Row]:
        """The rows of cases that differ in the inner axes alone."""
        if self.batched is None or not self.together:
            return [self._one(self._variant({**at, **own})) for own in inner]
        tile, variant = self.batched[0], self._variant(at)
        bare = Variant(variant.constants, variant.placed, frozenset([tile]))
        try:
            built = self.variants.build(bare)
        except SpecError as error:
            return [_refused(error)] * len(inner)
        case = built.cases[0]
        bare_tile = case.tiles[tile]
        if bare_tile.swizzle is not None or isinstance(bare_tile.layout, OffsetMap):
            return [self._one(self._variant({**at, **own})) for own in inner]
        rows: list[Row | None] = [None] * len(inner)
        swizzles: list[Swizzle] = []
        owners: list[int] = []
        on: SwizzleOn = "offset"
        for index, own in enumerate(inner):
            constants = {**case.constants, **self._variant({**at, **own}).constants}
            try:
                swizzle, on = swizzle_at(self.variants.checked.spec.tiles[tile], constants)
                bare_tile.relaid(bare_tile.layout, swizzle, on)  # whether there is such a tile
            except SwzError as error:
                rows[index] = Row("refused", error.code, error.message)
                continue
            swizzles.append(swizzle)
            owners.append(index)
        for begin in range(0, len(swizzles), MAX_SWIZZLES):
            some = slice(begin, begin + MAX_SWIZZLES)
            fields = Fields.of([(each.bits, each.base, each.shift) for each in swizzles[some]])
            for index, row in zip(owners[some], measure(case, tile, fields, on), strict=True):
                rows[index] = row
        return [row for row in rows if row is not None]

    def _variant(self, at: Mapping[str, int]) -> Variant:
        constants: dict[str, int] = {}
        placed: list[tuple[tuple[str | int, ...], int | str]] = []
        for axis in self.sweep.axes:
            if axis.name not in at:
                continue
            if axis.is_constant and axis.numbers is not None:
                constants[axis.name] = axis.numbers[at[axis.name]]
            placed += [(place, axis.values[at[axis.name]]) for place in axis.places]
        return Variant(constants, tuple(placed), with_claims=self.question.prove)

    def _one(self, variant: Variant) -> Row:
        """A case that is built as it stands."""
        try:
            built = self.variants.build(variant)
        except SpecError as error:
            return _refused(error)
        row = measure(built.cases[0], None, NO_SWIZZLE, "offset")[0]
        if self.question.prove:
            judge(built, row)
        return row


def _batched(variants: Variants, sweep: Sweep) -> tuple[str, tuple[str, ...]] | None:
    """The tile with the most cases that differ in its swizzle alone, and the axes of these."""
    found = only_in_swizzles(variants.checked.root, sweep.axes)
    sizes = {axis.name: len(axis.values) for axis in sweep.axes}
    return max(found.items(), key=lambda each: prod(sizes[name] for name in each[1]), default=None)


def _refused(error: SpecError) -> Row:
    first = error.problems[0]
    return Row("refused", first.code, first.message)


def _weighed(counts: Mapping[str, int], weights: Mapping[str, int]) -> int:
    return sum(count * weights.get(name, 1) for name, count in counts.items())


def swizzle_at(part: TilePart, constants: Mapping[str, int]) -> tuple[Swizzle, Literal["offset", "address"]]:
    """The swizzle that a tile states, and what it acts on.

    Raises:
        SwzError: SWZ2xx and SWZ3xx, as the notation and expressions.

    >>> part = TilePart(element="f16", layout="(8,64):(64,1)", swizzle="Swizzle<B,3,3>")
    >>> str(swizzle_at(part, {"B": 2})[0])
    'Swizzle<2,3,3>'
    """
    stated = part.swizzle
    if isinstance(stated, SwizzlePart):
        numbers = (stated.bits, stated.base, stated.shift)
        fields = (each if isinstance(each, int) else evaluate(expression(each), constants) for each in numbers)
        return Swizzle(*fields), stated.on
    return (Swizzle(0, 0, 0) if stated is None else parse_swizzle(stated, constants)), "offset"


Array = NDArray[np.int64]


@dataclass(frozen=True)
class Cases:
    """Every combination of the axes' values, numbered from 0: the last axis varies fastest.

    Axes in `inner` come last, in their own order. `constants` are the spec's constants that no axis
    varies; conditions may read them.
    """

    sweep: Sweep
    constants: Mapping[str, int]
    inner: Collection[str] = ()

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes in the order of the numbering."""
        return tuple(sorted(self.sweep.axes, key=lambda axis: axis.name in self.inner))

    def __len__(self) -> int:
        """The number of combinations, whether the conditions hold or not."""
        return prod(len(axis.values) for axis in self.axes)

    @property
    def group(self) -> int:
        """The number of successive cases that differ in the inner axes alone."""
        return prod(len(axis.values) for axis in self.axes if axis.name in self.inner)

    def between(self, first: int, end: int) -> tuple[Array, dict[str, Array]]:
        """The numbers in first .. end - 1 at which every condition holds, and their place on each axis.

        Raises:
            SwzError: SWZ301 and above if a condition is undefined, such as a division by 0.

        >>> from swzverify.ir.c_parse import parse
        >>> axes = (Axis("a", (1, 2), (1, 2), (), True), Axis("b", (5, 6, 7), (5, 6, 7), (), True))
        >>> numbers, at = Cases(Sweep(axes, (parse("a*b % 2 == 0"),)), {}).between(0, 6)
        >>> numbers.tolist(), at["b"].tolist()
        ([1, 3, 4, 5], [1, 0, 1, 2])
        """
        numbers = np.arange(first, min(end, len(self)), dtype=np.int64)
        rest, places = numbers, dict[str, Array]()
        for axis in reversed(self.axes):
            rest, places[axis.name] = np.divmod(rest, len(axis.values))
        kept = np.ones(len(numbers), dtype=np.bool_)
        env: dict[str, int | Array] = {name: number for name, number in self.constants.items() if name not in places}
        for axis in self.axes:
            if axis.numbers is not None:
                env[axis.name] = np.array(axis.numbers, dtype=np.int64)[places[axis.name]]
        for condition in self.sweep.where:
            kept &= np.broadcast_to(condition.at_many(env) != 0, kept.shape)
        return numbers[kept], {name: at[kept] for name, at in places.items()}

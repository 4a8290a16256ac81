"""What a kernel of `random_rings` multiplies, by an interpreter that runs it, and whether verdicts contradict that.

Each element of a matrix is its own number. Nothing here is shared with the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from tests.ptx_oracle import Buffer
from tests.ptx_oracle.launch import run_products
from tests.ptx_oracle.products import Product
from tests.ptx_oracle.races import races_of
from tests.ptx_oracle.tensors import tensor_map
from tests.scan import fill_programs, fragment_programs
from tests.scan.random_rings import Ring, write

TILES_OF_PRODUCT = 2
MOST_TILES = 200
"""Tiles of the matrices of a plan."""
BEGIN = 1
"""The first k-tile of a launch, where a parameter says it."""


class Said(Protocol):
    """What a judge says of one operand."""

    @property
    def line(self) -> int: ...
    @property
    def role(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def is_assumed(self) -> bool:
        """Whether the verdict takes for granted that copies of several loops belong together."""
        ...


@dataclass(frozen=True)
class Matrix:
    """A or B in global memory: element numbers begin with `first`."""

    first: int
    rows: int
    columns: int
    mn: bool
    size: int

    @property
    def pitch(self) -> int:
        """Elements from line to line."""
        return (self.rows if self.mn else self.columns) + 16

    @property
    def count(self) -> int:
        return self.pitch * (self.columns if self.mn else self.rows)

    def places(self, numbers: Any) -> tuple[Any, Any]:
        """The row and the column of K of elements."""
        own = numbers - self.first
        return (own % self.pitch, own // self.pitch) if self.mn else (own // self.pitch, own % self.pitch)

    def has(self, numbers: Any) -> bool:
        """Whether all of these are elements of the matrix."""
        return bool(((numbers >= self.first) & (numbers < self.first + self.count)).all())


@dataclass(frozen=True)
class Read:
    """An operand of a product: where its elements come from, if they lie in rows and columns as they should.

    Attributes:
        state: `right`, `broken`, or `empty` if some element was never written.
        matrix: Where the matrix begins.
        column: The first column of K.
        order: The columns behind it.
    """

    state: str
    matrix: int = 0
    column: int = 0
    order: tuple[int, ...] = ()

    @cached_property
    def columns(self) -> frozenset[int]:
        """All columns of K."""
        return frozenset(self.column + each for each in self.order)


def read(matrices: Sequence[Matrix], numbers: Any, *, is_affine: bool) -> Read:
    """What the elements of an operand are; `is_affine` if its columns have to follow each other."""
    if (numbers == 0).any():
        return Read("empty")
    matrix = next((each for each in matrices if each.has(numbers)), None)
    if matrix is None:
        return Read("broken")
    row, column = matrix.places(numbers)
    step = row[1, 0] - row[0, 0]
    is_right = (row == row[0, 0] + step * np.arange(len(row))[:, None]).all() and (column == column[:1]).all()
    order = tuple((column[0] - column[0, 0]).tolist())
    if is_affine:
        along = numbers[0, 1] - numbers[0, 0]
        is_right &= (numbers[0] == numbers[0, 0] + along * np.arange(numbers.shape[1])).all()
    is_right &= len(set(order)) == len(order)
    return Read("right" if is_right else "broken", matrix.first, int(column[0, 0]), order)


class NoEndError(Exception):
    """A launch waits for ever, or accesses what is not there."""


class Launch:
    """What one launch multiplies."""

    def __init__(self, ring: Ring, trips: int) -> None:
        self.ring, self.trips = ring, trips
        self.products = list(self._run())

    @cached_property
    def matrices(self) -> tuple[Matrix, Matrix]:
        tiles = self.ring.tiles
        is_fragment = isinstance(tiles, fragment_programs.Program)
        size = tiles.shape[2] if is_fragment else 2
        count = BEGIN + self.trips * TILES_OF_PRODUCT + self.ring.stages + 2
        count = MOST_TILES if self.ring.plan else count
        first, found = 1, list[Matrix]()
        for side in (tiles.a, tiles.b):
            rows = tiles.rows(side) if isinstance(tiles, fragment_programs.Program) else side.rows
            own = Matrix(first, rows, max(side.advance, tiles.columns) * count, side.mn, size)
            found.append(own)
            first += own.count
        return found[0], found[1]

    @property
    def params(self) -> list[Any]:
        """The parameters but for the contents of buffers."""
        a, b = self.matrices
        return [a.pitch, b.pitch, self.trips, TILES_OF_PRODUCT, BEGIN]

    def arguments(self, plane: int) -> list[Any]:
        """The arguments of a run that sees some bits of the numbers of elements."""
        ring, size = self.ring, self.matrices[0].size
        buffers: list[Any] = []
        for each in self.matrices:
            numbers = np.arange(each.first, each.first + each.count, dtype=np.int64) >> 8 * size * plane
            content = (numbers & ((1 << 8 * size) - 1)).astype({1: np.uint8, 2: np.uint16, 4: np.uint32}[size])
            buffers.append(Buffer(content.nbytes, content=content))
        maps: list[Any] = []
        if isinstance(ring.tiles, fill_programs.Program):
            for side, each, buffer in zip((ring.tiles.a, ring.tiles.b), self.matrices, buffers, strict=True):
                if not side.box:
                    maps.append(bytes(128))
                    continue
                inner, lines = ring.tiles.box_of(side)
                box, extents = (inner // size, lines), (each.pitch, each.count // each.pitch)
                maps.append(
                    tensor_map(buffer, size, extents, (each.pitch * size,), box, fill_programs.WIDTHS[side.box])
                )
        return [*buffers, *self.params, *maps]

    def _run(self) -> Iterator[tuple[Product, Read, Read]]:
        size = self.matrices[0].size
        total = self.matrices[1].first + self.matrices[1].count
        planes: list[list[Product]] = []
        text, threads = write(self.ring), (self.ring.threads,)
        for plane in range(-(-total.bit_length() // (8 * size))):
            launch, products = run_products(text, "k", threads, self.arguments(plane))
            if launch.error.startswith(("HangError", "FaultError")):
                raise NoEndError
            assert not launch.partial, launch.error
            planes.append(products.made)
        for same in zip(*planes, strict=True):
            numbers = [sum(getattr(each, name) << 8 * size * at for at, each in enumerate(same)) for name in "ab"]
            is_affine = self.ring.is_wgmma
            a, b = (read(self.matrices, own, is_affine=is_affine) for own in numbers)
            yield same[0], a, b

    def has_race(self) -> bool:
        """Whether some order of threads may change what is multiplied."""
        found = races_of(write(self.ring), "k", (self.ring.threads,), params=self.arguments(0))
        return found.verdict != "free"


@dataclass(frozen=True)
class Broken:
    """What is wrong with a product: its line, and the line of another one with which it disagrees."""

    kind: str
    line: int
    role: str = ""
    other: int = 0


def faults(launch: Launch) -> Iterator[Broken]:
    """What a launch shows to be wrong; `empty` elements are none of it."""
    sums: dict[int, list[tuple[Product, Read, Read]]] = {}
    chain: dict[int, int] = {}
    for product, a, b in launch.products:
        root = chain[product.before] if product.before >= 0 else product.number
        chain[product.number] = root
        for role, own in (("A", a), ("B", b)):
            if own.state != "right":
                yield Broken("empty" if own.state == "empty" else "elements", product.line, role)
        if a.state == b.state == "right":
            if a.order != b.order:
                yield Broken("order", product.line, "", product.line)
            for other, other_a, other_b in sums.get(root, ()):
                if (a.matrix, b.matrix) != (other_a.matrix, other_b.matrix):
                    yield Broken("matrix", product.line, "", other.line)
                elif a.column - other_a.column != b.column - other_b.column:
                    yield Broken("agreement", product.line, "", other.line)
                elif not a.columns.isdisjoint(other_a.columns):
                    yield Broken("repeated", product.line, "", other.line)
            sums.setdefault(root, []).append((product, a, b))


def launches(ring: Ring) -> list[Launch]:
    """Launches with one trip, and with more than the ring has stages."""
    step = ring.unrolled
    many = -(-(ring.stages + 3) // step) * step
    return [Launch(ring, each) for each in dict.fromkeys((max(step, 2 * step if ring.peeled else 0), many))]


def judge(ring: Ring, said: Sequence[Said]) -> tuple[str, str]:
    """What the launches say of verdicts: an answer, and the details of a wrong one."""
    try:
        runs = launches(ring)
    except NoEndError:
        return "no end", ""
    found = {each for run in runs for each in faults(run)}
    lines = {product.line for run in runs for product, _, _ in run.products}
    verdicts = {(each.line, each.role): each for each in said}
    assert {line for line, _ in verdicts} == lines, (lines, sorted(verdicts))
    wrong: list[str] = []
    is_excused = ""
    for each in sorted(found, key=str):
        # Stages of other turns are a question of when.
        if each.kind == "empty" or (each.kind == "repeated" and ring.is_of_turns):
            continue
        names = (
            [(each.line, each.role)] if each.role else [(at, role) for at in (each.line, each.other) for role in "AB"]
        )
        own = [verdicts[name] for name in names]
        if all(one.verdict == "proved" for one in own):
            if any(one.is_assumed for one in own) and not each.role:
                is_excused = " by an assumption"
            else:
                wrong.append(f"proved, but {each}")
    of_line = Counter(line for each in found for line in {each.line, each.other})
    refuted = (each for each in said if each.verdict == "refuted" and not of_line[each.line])
    wrong += [f"refuted, but right: line {each.line} {each.role}" for each in refuted]
    if wrong:
        if any(run.has_race() for run in runs):
            return f"{_sort(found)}: a race", ""
        kind = "proved" if any(one.startswith("proved") for one in wrong) else "refuted"
        return f"WRONG {kind}", "; ".join(wrong[:4])
    every = {each.verdict for each in said}
    answer = "refuted" if "refuted" in every else "unknown" if "unknown" in every else "proved"
    return f"{_sort(found)}: {answer}{is_excused if answer == 'proved' else ''}", ""


def _sort(found: set[Broken]) -> str:
    kinds = {each.kind for each in found}
    return "right" if not kinds else "empty" if kinds == {"empty"} else "broken"

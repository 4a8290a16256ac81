"""The search: it prices every member of a family; of the best ones the first is the answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swzverify.errors import SwzError
from swzverify.layout import Swizzle
from swzverify.layout.tma import TmaMode
from swzverify.search.synth.families import frames_of
from swzverify.search.synth.frame import Frame, Truths
from swzverify.search.synth.objective import Array, Score, first_best, scores
from swzverify.search.synth.pricing import Path
from swzverify.search.synth.problem import Problem
from swzverify.subjects import Tile
from swzverify.subjects.tile import SwizzleOn


@dataclass(frozen=True, slots=True)
class Term:
    """Bit `target` of the byte offset is XORed with bit `source` of it."""

    target: int
    source: int


@dataclass(frozen=True, slots=True)
class Member:
    """One layout of a family, with its prices.

    Attributes:
        tiles: The tile in each variant.
        score: The numbers by which members are compared.
        wavefronts: The wavefronts of each access, in the problem's order.
        conflicts: The bank conflicts of each access, in the problem's order.
        swizzle: The swizzle, if the member has one.
        on: What the swizzle acts on.
        pad_row: The number of elements before a pad.
        pad_elements: The number of elements of a pad; 0 for none.
        mode: The TMA mode, if TMA writes the tile.
        terms: The XOR terms.
    """

    tiles: tuple[Tile, ...]
    score: Score
    wavefronts: tuple[int, ...]
    conflicts: tuple[int, ...]
    swizzle: Swizzle | None = None
    on: SwizzleOn = "offset"
    pad_row: int = 0
    pad_elements: int = 0
    mode: TmaMode | None = None
    terms: tuple[Term, ...] = ()

    @property
    def excess(self) -> int:
        """The worst bank conflicts, summed over the accesses, each counted once."""
        return sum(self.conflicts)


@dataclass(frozen=True, slots=True)
class Priced:
    """A whole family with the cost of each member, in the family's order.

    A row stands for a layout that keeps every element in its allocation.

    Attributes:
        frames: The frames of the family.
        place: The indices of each row's frame and swizzle, (rows, 2).
        wavefronts: The wavefronts, (rows, accesses).
        conflicts: The bank conflicts, (rows, accesses).
        whole: For which accesses a row keeps the vectors whole and every address aligned, (rows,
            accesses). A row is a member if it does so for all of them.
        score: The score of each row.
        count: The number of members. It includes those that leave the allocation, and those that take
            more bytes than a member without conflicts.
    """

    frames: tuple[Frame, ...]
    place: Array
    wavefronts: Array
    conflicts: Array
    whole: Truths
    score: Array
    count: int

    @property
    def serves(self) -> Truths:
        """Which accesses each row frees of conflicts with their vectors whole."""
        return self.whole & (self.conflicts == 0)

    @property
    def members(self) -> Array:
        """The rows that are members."""
        return np.flatnonzero(self.whole.all(axis=1))

    def member(self, index: int) -> Member:
        """The member of a row."""
        number, row = (int(each) for each in self.place[index])
        frame = self.frames[number]
        one = frame.fields.pick(slice(row, row + 1))
        swizzle = Swizzle(int(one.bits[0]), int(one.base[0]), int(one.shift[0])) if one.bits[0] else None
        conflicted, wavefronts, conflicts, size = (int(each) for each in self.score[index])
        return Member(
            tuple(tile.relaid(tile.layout, swizzle, frame.on) for tile in frame.tiles),
            Score(bool(conflicted), wavefronts, conflicts, size),
            tuple(self.wavefronts[index].tolist()),
            tuple(self.conflicts[index].tolist()),
            swizzle,
            frame.on,
            next(iter(frame.pad_rows), 0),
            frame.pad_elements,
            frame.mode,
        )

    def best(self) -> int:
        """The row of the best member, the first among equals."""
        rows = self.members
        return int(rows[first_best(self.score[rows])])

    def ties(self) -> list[int]:
        """Every member with the score of the best one, in the family's order."""
        rows = self.members
        return rows[(self.score[rows] == self.score[self.best()]).all(axis=1)].tolist()


def price_family(problem: Problem) -> Priced:
    """Every member of the problem's family with its price.

    Once one member is free of conflicts, those that take more bytes are left out: they cannot be better.
    Errors of the family are passed on.

    Raises:
        SwzError: SWZ206 if there is more to price than the budget, SWZ563 if no member keeps every
            element in the allocation and every address aligned.
    """
    frames = frames_of(problem)
    paths = [Path(access) for access in problem.accesses]
    owner = [number for number, variant in enumerate(problem.variants) for _ in variant.accesses]
    parts: list[tuple[Array, Array, Array, Truths, Array]] = []
    count = 0
    # A free member takes the fewest wavefronts that there can be: how many groups have an active lane
    # is the same under every layout that is one to one. So bytes decide.
    enough: int | None = None
    for number, frame in enumerate(frames):
        needs = [(bits, problem.base_for(bits, frame.on)) for bits in problem.vector_bits_of]
        whole = np.stack([frame.whole(bits, base) for bits, base in needs], axis=1)
        count += int(whole.all(axis=1).sum())
        if enough is not None and frame.bytes > enough:
            continue
        found = [path.price(frame.tiles[own], frame.fields, frame.on) for path, own in zip(paths, owner, strict=True)]
        whole &= np.stack([each.aligned for each in found], axis=1)
        rows = np.flatnonzero(frame.inside() & whole.any(axis=1))
        wavefronts = np.stack([each.wavefronts for each in found], axis=1)[rows]
        conflicts = np.stack([each.conflicts for each in found], axis=1)[rows]
        score = scores(wavefronts, conflicts, problem.weight_of, frame.bytes)
        if (whole[rows].all(axis=1) & (conflicts == 0).all(axis=1)).any():
            enough = frame.bytes if enough is None else min(enough, frame.bytes)
        place = np.stack([np.full(len(rows), number, dtype=np.int64), rows], axis=1)
        parts.append((place, wavefronts, conflicts, whole[rows], score))
    place, wavefronts, conflicts, whole, score = (np.concatenate(each) for each in zip(*parts, strict=True))
    if not whole.all(axis=1).any():
        tile = problem.variants[0].tile
        raise SwzError(
            "SWZ563",
            f"tile {tile.name}: none of the {count} layouts of family {problem.family} keeps every vector whole, every "
            "element in its allocation, and every address a multiple of what its access takes",
            hint="prove `aligned` and `in_bounds` of the accesses: the tile as it is may break them too",
        )
    return Priced(tuple(frames), place, wavefronts, conflicts, whole.astype(np.bool_), score, count)

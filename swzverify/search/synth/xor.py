"""The family `xor`: the linear map with the fewest XOR terms on bits of the byte offset below 128.

These bits are XORed with other bits of the offset, in any way that is linear over GF(2). With
vectors of 2^v bytes, words of 4 bytes at least, the members are y = x ^ T(x): T is linear, changes
bits v to 6 only and reads bits v and up, and y is one to one. Bits below v and above 6 stay: vectors
stay whole, and every aligned line of 128 bytes keeps its bytes.

The cost of an access depends only on the space that the rows v to 6 span, with the fixed rows below
them. Row operations bring every member to rows that read their own bit and bits from 7 up. Whether
some member is free, and which costs are possible, is therefore decided over those: each bit from 7
up adds one of 2^(7 - v) values wherever it is set. Terms inside the line can only save terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from swzverify.engines.gf2 import rank
from swzverify.errors import SwzError
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES
from swzverify.search.costs.access_costs import granule_bytes
from swzverify.search.synth.linear import LinearLanes, linear_lanes, ranks, slot_bits, xor_of
from swzverify.search.synth.objective import scores
from swzverify.search.synth.problem import Problem
from swzverify.search.synth.search import Term
from swzverify.search.synth.starts import free_bits

LINE_BITS = BANK_PERIOD_BYTES.bit_length() - 1
MAX_NODES = 400_000
"""Sets of terms that are looked at in the search for the fewest."""
MAX_CHOICES = 4_000_000
"""Values of sources that are tried to find one free map, or that there is none."""
MAX_MAP_BITS = 18
"""Where no map is free of conflicts, every map is priced up to so many bits of free choices."""
Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinearPath:
    """One access in the form that the search uses.

    `columns` has the bits of the byte address that each bit of the lane inside a group flips. The bits
    [first, 7) name a slot. `units` is the rank of the units, and `groups` the number of groups of a warp.
    """

    columns: tuple[int, ...]
    first: int
    units: int
    groups: int

    @property
    def repeats(self) -> bool:
        """Whether lanes of a group touch one unit and each of them counts.

        Then no layout keeps them apart.
        """
        return self.units > rank([column >> self.first for column in self.columns])

    def lacks(self, columns: Sequence[int]) -> int:
        """The rank of the units less the rank of the slots: 0 is free of conflicts."""
        mask = (1 << (LINE_BITS - self.first)) - 1
        return self.units - rank([column >> self.first & mask for column in columns])


@dataclass(frozen=True, slots=True)
class XorAnswer:
    """The terms of the best map, what each access then lacks, and how far the search went.

    `fewest` is False where the budget ended before every smaller set of terms was ruled out;
    `complete` is False where some maps that may cost less were not priced.
    """

    terms: tuple[Term, ...]
    lacks: tuple[int, ...]
    fewest: bool
    complete: bool
    looked_at: int


class _SpentError(Exception):
    """The budget of sets of terms has ended."""


@dataclass
class Choices:
    """What each source may add to the targets, so that no two lanes of a group meet in a slot.

    `wanted` lists for each source the sums that are ruled out once it is chosen: which sources are
    in them, and the value. `domains` are the values that a source may have, fewest bits first.
    """

    sources: list[int]
    wanted: list[list[tuple[int, int]]]
    domains: list[list[int]]
    budget: int | None = None
    looked_at: int = 0

    @staticmethod
    def of(
        search: XorSearch,
        which: Sequence[int],
        inside: Sequence[Term] = (),
        budget: int | None = None,
        distances: frozenset[int] | None = None,
    ) -> Choices:
        """The choices for some accesses, with some terms inside the line.

        `distances` are the only ones by which terms may move bits.
        """
        high, targets = search.sources, search.targets
        wanted: list[list[tuple[int, int]]] = [[] for _ in high]
        for index in which:
            for difference in search.differences(index):
                read = [at for at, bit in enumerate(high) if difference >> bit & 1]
                line = difference & ((1 << LINE_BITS) - 1)
                own = _moved(line, inside) >> search.least
                wanted[read[-1]].append((sum(1 << at for at in read), own))
        domains: list[list[int]] = []
        for at, source in enumerate(high):
            mask = sum(
                1 << target - search.least for target in targets if not distances or source - target in distances
            )
            refused = {own for read, own in wanted[at] if read == 1 << at}
            values = [value for value in range(1 << len(targets)) if not value & ~mask and value not in refused]
            domains.append(sorted(values, key=int.bit_count))
        return Choices(high, wanted, domains, budget)

    @property
    def certain(self) -> int:
        """The number of terms that every answer has, for all terms inside the line.

        A source needs one if lanes differ in it alone.
        """
        return sum(any(read == 1 << at and not own for read, own in each) for at, each in enumerate(self.wanted))

    def fewest(self, at_most: int) -> dict[int, int] | None:
        """The values with the fewest bits in all, at most `at_most`.

        None if there are none, or if the budget has ended.
        """
        if not all(self.domains):
            return None
        for total in range(sum(each[0].bit_count() for each in self.domains), at_most + 1):
            found = self.first(total)
            if found is not None or (self.budget is not None and self.looked_at > self.budget):
                return found
        return None

    def first(self, total: int | None) -> dict[int, int] | None:
        """The first values with at most `total` bits that keep the lanes apart; None without any."""
        if not all(self.domains):
            return None
        left = [0]
        for domain in reversed(self.domains):
            left.append(left[-1] + domain[0].bit_count())
        chosen: list[int] = []
        try:
            done = self._extend(chosen, total, left[::-1])
        except _SpentError:
            return None
        return {bit: value for bit, value in zip(self.sources, chosen, strict=True) if value} if done else None

    def _extend(self, chosen: list[int], total: int | None, left: list[int]) -> bool:
        at = len(chosen)
        if at == len(self.sources):
            return True
        used = sum(map(int.bit_count, chosen))
        for value in self.domains[at]:
            if total is not None and used + value.bit_count() + left[at + 1] > total:
                return False
            self.looked_at += 1
            if self.budget is not None and self.looked_at > self.budget:
                raise _SpentError
            chosen.append(value)
            if all(xor_of(chosen, read) != own for read, own in self.wanted[at]) and self._extend(chosen, total, left):
                return True
            chosen.pop()
        return False


@dataclass(frozen=True)
class XorSearch:
    """The accesses of a problem, as linear maps, and the bits that a map may change and read."""

    paths: tuple[LinearPath, ...]
    weights: tuple[int, ...]
    least: int

    @property
    def targets(self) -> range:
        """Bits that may change."""
        return range(self.least, LINE_BITS)

    @property
    def sources(self) -> list[int]:
        """Bits above the line that some lane flips: to read any other one changes no cost."""
        seen = 0
        for path in self.paths:
            for column in path.columns:
                seen |= column
        return [bit for bit in range(LINE_BITS, seen.bit_length()) if seen >> bit & 1]

    def lacks(self, terms: Sequence[Term]) -> tuple[int, ...]:
        """What each access lacks under a map."""
        return tuple(path.lacks([_moved(column, terms) for column in path.columns]) for path in self.paths)

    def freeing(self, which: Sequence[int]) -> dict[int, int] | None:
        """What each source adds to the targets so that these accesses are free; None if no map frees them.

        None is a proof: every choice was ruled out. Two lanes of a group that differ by d meet in a slot if
        the fixed bits of d are 0 and the map adds the rest of d. So each d rules out one sum of the sources'
        values.

        Raises:
            SwzError: SWZ206 if there are too many choices.
        """
        if any(self.paths[index].repeats for index in which):
            return None
        choices = Choices.of(self, which, budget=MAX_CHOICES)
        found = choices.first(None)
        if choices.looked_at > MAX_CHOICES:
            raise SwzError(
                "SWZ206",
                f"xor: whether a map frees {len(which)} accesses is not decided after {MAX_CHOICES} choices",
                hint="--family swizzle prices a smaller family",
            )
        return found

    def differences(self, index: int) -> list[int]:
        """The differences of two lanes of a group, in units, that some map brings into one slot."""
        path = self.paths[index]
        fixed = (1 << self.least) - (1 << path.first)
        basis = _basis([column >> path.first << path.first for column in path.columns])
        found = [0]
        for column in basis:
            found += [column ^ each for each in found]
        return [each for each in found if each >> LINE_BITS and not each & fixed]


def xor_search(problem: Problem) -> XorSearch:
    """The problem in the form of ranks.

    Raises:
        SwzError: SWZ564 if an access is not linear over bits, or if the family cannot move the elements
            or a tile.
    """
    least = max(problem.vector_bits // 8, BANK_WORD_BYTES)
    if least & (least - 1) or problem.vector_bits % 8:
        raise SwzError("SWZ564", f"xor: vectors of {problem.vector_bits} bits are no power of two bytes")
    paths: list[LinearPath] = []
    owner = [variant for variant in problem.variants for _ in variant.accesses]
    for access, variant, label in zip(problem.accesses, owner, problem.labels, strict=True):
        tile = variant.bare()
        if tile.allocation_bytes % BANK_PERIOD_BYTES:
            raise SwzError(
                "SWZ564",
                f"xor: tile {tile.name} takes {tile.allocation_bytes} bytes, no whole number of lines of "
                f"{BANK_PERIOD_BYTES} bytes, inside which the family moves elements",
                hint=f"give `bytes:` as a multiple of {BANK_PERIOD_BYTES}, or use --family swizzle",
            )
        lanes = linear_lanes(access, tile)
        sound = lanes is not None and lanes.every_lane and not access.instruction.by_octets
        if lanes is None or not sound or 1 << free_bits(tile) < granule_bytes(access):
            raise SwzError(
                "SWZ564",
                f"xor: access {label} is not linear over bits, with every lane active and banks to count, so that "
                "ranks do not tell its cost",
                hint="--family swizzle prices every access",
            )
        paths.append(_path(lanes, tile.element_bits))
        if 8 * access.instruction.width_bytes > tile.element_bits << lanes.low_bits:
            raise SwzError(
                "SWZ563", f"access {label}: some address is no multiple of {access.instruction.width_bytes} bytes"
            )
    return XorSearch(tuple(paths), problem.weight_of, least.bit_length() - 1)


def _path(lanes: LinearLanes, element_bits: int) -> LinearPath:
    columns = lanes.byte_columns(element_bits)
    first, _ = slot_bits(lanes.instruction)
    units = len(columns) if lanes.instruction.counts_equal_words else rank([column >> first for column in columns])
    return LinearPath(columns, first, units, lanes.groups)


def solve(search: XorSearch) -> XorAnswer:
    """The best map: free of conflicts with the fewest terms where one is free, else the cheapest."""
    everything = range(len(search.paths))
    freed = search.freeing(everything)
    if freed is None:
        return _cheapest(search)
    zeros = (0,) * len(search.paths)
    best = _terms_of(search, freed)
    least = Choices.of(search, everything).certain
    spent = 0
    # Terms inside the line first: with each choice of them the fewest that read bits above it.
    inside = [Term(target, source) for source in search.targets for target in search.targets if source != target]
    for count in range(len(inside) + 1):
        if count + least >= len(best) and count:
            break
        for chosen in combinations(inside, count):
            if rank([_moved(1 << target, chosen) for target in search.targets]) < len(search.targets):
                continue  # not one to one
            choices = Choices.of(search, everything, chosen, MAX_NODES - spent)
            found = choices.fewest(len(best) - count - (1 if count else 0))
            spent += choices.looked_at
            if spent > MAX_NODES:
                return XorAnswer(best, zeros, fewest=False, complete=True, looked_at=spent)
            if found is not None:
                best = (*_terms_of(search, found), *chosen)
    return XorAnswer(_together(search, best), zeros, fewest=True, complete=True, looked_at=spent)


def _together(search: XorSearch, best: tuple[Term, ...]) -> tuple[Term, ...]:
    """A free map that moves bits by one or two distances only, with no more terms, if there is one.

    It takes fewer operations.
    """
    distances = sorted({source - target for source in search.sources for target in search.targets})
    for count in (1, 2):
        for chosen in combinations(distances, count):
            choices = Choices.of(search, range(len(search.paths)), budget=MAX_NODES // 100, distances=frozenset(chosen))
            found = choices.fewest(len(best))
            if found is not None:
                return _terms_of(search, found)
    return best


def _cheapest(search: XorSearch) -> XorAnswer:
    """The least weighted wavefronts over every map that reads bits above the line.

    If these maps are too many, it is the least over maps of few terms.
    """
    pairs = [Term(target, source) for source in search.sources for target in search.targets]
    complete = len(pairs) <= MAX_MAP_BITS
    numbers = np.arange(1 << len(pairs), dtype=np.int64) if complete else _few_terms(len(pairs))
    lacks = np.stack([_lacks_many(search, path, numbers) for path in search.paths], axis=1)
    groups = np.array([path.groups for path in search.paths], dtype=np.int64)
    wavefronts = groups * (np.int64(1) << lacks)
    score = scores(wavefronts, wavefronts - groups, search.weights, 0)
    terms = np.array([int(number).bit_count() for number in numbers.tolist()], dtype=np.int64)
    order = np.lexsort((numbers, terms, score[:, 2], score[:, 1], score[:, 0]))
    best = int(numbers[order[0]])
    chosen = tuple(pair for index, pair in enumerate(pairs) if best >> index & 1)
    return XorAnswer(chosen, search.lacks(chosen), complete, complete, len(numbers))


def _few_terms(size: int) -> Array:
    sets = [chosen for count in range(4) for chosen in combinations(range(size), count)]
    return np.array([sum(1 << index for index in chosen) for chosen in sets], dtype=np.int64)


def _lacks_many(search: XorSearch, path: LinearPath, numbers: Array) -> Array:
    """What an access lacks under each map, by number: bit (source * targets + target) is a term."""
    targets = len(search.targets)
    all_targets = (1 << targets) - 1
    mask = (1 << (LINE_BITS - path.first)) - 1
    moved: list[NDArray[np.uint8]] = []
    for column in path.columns:
        added = np.zeros(len(numbers), dtype=np.int64)
        for index, source in enumerate(search.sources):
            if column >> source & 1:
                added ^= numbers >> (index * targets) & all_targets
        moved.append(((column ^ added << search.least) >> path.first & mask).astype(np.uint8))
    return path.units - ranks(moved, len(numbers)).astype(np.int64)


def _terms_of(search: XorSearch, added: dict[int, int]) -> tuple[Term, ...]:
    return tuple(
        Term(search.least + bit, source)
        for source, value in added.items()
        for bit in range(len(search.targets))
        if value >> bit & 1
    )


def _moved(value: int, terms: Sequence[Term]) -> int:
    found = value
    for term in terms:
        found ^= (value >> term.source & 1) << term.target
    return found


def _basis(columns: Sequence[int]) -> list[int]:
    pivots: dict[int, int] = {}
    for column in columns:
        rest = column
        while rest and rest.bit_length() in pivots:
            rest ^= pivots[rest.bit_length()]
        if rest:
            pivots[rest.bit_length()] = rest
    return list(pivots.values())

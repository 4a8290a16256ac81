"""Prices at some hundred values of what is not known: parameters, loops, and what lanes hold."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from swzverify.compiled.kernel import ArrayLeaf, CarriedLeaf, LaneLeaf, Leaf, LoopLeaf, TripsLeaf, UniformLeaf
from swzverify.compiled.kernel.arithmetic import is_zero, sub, widened
from swzverify.compiled.kernel.linear import Sum
from swzverify.compiled.kernel.symbols import SHARED_LIMIT
from swzverify.compiled.scan.collide import assumed_of, found_of
from swzverify.compiled.scan.drawn import drawn, fulfilled, words
from swzverify.compiled.scan.price import Array, Block, Mask, Price, price, ways_of_samples
from swzverify.compiled.scan.split import Parts, is_shared
from swzverify.engines.obligations import of_lane
from swzverify.hardware import BANK_WORD_BYTES, LANES, Instruction
from swzverify.ir.expr import Expr, Var, conjunction, const, extract, negation, substitute, var, variables

NO_POINT: Final[Mapping[str, int]] = {}
_SEED = 20_250_101
_PARAMETERS = 24
_TRIPS = 24
_NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 36, 40, 48, 63, 64, 65, 96, 127, 128, 129, 256)


@dataclass(frozen=True, slots=True)
class Stuck:
    """Values of the blamed leaves for which every sample with active lanes conflicts.

    `pairs` are threads that collide in all these samples and take part in a first trip. `least` are the
    fewest ways.
    """

    values: Mapping[str, int]
    pairs: tuple[tuple[int, int], ...]
    least: int


@dataclass(frozen=True, slots=True)
class Sampled:
    """The worst of all samples, with what the samples have in common.

    Attributes:
        price: The worst price.
        addresses: The addresses of all samples.
        active: The active lanes of all samples.
        free_values: Values of the blamed leaves for which no sample conflicts.
        always: Pairs of threads that collide in each sample in which both take part.
        least: The fewest ways of a sample.
        stuck: Values for which all samples conflict.
    """

    price: Price
    addresses: Array
    active: Mask
    free_values: tuple[Mapping[str, int], ...] = ()
    always: tuple[tuple[int, int], ...] = ()
    least: int = 1
    stuck: tuple[Stuck, ...] = ()


class Sampler:
    """Samples of one access in the loops at the lines `around`.

    A conflict of a later trip of these loops need not happen. `around` is None if the guard says which
    trips run.
    """

    def __init__(
        self, row: Instruction, parts: Parts, block: Block, guard: Expr, around: frozenset[int] | None = None
    ) -> None:
        self.row, self.parts, self.block, self.guard = row, parts, block, guard
        self.assumed = assumed_of(variables(parts.varying, guard), parts.leaves)
        read = parts.leaves_of(parts.varying, guard, *self.assumed)
        self.free = [leaf for leaf in dict.fromkeys(read) if not isinstance(leaf, LaneLeaf)]
        mixed = {leaf.name for leaf in parts.leaves_of(parts.mixed)}
        guarding = {leaf.name for leaf in parts.leaves_of(guard) if leaf.values is None}
        self.trips = [leaf.name for leaf in self.free if isinstance(leaf, TripsLeaf) and leaf.name in mixed | guarding]
        self.counters = [
            leaf.name for leaf in self.free if leaf.name in self.trips and around is not None and leaf.line in around
        ]
        self.blamed = [leaf for leaf in self.free if leaf.name in mixed and is_shared(leaf) and not _runs(leaf)]

    def own_values(self, point: Mapping[str, int] = NO_POINT) -> Sampled | None:
        """The worst where each lane has values of its own of what lanes do not share.

        A point of an engine gives these values, where it has them.
        """
        draw = random.Random(_SEED)  # noqa: S311 - no secret
        source = np.random.Generator(np.random.PCG64(_SEED))
        count = _PARAMETERS * 2
        env: dict[str, Array] = {}
        for leaf in self.free:
            if is_shared(leaf):
                env[leaf.name] = words([value_of(leaf, draw, at) for at in range(count)])[:, None, None]
            else:
                env[leaf.name] = drawn(leaf, _NUMBERS, (count, self.block.warps, LANES), source)
                for lane in range(LANES) if point else ():
                    env[leaf.name][..., lane] = point.get(of_lane(leaf.name, lane), env[leaf.name][..., lane])
        found = self._priced(env)
        if found is None:
            return None
        least = _least(found.active, ways_of_samples(self.row, found.addresses, found.active))
        return replace(found, least=least, always=_always(self.row, found))

    def shared_values(self, point: Mapping[str, int]) -> Sampled | None:
        """The worst where all lanes have one value of everything; `point` is one more sample."""
        draw = random.Random(_SEED)  # noqa: S311 - no secret
        blamed = {leaf.name for leaf in self.blamed}
        rows: list[dict[str, int]] = []
        groups = 1 if not blamed else _PARAMETERS
        chosen: list[dict[str, int]] = []
        for group in range(groups):
            fixed = {leaf.name: value_of(leaf, draw, 99 if group > len(_NUMBERS) else group) for leaf in self.blamed}
            chosen.append(fixed)
        if point:
            chosen.append({name: point.get(name, 0) for name in blamed})
        trips = _TRIPS if blamed else _TRIPS * 8
        known = min((len(leaf.values or ()) for leaf in self.free if _is_listed(leaf)), default=trips)
        for fixed in chosen:
            for trip in (at % known for at in range(trips)):
                other = {leaf.name: value_of(leaf, draw, trip) for leaf in self.free if leaf.name not in blamed}
                rows.append({**other, **fixed})
            rows.append({**rows[-1], **dict.fromkeys(self.trips, 0)})
        if point:
            rows.append({**rows[-1], **{leaf.name: point[leaf.name] for leaf in self.free if leaf.name in point}})
        missing = [leaf for leaf in self.free if any(leaf.name not in row for row in rows)]
        for row in rows:
            for leaf in missing:
                row.setdefault(leaf.name, 0)
        env = {leaf.name: words([row[leaf.name] for row in rows])[:, None, None] for leaf in self.free}
        found = self._priced(env)
        if found is None:
            return None
        told = self._sampled(found, rows, chosen)
        # Only the first trip of a loop is surely made.
        first = [at for at, row in enumerate(rows) if not any(row[name] for name in self.counters)]
        if not self.counters or len(found.addresses) == 1:
            return told
        addresses, active = found.addresses[first], found.active[first]
        again = price(self.row, addresses.reshape(-1, LANES), active.reshape(-1, LANES)) if first else None
        return None if again is None else replace(told, price=again, addresses=addresses, active=active)

    def _priced(self, env: Mapping[str, Array]) -> Sampled | None:
        block = self.block
        active = block.exists if self.row.warp_wide else block.exists & (block.values(self.guard, env) != 0)
        addresses = block.values(self.parts.varying, env) + self.parts.shared.number
        addresses &= 0xFFFFFFFF
        known = conjunction(found_of(variables(self.parts.varying, self.guard), self.parts.leaves))
        allowed = (block.values(known, env) != 0) & fulfilled(self.assumed, env)
        shape = np.broadcast_shapes(addresses.shape, active.shape, allowed.shape)
        if len(shape) == 2:
            shape = (1, *shape)
        addresses, active = np.broadcast_to(addresses, shape).copy(), np.broadcast_to(active & allowed, shape).copy()
        self._align(addresses, active)
        found = price(self.row, addresses.reshape(-1, LANES), active.reshape(-1, LANES))
        return None if found is None else Sampled(found, addresses, active)

    def _align(self, addresses: Array, active: Mask) -> None:
        """Move each sample so that its active lanes are aligned; take it out where none can be so."""
        width, samples = self.row.width_bytes, len(addresses)
        first = np.argmax(active.reshape(samples, -1), axis=1)
        rest = (addresses.reshape(samples, -1)[np.arange(samples), first] % width)[:, None, None]
        apart = (active & (addresses % width != rest)).any(axis=(1, 2))
        if width < BANK_WORD_BYTES:
            apart |= rest[:, 0, 0] != 0
        active[apart] = False
        np.subtract(addresses, rest, out=addresses)

    def _sampled(self, found: Sampled, rows: list[dict[str, int]], chosen: list[dict[str, int]]) -> Sampled:
        free: list[Mapping[str, int]] = []
        stuck: list[Stuck] = []
        samples = len(found.addresses)
        ways = np.broadcast_to(ways_of_samples(self.row, found.addresses, found.active), len(rows))
        busy = np.broadcast_to((found.active.sum(axis=-1) > 1).any(axis=1), len(rows))
        blamed = [leaf.name for leaf in self.blamed]
        of_values: dict[tuple[int, ...], list[int]] = {}
        for at, row in enumerate(rows):
            of_values.setdefault(tuple(row[name] for name in blamed), []).append(at)
        for fixed in chosen:
            inside = of_values.get(tuple(fixed[name] for name in blamed), []) if fixed else [*range(len(rows))]
            running = [at for at in inside if busy[at]]
            if fixed and running and not (ways[inside] > 1).any():
                free.append(fixed)
            if samples > 1 and running and (ways[running] > 1).all():
                least = _least(found.active[running], ways[running])
                stuck.append(Stuck(fixed, self._pairs(found, running, rows), least))
        stuck.sort(key=lambda each: -each.least)
        free.sort(key=lambda fixed: (-len(set(fixed.values()) - {0}), sum(fixed.values())))
        return replace(found, free_values=tuple(free), always=_always(self.row, found), stuck=tuple(stuck))

    def _pairs(self, found: Sampled, running: list[int], rows: list[dict[str, int]]) -> tuple[tuple[int, int], ...]:
        """The pairs that always collide in running samples and that a first trip has."""
        here = replace(found, addresses=found.addresses[running], active=found.active[running])
        first = [at for at in running if not any(rows[at][name] for name in self.counters)]
        taking_part = found.active[first, 0, :]
        return tuple((a, b) for a, b in _always(self.row, here) if (taking_part[:, a] & taking_part[:, b]).any())

    def fixed(self, values: Mapping[str, int]) -> Parts:
        """The parts with values put in for the blamed leaves."""
        new = self._new(values)
        parts = self.parts
        return replace(
            parts,
            shared=Sum(
                {substitute(term, new): count for term, count in parts.shared.terms.items()}, parts.shared.number, 32
            ),
            mixed=substitute(parts.mixed, new),
            other_guard=substitute(parts.other_guard, new),
        )

    def _new(self, values: Mapping[str, int]) -> dict[Var, Expr]:
        return {leaf.variable: const(values[leaf.name], leaf.variable.width) for leaf in self.blamed}

    def pair_apart(self, first: int, second: int, values: Mapping[str, int] | None = None) -> Expr:
        """Whether two threads can make the access and not collide, for `values` of blamed leaves."""
        new = self._new(values) if values else {}
        lanes = [
            (substitute(address, new), substitute(guard, new))
            for address, guard in (self.thread(number, f"@{number}") for number in (first, second))
        ]
        conditions = [lanes[0][1], lanes[1][1], *(substitute(each, new) for each in self.assumed)]
        if self.row.width_bytes < BANK_WORD_BYTES:
            words = [extract(address, 2, 30) for address, _ in lanes]
            if self.row.width_bytes > 1:
                conditions += [is_zero(extract(address, 0, 1)) for address, _ in lanes]
            apart, low = sub(words[0], words[1]), extract(sub(words[0], words[1]), 0, 5)
        else:
            apart = sub(lanes[0][0], lanes[1][0])
            low = widened(apart, 7)
        meet = is_zero(low)
        if not self.row.counts_equal_words:
            meet = conjunction((meet, negation(is_zero(apart))))
        return conjunction((*conditions, negation(meet)))

    def thread(self, number: int, mark: str) -> tuple[Expr, Expr]:
        """The varying address and the guard of one thread."""
        new = thread_values(self.block, self.parts, number, mark)
        return substitute(self.parts.varying, new(self.parts.varying)), substitute(self.guard, new(self.guard))


def thread_values(block: Block, parts: Parts, number: int, mark: str) -> Callable[[Expr], dict[Var, Expr]]:
    """What one thread's coordinates and its copies of unshared leaves are, for an expression."""

    def of(value: Expr) -> dict[Var, Expr]:
        found: dict[Var, Expr] = {}
        for each in variables(value):
            leaf = parts.leaves[each.name]
            if isinstance(leaf, LaneLeaf):
                found[each] = const(int(block.point[each.name].reshape(-1)[number]), each.width)
            elif not is_shared(leaf):
                found[each] = var(each.name + mark, each.limit)
        return found

    return of


def _always(row: Instruction, found: Sampled) -> tuple[tuple[int, int], ...]:
    """Pairs of neighbours at one distance that collide in each sample in which both are active."""
    addresses, active = found.addresses, found.active
    result: list[tuple[int, int]] = []
    for distance in (1, 2, 4, 8, 16):
        for lane in (0, 1):
            other = lane + distance
            if other >= row.address_lanes or lane // row.group_lanes != other // row.group_lanes:
                continue
            both = active[:, 0, lane] & active[:, 0, other]
            one, two = (addresses[:, 0, each] // row.unit_bytes for each in (lane, other))
            meet = ((one - two) % row.slots == 0) & ((one != two) | row.counts_equal_words)
            if both.any() and meet[both].all():
                result.append((lane, other))
    return tuple(result)


def _least(active: Mask, ways: Array) -> int:
    """The fewest ways of a sample, of those with the most active lanes."""
    counts = active.sum(axis=(1, 2))
    return max(1, int(ways[counts == counts.max()].min()))


def _runs(leaf: Leaf) -> bool:
    """Whether a leaf runs through its values in one block: a loop's."""
    return isinstance(leaf, LoopLeaf)


def _is_listed(leaf: Leaf) -> bool:
    """Whether a loop carries a leaf of which all values are known."""
    return isinstance(leaf, CarriedLeaf) and bool(leaf.values)


def value_of(leaf: Leaf, draw: random.Random, at: int, numbers: Sequence[int] = _NUMBERS, multiple: int = 1) -> int:
    """A value of a leaf; the first ones are small, the later ones random, most of them of `numbers`.

    An array starts at a multiple of `multiple`.
    """
    limit = leaf.variable.limit
    if known := (isinstance(leaf, UniformLeaf) and leaf.candidates) or leaf.values:
        return known[at % len(known)]
    if isinstance(leaf, TripsLeaf) and leaf.most is not None:
        return draw.randint(0, leaf.most)
    if isinstance(leaf, ArrayLeaf):
        factor = max(1, multiple // leaf.multiple)
        places = (SHARED_LIMIT - (leaf.symbol.size_bytes or 0)) // leaf.multiple
        return draw.randrange(max(1, min(places, limit))) // factor * factor
    if isinstance(leaf, LoopLeaf) and at < _TRIPS:
        return at % limit
    number = draw.choice(numbers) if draw.random() < 0.8 else draw.getrandbits(16)
    if draw.random() < 0.05:
        number = draw.getrandbits(leaf.variable.width)
    return number % limit

"""Whether a statement of an explanation is true, by brute force: each kind has a judge of its own.

Judges read the plain definition of accesses and tiles and the oracle's rule of costs, not the
expression form, ranks or prices that the statements come from.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from swzverify.costs import cost
from swzverify.errors import SwzError
from swzverify.explanations import statements as said
from swzverify.hardware import evidence
from swzverify.layout import Layout
from swzverify.layout.notation import parse_notation
from swzverify.report.explain_words import sentence
from swzverify.subjects import Access, Tile
from tests.explanations.warps import Warps, groups_of, moved
from tests.oracle.hardware import _octet_wavefronts, warp_cost

MOST_PRICES = 40
"""Swizzles of a search that are priced anew; of more a random choice, but for small accesses."""
MOST_ROWS = 64
"""Warp instructions of a small access."""


def check(judge: Judge, explanation: said.Explanation) -> None:
    """Every statement, and that each bit of the bank has a formula or is said to have none."""
    judge.starts = tuple(
        each.start_bytes for each in explanation.statements if isinstance(each, said.TileBankBit | said.Period)
    )
    for statement in explanation.statements:
        assert judge(statement), f"{explanation.heading}: {sentence(statement)} {statement}"
    for of, kind in (("access", said.BankBit), ("tile", said.TileBankBit)):
        bits = [each.index for each in explanation.statements if isinstance(each, kind)]
        missing = [b for each in explanation.statements if isinstance(each, said.NotLinear) and each.of == of
                   for b in each.bits]  # fmt: skip
        assert sorted([*bits, *missing]) in ([], [0, 1, 2, 3, 4])


class Judge:
    """Judges statements of one access, or of one tile."""

    def __init__(self, access: Access | None, tile: Tile | None, seed: int = 0, claim: Any = None) -> None:
        self.access, self.claim = access, claim
        self.tile = tile if access is None else access.tile
        self.rng = random.Random(seed)
        self.warps = None if access is None else Warps.of(access, self.rng)
        self.prices: dict[tuple[int, int, int], tuple[int, int] | None] = {}

    def __call__(self, statement: said.Statement) -> bool:
        judges: dict[type, Callable[[Any], bool]] = {
            said.Cost: self.cost,
            said.Limit: self.limit,
            said.BankBit: self.bank_bit,
            said.TileBankBit: self.tile_bank_bit,
            said.Matrix: self.matrix,
            said.Rank: self.rank,
            said.Kernel: self.kernel,
            said.Merged: self.merged,
            said.Crowd: self.crowd,
            said.Apart: self.apart,
            said.Steps: self.steps,
            said.Pitch: self.pitch,
            said.Period: self.period,
            said.SwizzleBits: self.swizzle_bits,
            said.OneToOne: self.one_to_one,
            said.Change: self.change,
            said.Parameter: self.parameter,
            said.BestSwizzle: self.best_swizzle,
            said.LeastBase: self.least_base,
            said.BestPad: self.best_pad,
            said.NotLinear: self.not_linear,
            said.Unpriced: self.unpriced,
        }
        try:
            return judges[type(statement)](statement)
        except (
            ArithmeticError,
            AssertionError,
            AttributeError,
            LookupError,
            StopIteration,
            SwzError,
            TypeError,
            ValueError,
        ):
            return False  # a place or a thing that is not there

    # costs

    def cost(self, it: said.Cost) -> bool:
        row = self.access.instruction
        names = (it.access, it.instruction, it.target, it.evidence)
        if names != (self.access.name, row.name, self.access.target.name, str(evidence(self.access.target, row))):
            return False
        (here,) = self.warps.at(it.where).costs()
        worst, conflicts = self.warps.worst()
        if (here.wavefronts, here.minimum) != (it.wavefronts, it.minimum) or worst > it.wavefronts:
            return False
        if self.warps.is_all and (worst, conflicts, self._instructions()) != (
            it.wavefronts, it.bank_conflicts, it.instructions,
        ):  # fmt: skip
            return False
        return conflicts <= it.bank_conflicts and it.instructions > 0

    def _instructions(self) -> int:
        """Warps and iterations with an active lane, at some stage and base."""
        places = {"stage", self.access.origin.name}
        names = [name for name in self.warps.points if name not in places]
        some = self.warps.active.any(axis=1)
        if not names:
            return int(some.any())
        rows = np.concatenate([self.warps.points[name] for name in names], axis=1)[some]
        return len({tuple(row) for row in rows.tolist()})

    def limit(self, it: said.Limit) -> bool:
        if (it.kind, it.subject) != (self.claim.kind, self.claim.subject):
            return False
        numbers = self.claim.numbers
        at_most = next(iter(numbers.values()), None)
        if (it.at_most, it.exactly) != (at_most, "exactly" in numbers):
            return False
        worst, conflicts = self.warps.worst()
        if it.at_most is None:
            return it.kept == (conflicts == 0)
        return it.kept == (worst == it.at_most if it.exactly else worst <= it.at_most)

    def unpriced(self, it: said.Unpriced) -> bool:
        try:
            cost(self.access)
        except SwzError as error:
            return (it.access, it.code, it.why) == (self.access.name, error.code, error.message)
        return False

    # bits

    def _bits(self, bit: said.Bit, values: dict[str, Any]) -> Any:
        number = values[f"index({bit.variable})" if bit.listed else bit.variable] - bit.start
        assert bit.step == 1 or not (number % bit.step).any()
        return number // bit.step >> bit.bit & 1

    def bank_bit(self, it: said.BankBit) -> bool:
        warps = self.warps
        found = np.full(warps.shape, it.constant)
        for term in it.terms:
            found = found ^ self._bits(term, warps.values)
        return bool((found == warps.address // 4 >> it.index & 1)[warps.active].all()) and 0 <= it.index < 5

    def _elements(self, most: int = 1 << 12) -> tuple[dict[str, Any], list[Any]]:
        """Coordinates by the names of formulas, all of them or a random choice."""
        tile = self.tile
        names = ("row", "col") if len(tile.extents) == 2 else tuple(f"c{i}" for i in range(len(tile.extents)))
        if math.prod(tile.extents) <= most:
            chosen = list(product(*map(range, tile.extents)))
        else:
            chosen = [tuple(self.rng.randrange(extent) for extent in tile.extents) for _ in range(most)]
        columns = [np.array(column, dtype=np.int64) for column in zip(*chosen, strict=True)]
        return dict(zip(names, columns, strict=True)), columns

    def _banks(self, columns: list[Any], start: int) -> Any:
        position = self.tile.position(columns, stage=0, base=start)
        return position // (self.tile.units_per_byte * 4) % 32

    def tile_bank_bit(self, it: said.TileBankBit) -> bool:
        values, columns = self._elements()
        found = np.full(len(columns[0]), it.constant)
        for term in it.terms:
            found = found ^ self._bits(term, values)
        right = (found == self._banks(columns, it.start_bytes) >> it.index & 1).all()
        return it.tile == self.tile.name and bool(right) and 0 <= it.index < 5

    def matrix(self, it: said.Matrix) -> bool:
        span = {0}
        for column in range(len(it.columns)):
            image = sum(row[column] << index for index, row in enumerate(it.entries))
            span |= {each ^ image for each in span}
        if any(set(row) - {0, 1} for row in (*it.entries, it.constants)):
            return False
        if len(span) != 1 << it.rank or len(it.entries) != 5:
            return False
        rows = zip(it.entries, it.constants, strict=True)
        for index, (row, constant) in enumerate(rows):
            terms = tuple(bit for bit, entry in zip(it.columns, row, strict=True) if entry)
            if it.of == "access":
                holds = self.bank_bit(said.BankBit(index, terms, constant))
            else:
                start = next(each for each in self.starts)
                holds = self.tile_bank_bit(said.TileBankBit(self.tile.name, index, terms, constant, start))
            if not holds:
                return False
        return True

    starts: tuple[int, ...] = (0,)
    """Where the stage of the tile's matrix starts: of the statements beside it."""

    def not_linear(self, it: said.NotLinear) -> bool:
        name = self.access.name if it.of == "access" else self.tile.name
        return it.name == name and bool(it.bits) and set(it.bits) <= set(range(5))

    # lanes

    def _unit(self) -> int:
        return max(4, self.access.instruction.width_bytes)

    def _rows(self) -> list[list[int | None]]:
        return self.warps.rows

    def _groups(self, row: list[int | None]) -> Iterator[list[int]]:
        return iter(groups_of(self.warps.instruction, row))

    def _counts_equal(self) -> bool:
        return self.warps.instruction.kind in ("atomic", "copy")

    def rank(self, it: said.Rank) -> bool:
        joins = self.warps.instruction.kind == "load" and self._unit() > 4
        for row in self._rows():
            groups = list(self._groups(row))
            if len(groups) != it.groups or any(len(group) != 1 << it.group_bits for group in groups):
                return False
            if it.joined != (joins and len(groups[0]) > 32 * 4 // self._unit()):
                return False
            for group in groups:
                addresses = [row[lane] for lane in group]
                if None in addresses:
                    return False
                units = {address // it.unit_bytes for address in addresses}
                slots = [unit % (128 // it.unit_bytes) for unit in units]
                if (len(units), len(set(slots))) != (1 << it.unit_rank, 1 << it.slot_rank):
                    return False
                if len({slots.count(slot) for slot in slots}) != 1:
                    return False
            if warp_cost(self.warps.instruction, row).wavefronts != it.wavefronts:
                return False
        return it.unit_bytes == self._unit() and it.counts_equal == self._counts_equal()

    def _pairs(self, vector: int) -> Iterator[tuple[int, int]]:
        for row in self._rows():
            for group in self._groups(row):
                assert vector < len(group)
                for lane in group:
                    yield row[lane], row[lane ^ vector]

    def kernel(self, it: said.Kernel) -> bool:
        if self._octets() or not it.vector or it.lanes[0] ^ it.lanes[1] != it.vector:
            return False
        for one, other in self._pairs(it.vector):
            if one // self._unit() * self._unit() % 128 != other // self._unit() * self._unit() % 128:
                return False
            if one // self._unit() == other // self._unit() and not self._counts_equal():
                return False
        row = self._row_at(it.where)
        words = tuple(row[lane] // 4 for lane in it.lanes)
        if words != it.words or any(word % 32 != it.bank for word in words):
            return False
        return it.alone == all(self._reaches_no_bank(1 << bit) for bit in it.bits)

    def _reaches_no_bank(self, vector: int) -> bool:
        return all(one // 4 % 32 == other // 4 % 32 for one, other in self._pairs(vector))

    def merged(self, it: said.Merged) -> bool:
        same = all(one // self._unit() == other // self._unit() for one, other in self._pairs(it.vector))
        return same and it.vector > 0 and not self._counts_equal() and not self._octets()

    def _octets(self) -> bool:
        return self.warps.instruction.kind == "copy past L1"

    def _row_at(self, where: Any) -> list[int | None]:
        (row,) = self.warps.at(where).rows
        return row

    def _needs(self, row: list[int | None], group: list[int]) -> dict[int, list[tuple[int, int]]]:
        """By bank, the lanes and the words that they need there."""
        found: dict[int, list[tuple[int, int]]] = {}
        for lane in group:
            if row[lane] is not None:
                for word in range(row[lane] // 4, row[lane] // 4 + self._unit() // 4):
                    found.setdefault(word % 32, []).append((lane, word))
        return found

    def _takes(self, needs: dict[int, list[tuple[int, int]]]) -> int:
        if self._counts_equal():
            return max(map(len, needs.values()), default=0)
        return max((len({word for _, word in each}) for each in needs.values()), default=0)

    def crowd(self, it: said.Crowd) -> bool:
        if self._octets() or it.counts_equal != self._counts_equal():
            return False
        row = self._row_at(it.where)
        every = [(group, self._needs(row, group)) for group in self._groups(row)]
        if max(self._takes(needs) for _, needs in every) != it.wavefronts:
            return False
        needs = next(needs for group, needs in every if it.lanes[0] in group)
        there = needs[it.bank]
        if tuple(lane for lane, _ in there) != it.lanes or tuple(sorted({word for _, word in there})) != it.words:
            return False
        return (len(it.lanes) if it.counts_equal else len(it.words)) == it.wavefronts

    def apart(self, it: said.Apart) -> bool:
        if not self._octets():
            return False
        row = self._row_at(it.where)
        copies = [address if address not in row[:lane] else None for lane, address in enumerate(row)]
        octets = [copies[first : first + 8] for first in range(0, 32, 8)]
        if max(map(_octet_wavefronts, octets)) != it.wavefronts:
            return False
        first = it.classes[0][0] // 8 * 8
        octet = copies[first : first + 8]
        lanes = sorted(lane for each in it.classes for lane in each)
        if lanes != [lane for lane in range(first, first + 8) if copies[lane] is not None]:
            return False
        alone = [[octet[i] if first + i in each else None for i in range(8)] for each in it.classes]
        return _octet_wavefronts(octet) == sum(map(_octet_wavefronts, alone)) == it.wavefronts

    def _level(self, level: said.Level) -> bool:
        order = next(k for k in range(1, 129) if k * level.step_bytes % 128 == 0)
        return (level.divisor, level.order) == (math.gcd(level.step_bytes, 128), order)

    def steps(self, it: said.Steps) -> bool:
        row = self._row_at(it.where)
        group = next(group for group in self._groups(row) if it.lanes[0] in group)
        if math.prod(level.count for level in it.levels) != len(it.lanes):
            return False
        if it.lanes != tuple(lane for lane in group if row[lane] is not None) or not all(map(self._level, it.levels)):
            return False
        for index, lane in enumerate(it.lanes):
            expected, rest = row[it.lanes[0]], index
            for level in it.levels:
                expected += rest % level.count * level.step_bytes
                rest //= level.count
            if rest or row[lane] != expected:
                return False
        return it.wavefronts in (None, self._takes(self._needs(row, group)))

    # the tile

    def pitch(self, it: said.Pitch) -> bool:
        layout = self.tile.layout
        assert isinstance(layout, Layout)
        names = ("row", "col") if layout.rank == 2 else tuple(f"c{i}" for i in range(layout.rank))
        mode = names.index(it.mode)
        extents = [extent for extent, _ in layout.modes[mode].leaves]
        if it.leaves != len(extents) or it.level.count != extents[it.leaf] or not self._level(it.level):
            return False
        weight = math.prod(extents[: it.leaf])
        for digit in range(it.level.count - 1):
            coord = [0] * layout.rank
            coord[mode] = digit * weight
            before = layout(*coord)
            coord[mode] += weight
            if (layout(*coord) - before) * self.tile.element_bits != 8 * it.level.step_bytes:
                return False
        return (it.tile, it.swizzled) == (self.tile.name, self.tile.swizzle is not None)

    def period(self, it: said.Period) -> bool:
        tile = self.tile
        names = ("row", "col") if len(tile.extents) == 2 else tuple(f"c{i}" for i in range(len(tile.extents)))
        mode = names.index(it.mode)
        others = [range(extent) for index, extent in enumerate(tile.extents) if index != mode]
        rest = np.array(list(product(*others)), dtype=np.int64).reshape(math.prod(map(len, others)), len(others)).T
        slices: list[bytes] = []
        for value in range(it.extent):
            columns = [*rest]
            columns.insert(mode, np.full(rest.shape[1], value))
            slices.append(self._banks(columns, it.start_bytes).tobytes())
        repeats = [
            p for p in range(1, it.extent // 2 + 1) if all(a == b for a, b in zip(slices, slices[p:], strict=False))
        ]
        smallest = repeats[0] if repeats else None
        return (it.tile, it.extent, it.period) == (tile.name, tile.extents[mode], smallest)

    def swizzle_bits(self, it: said.SwizzleBits) -> bool:
        tile, picture = self.tile, it.picture
        assert tile.swizzle is not None
        signs = picture.removeprefix("0b")[::-1]
        read = [bit for bit, sign in enumerate(signs) if sign == "Y"]
        changed = [bit for bit, sign in enumerate(signs) if sign == "Z"]
        numbers = [self.rng.randrange(1 << it.width) for _ in range(64)] + [1 << bit for bit in range(it.width)]
        for number in numbers:
            expected = number
            for source, target in zip(read, changed, strict=True):
                expected ^= (number >> source & 1) << target
            if tile.swizzle(number) != expected or it.swizzle(number) != expected:
                return False
        unit = 1 if it.on == "address" else tile.element_bits / 8
        assert isinstance(tile.layout, Layout)
        last = tile.layout(*(extent - 1 for extent in tile.extents))
        largest = last if it.on == "offset" else (last + 1) * tile.element_bits // 8 - 1
        if it.width != max(largest.bit_length(), max(read) + 1, max(changed) + 1):
            return False
        if (it.tile, it.on) != (tile.name, tile.swizzle_on) or not all(0 <= b < it.width for b in (*read, *changed)):
            return False
        if it.byte_shift is None:
            return unit not in (1, 2, 4, 8, 16)
        reached = 0
        for number in numbers:
            reached |= int(tile.swizzle(number) * unit) // 4 ^ int(number * unit) // 4
        return unit == 1 << it.byte_shift and it.bank_bits == tuple(bit for bit in range(5) if reached >> bit & 1)

    def one_to_one(self, it: said.OneToOne) -> bool:
        coord = np.meshgrid(*(np.arange(extent) for extent in self.tile.extents), indexing="ij")
        position = self.tile.position([each.ravel() for each in coord], stage=0, base=0)
        position = np.broadcast_to(position, (self.tile.size,))
        _, counts = np.unique(position, return_counts=True)
        same = set(counts.tolist()) == {1 << (it.bits - it.rank)}
        return it.tile == self.tile.name and same and 1 << it.bits == self.tile.size and len(counts) == 1 << it.rank

    # changes

    def _price(self, fields: tuple[int, int, int], on: str) -> tuple[int, int] | None:
        if fields not in self.prices:
            self.prices[fields] = self.warps.swizzled(fields, on)
        return self.prices[fields]

    def _agrees(self, found: tuple[int, int] | None, wavefronts: int, conflicts: int | None = None) -> bool:
        """Whether a price of the rows that are looked at is the one that is said, or less where not all
        are.
        """
        if found is None:
            return False
        if conflicts is None:
            conflicts = found[1]
        if self.warps.is_all:
            return found == (wavefronts, conflicts)
        return found[0] <= wavefronts and found[1] <= conflicts

    def change(self, it: said.Change) -> bool:
        now = self.tile.swizzle
        assert now is not None
        old = (now.bits, now.base, now.shift)
        new = (0, 0, 0) if it.swizzle is None else (it.swizzle.bits, it.swizzle.base, it.swizzle.shift)
        if it.parameter == "none":
            right = it.swizzle is None
        else:
            differ = ["BMS"[i] for i in range(3) if old[i] != new[i]]
            right = differ == [it.parameter] and abs(sum(new) - sum(old)) == 1
        return right and self._agrees(self._price(new, self.tile.swizzle_on), it.wavefronts, it.bank_conflicts)

    def parameter(self, it: said.Parameter) -> bool:
        now = self.tile.swizzle
        assert now is not None
        fields, index = (now.bits, now.base, now.shift), "BMS".index(it.parameter)
        found: dict[int, tuple[int, int] | None] = {}
        for value in it.tried:
            changed = (*fields[:index], value, *fields[index + 1 :])
            found[value] = self._price(changed, self.tile.swizzle_on)
        if None in found.values() or it.now != fields[index] or it.now not in it.tried:
            return False
        tried = self._tried(fields, index)
        if it.tried != tried if self.warps.is_all else not set(it.tried) <= set(tried):
            return False
        if not self._agrees(found[it.now], it.wavefronts, it.bank_conflicts) or it.fewest > it.wavefronts:
            return False
        if not self.warps.is_all:
            return all(found[value][0] <= it.fewest for value in it.values) and set(it.values) <= set(it.tried)
        fewest = min(each[0] for each in found.values())
        return it.fewest == fewest and it.values == tuple(v for v in it.tried if found[v][0] == fewest)

    def _tried(self, fields: tuple[int, int, int], index: int) -> tuple[int, ...]:
        """All values of a parameter within the tile's bits, and its own, that keep lanes aligned."""
        least, reach, on = self._least(self.tile.swizzle_on), self._reach(), self.tile.swizzle_on
        kept: list[int] = []
        for value in range(-64, 65):
            bits, base, shift = changed = (*fields[:index], value, *fields[index + 1 :])
            legal = 0 <= bits <= abs(shift) and (base >= least or index != 1) and base + bits + abs(shift) <= reach
            if not (value == fields[index] or (legal and shift * fields[2] > 0)):
                continue
            if self._price(changed, on) is not None:
                kept.append(value)
        return tuple(kept)

    def _reach(self) -> int:
        """The bits of the largest offset, or of the last byte of a stage's elements."""
        layout = self.tile.layout
        assert isinstance(layout, Layout)
        last = layout(*(extent - 1 for extent in layout.extents))
        return (last if self.tile.swizzle_on == "offset" else (last + 1) * self.tile.element_bits // 8 - 1).bit_length()

    def _least(self, on: str) -> int:
        """The smallest M with which vectors stay whole, from their bits."""
        unit = 8 if on == "address" else self.tile.element_bits
        vector = max(8 * self.access.instruction.width_bytes, self.tile.element_bits)
        return next(least for least in range(64) if unit << least >= vector)

    def best_swizzle(self, it: said.BestSwizzle) -> bool:
        if it.on != self.tile.swizzle_on or it.least != self._least(it.on) or it.most_bits != 5:
            return False
        if it.reach != self._reach():
            return False
        every = [
            (bits, base, shift)
            for bits in range(1, 6)
            for base in range(it.least, it.reach)
            for shift in range(bits, it.reach)
            if base + bits + shift <= it.reach
        ]
        first = (it.first.bits, it.first.base, it.first.shift)
        if len(every) != it.count or first not in every or not 0 < it.winners <= it.count:
            return False
        if not self._agrees(self._price(first, it.on), it.wavefronts, it.bank_conflicts):
            return False
        if not self.warps.is_all:
            return True
        if len(every) <= MOST_PRICES or (len(every) <= 4 * MOST_PRICES and self.warps.shape[0] <= MOST_ROWS):
            prices = {each: self._price(each, it.on)[0] for each in every}
            winners = [each for each in every if prices[each] == it.wavefronts]
            return min(prices.values()) == it.wavefronts and len(winners) == it.winners and winners[0] == first
        return all(self._price(each, it.on)[0] >= it.wavefronts for each in self.rng.sample(every, MOST_PRICES))

    def least_base(self, it: said.LeastBase) -> bool:
        if it.on != self.tile.swizzle_on or it.least != self._least(it.on):
            return False
        vectors = np.arange(1 << (it.least + 4), dtype=np.int64).reshape(-1, 1 << it.least)

        def tears(base: int) -> bool:
            found = moved(vectors, (1, base, 1))
            return bool((found != found[:, :1] + np.arange(1 << it.least)).any())

        return it.least > 0 and tears(it.least - 1) and not tears(it.least)

    def best_pad(self, it: said.BestPad) -> bool:
        tile = self.tile
        layout = parse_notation(it.layout)
        assert isinstance(layout, Layout)
        assert isinstance(tile.layout, Layout)
        grown = [
            stride if stride < it.row else stride // it.row * (it.row + it.pad) for _, stride in tile.layout.leaves
        ]
        if [stride for _, stride in layout.leaves] != grown or layout.extents != tile.extents or tile.swizzle:
            return False
        padded = Tile(tile.name, tile.element_bits, layout, base=tile.base, stages=tile.stages)
        return self._agrees(self.warps.worst(padded), it.wavefronts, it.bank_conflicts) and it.bank_conflicts == 0

"""Judges of costs, and of the lanes of a group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from swzverify.errors import SwzError
from swzverify.explain.explanations import statements as said
from swzverify.hardware import evidence
from swzverify.search.costs import cost
from tests.explanations.bit_judges import BitJudges
from tests.explanations.warps import groups_of
from tests.oracle.hardware import _octet_wavefronts, warp_cost


class LaneJudges(BitJudges):
    """Statements on warp instructions."""

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

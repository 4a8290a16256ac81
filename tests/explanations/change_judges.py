"""Judges of what another swizzle or a pad would do: each is priced anew, by the oracle's rule."""

from __future__ import annotations

import numpy as np

from swzverify.explain.explanations import statements as said
from swzverify.layout import Layout
from swzverify.layout.notation import parse_notation
from swzverify.subjects import Tile
from tests.explanations.bit_judges import BitJudges
from tests.explanations.warps import moved

MOST_PRICES = 40
"""Swizzles of a search that are priced anew; of more a random choice, but for small accesses."""
MOST_ROWS = 64
"""Warp instructions of a small access."""


class ChangeJudges(BitJudges):
    """Statements on prices of other tiles."""

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

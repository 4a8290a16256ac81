"""Judges of formulas: whether bits of the bank are what is said, at every address that is looked at."""

from __future__ import annotations

import math
import random
from itertools import product
from typing import Any

import numpy as np

from swzverify.explain.explanations import statements as said
from swzverify.subjects import Access, Tile
from tests.explanations.warps import Warps


class BitJudges:
    """What all judges have, and those of formulas and matrices."""

    def __init__(self, access: Access | None, tile: Tile | None, seed: int = 0, claim: Any = None) -> None:
        self.access, self.claim = access, claim
        self.tile = tile if access is None else access.tile
        self.rng = random.Random(seed)
        self.warps = None if access is None else Warps.of(access, self.rng)
        self.prices: dict[tuple[int, int, int], tuple[int, int] | None] = {}

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

    def _level(self, level: said.Level) -> bool:
        order = next(k for k in range(1, 129) if k * level.step_bytes % 128 == 0)
        return (level.divisor, level.order) == (math.gcd(level.step_bytes, 128), order)

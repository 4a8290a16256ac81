"""Whether a statement of an explanation is true, by brute force: each kind has a judge of its own.

Judges read the plain definition of accesses and tiles and the oracle's rule of costs, not the
expression form, ranks or prices that the statements come from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swzverify.errors import SwzError
from swzverify.explain.explanations import statements as said
from swzverify.report.explain_words import sentence
from tests.explanations.change_judges import ChangeJudges
from tests.explanations.lane_judges import LaneJudges
from tests.explanations.tile_judges import TileJudges


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


class Judge(LaneJudges, TileJudges, ChangeJudges):
    """Judges statements of one access, or of one tile."""

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

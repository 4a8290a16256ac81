"""Every statement of the explanations of the library, by brute force."""

from __future__ import annotations

from pathlib import Path

import pytest

from swzverify.explanations import explain_access, explain_tile
from swzverify.explanations import statements as said
from swzverify.report.explain_words import sentence
from swzverify.spec import load_spec
from tests.explanations.judge import Judge

SPECS = Path(__file__).parents[2] / "specs"
FILES = sorted(path.relative_to(SPECS).as_posix() for path in SPECS.rglob("*.swz.yaml"))


def check(judge: Judge, explanation: said.Explanation) -> None:
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


@pytest.mark.parametrize("name", FILES)
def test_what_is_said_of_the_library_is_so(name: str) -> None:
    case = load_spec(SPECS / name).cases[-1]
    for access in case.accesses.values():
        check(Judge(access, None), explain_access(access))
    for tile in case.tiles.values():
        check(Judge(None, tile), explain_tile(tile))

"""Wrong statements are found: each field of each kind, changed, makes its judge say no."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from functools import cache
from typing import get_args

import pytest

from swzverify.explain.explanations import explain_access, explain_tile
from swzverify.explain.explanations import statements as said
from swzverify.explain.explanations.explain import limit_of
from swzverify.report.explain_text import render_explanations_text
from swzverify.spec import parse_spec
from tests.explanations.judge import Judge
from tests.explanations.mutants import mutants

SPEC = """\
swzverify: 1
target: sm_90
tiles:
  short: {element: f16, layout: "(64,64):(64,1)", swizzle: "Swizzle<2,3,3>"}
  plain: {element: f32, layout: "(32,32):(32,1)"}
  padded: {element: f32, layout: "(32,32):(36,1)"}
  nested: {element: f16, layout: "((8,4),(8,8)):((8,512),(1,64))"}
  wide: {element: f16, layout: "(32,64):(68,1)"}
  addressed:
    {element: f16, layout: "(8,64):(64,1)", swizzle: {bits: 3, base: 4, shift: 3, on: address}, base: {align: 512}}
accesses:
  read: {tile: short, instruction: ldmatrix.x4, threads: 64, for: {k: {start: 0, stop: 64, step: 16}},
         coord: [warp*32 + lane, k]}
  column: {tile: plain, instruction: ld.shared.b32, threads: 32, for: {j: {start: 3, stop: 6}}, coord: [lane, j]}
  steps: {tile: padded, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}
  two_levels: {tile: padded, instruction: st.shared.b32, threads: 32, coord: [lane/8, lane%8]}
  crossed: {instruction: ld.shared.b32, threads: 32, address: "((lane ^ lane/16) & 15)*4 + lane/16*128"}
  bins: {instruction: atom.shared.add.u32, threads: 32, address: lane/4*128}
  joined: {instruction: ld.shared.v4.b32, threads: 32, address: lane/2*16}
  copied: {tile: nested, instruction: cp.async.16, threads: 32, coord: [lane, 0]}
  moved: {tile: addressed, instruction: ld.shared.v4.b32, threads: 32, coord: [lane%8, lane/8*8]}
  half: {tile: wide, instruction: ld.shared.v4.b32, threads: 32, coord: [lane, 0]}
  turned: {instruction: ld.shared.b32, threads: 32, for: {s: {start: 1, stop: 40, times: 3}}, address: lane*4 ^ s*4}
  odd: {instruction: ld.shared.b32, threads: 32, address: lane%7*12 + lane*4}
  late: {tile: plain, instruction: ld.shared.b32, threads: 32, coord: [lane, 16]}
  guarded: {tile: plain, instruction: ld.shared.b32, threads: 32, if: lane < 20, coord: [lane, 0]}
claims:
  - conflict_free: column
    expect: refuted
  - wavefronts: {access: read, at_most: 4}
    expect: refuted
  - wavefronts: {access: steps, exactly: 4}
"""

TRUE_TOO = {
    # another warp instruction costs the same, or has the same lanes in the same banks
    "Apart.where", "Cost.where", "Steps.where", "Crowd.where",
    # other lanes agree too; the period of a tile at another start
    "Merged.vector", "Period.start_bytes",
    # two bits of a bank are the same; some vectors of variables' bits never differ
    "BankBit.index", "TileBankBit.index", "BankBit.terms", "Matrix.columns", "TileBankBit.start_bytes",
    # which formulas nobody knows: `check` holds these against the formulas that are there
    "NotLinear.bits",
    # bits that are drawn of no tile
    "Steps.wavefronts",
}  # fmt: skip
"""Fields of which another value may be as true."""
SILENT = {
    # names that the heading says; the start, which the title says
    "Cost.access", "Unpriced.access", "NotLinear.name", "Unpriced.code",
    "TileBankBit.tile", "Pitch.tile", "Period.tile", "SwizzleBits.tile", "OneToOne.tile",
    # which parameter a change is of, its swizzle says
    "Change.parameter",
}  # fmt: skip
"""Fields that no sentence has."""


@cache
def told() -> tuple[tuple[Judge, said.Explanation], ...]:
    spec = parse_spec(SPEC, path="planted.swz.yaml")
    (case,) = spec.cases
    found: list[tuple[Judge, said.Explanation]] = []
    found += [(Judge(access, None), explain_access(access)) for access in case.accesses.values()]
    found += [(Judge(None, tile), explain_tile(tile)) for tile in case.tiles.values()]
    for each in spec.claims:
        costs = explain_access(each.claim.subjects[0]).statements[0]
        assert isinstance(costs, said.Cost)
        statements = (limit_of(each.claim, costs),)
        judge = Judge(each.claim.subjects[0], None, claim=each.claim)
        found.append((judge, said.Explanation("access", each.subject, "claim", statements)))
    for judge, explanation in found:
        starts = [each for each in explanation.statements if isinstance(each, said.TileBankBit | said.Period)]
        judge.starts = tuple(each.start_bytes for each in starts)
    return tuple(found)


def test_the_examples_have_every_kind_of_statement() -> None:
    kinds = {type(each) for _, explanation in told() for each in explanation.statements}
    assert {kind.__name__ for kind in get_args(said.Statement)} == {kind.__name__ for kind in kinds}


def test_all_that_is_said_is_so() -> None:
    for judge, explanation in told():
        for statement in explanation.statements:
            assert judge(statement), (explanation.name, statement)


@pytest.mark.parametrize("kind", get_args(said.Statement), ids=lambda kind: kind.__name__)
def test_a_wrong_field_is_found(kind: type) -> None:
    found, missed = Counter[str](), Counter[str]()
    for judge, explanation in told():
        for statement in explanation.statements:
            if isinstance(statement, kind):
                for field, wrong in mutants(statement):
                    (missed if judge(wrong) else found)[f"{kind.__name__}.{field}"] += 1
    assert set(missed) <= TRUE_TOO, missed
    every = {f"{kind.__name__}.{each.name}" for each in fields(kind)}
    assert every - set(found) <= {"NotLinear.bits", "Period.start_bytes", "Steps.where"}, every - set(found)


@pytest.mark.parametrize("kind", get_args(said.Statement), ids=lambda kind: kind.__name__)
def test_a_sentence_says_every_field(kind: type) -> None:
    """What a judge would find, a reader sees: some change of each field changes the text."""
    seen: set[str] = set()
    for _, explanation in told():
        for statement in explanation.statements:
            if isinstance(statement, kind):
                for field, wrong in mutants(statement):
                    try:
                        if text(wrong) != text(statement):
                            seen.add(field)
                    except (AttributeError, LookupError, TypeError, ValueError):
                        continue  # no statement at all
    unseen = {f"{kind.__name__}.{each.name}" for each in fields(kind) if each.name not in seen}
    assert unseen == {each for each in SILENT if each.startswith(f"{kind.__name__}.")}


def text(statement: said.Statement) -> str:
    explained = said.Explained("x", {}, (said.Explanation("access", "x", "x", (statement,)),))
    return render_explanations_text(explained)


MAKERS: dict[str, tuple[str, object]] = {
    "banks begin at byte bit 3": ("reading.FIRST_BANK_BIT", 3),
    "a line has 256 bytes": ("reading.END_BANK_BIT", 8),
    "groups never join": ("ranks.PAIR_DISTANCES", ()),
    "every column counts": ("ranks.rank", len),
    "sixteen banks, of the kernel": ("ranks.BANKS", 16),
    "sixteen banks, of the crowd": ("crowds.BANKS", 16),
    "sixteen banks, of periods": ("tiles.BANKS", 16),
    "everything merges": ("ranks.xor_of", lambda *_: 0),
    "no bit reaches a bank alone": ("ranks._alone", lambda *_: True),
    "loops count from 0 by 1": (
        "reading.stepped", lambda name, *rest: [said.Bit(name, bit) for bit in range(rest[-1])],
    ),
    "a swizzle that is one bit shorter": (
        "changes._with",
        lambda now, index, value: (max(0, now[0] - (index == 1)), *(value if i == index else now[i] for i in (1, 2))),
    ),
    "rows without their pad": ("changes._pad_of", lambda *_: (0, 1)),
    "no start is shared": ("reading._start_is_shared", lambda *_: False),
}  # fmt: skip
HARMLESS = {"no start is shared"}
"""Less is said then, and nothing wrong."""


@pytest.mark.parametrize("mistake", MAKERS)
def test_a_mistake_of_the_makers_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mistake planted into what makes statements, some statement is false."""
    name, wrong = MAKERS[mistake]
    monkeypatch.setattr(f"swzverify.explain.explanations.{name}", wrong)
    found = 0
    for judge, _ in told():
        if judge.claim is not None:
            continue
        explanation = explain_tile(judge.tile) if judge.access is None else explain_access(judge.access)
        found += sum(not judge(statement) for statement in explanation.statements)
    assert (found == 0) == (mistake in HARMLESS)

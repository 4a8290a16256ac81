"""`disjoint` of operands: small cases by hand, refusals, and what the rest of the house does with them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from swzverify.apps.diff.compare import differences
from swzverify.certificates.make import describe
from swzverify.claims import Disjoint, Verdict
from swzverify.errors import SwzError
from swzverify.gpu.plan import not_run
from swzverify.prover import Options, prove
from swzverify.report.case_code import case_code
from swzverify.spec import Spec, SpecError

SPEC: dict[str, Any] = {
    "swzverify": 1,
    "target": "sm_90a",
    "memories": {"smem": {"bytes": 131072, "align": 1024}},
    "tiles": {
        "A": {"element": "f16", "tma": {"swizzle": "128B", "box": [64, 64]}, "base": {"in": "smem"}, "stages": 3},
        "B": {
            "element": "f16",
            "tma": {"swizzle": "128B", "box": [64, 64]},
            "base": {"in": "smem", "offset": 24576},
            "stages": 3,
        },
    },
    "operands": {
        role: {
            "instruction": "wgmma.m64n64k16.f16",
            "role": role,
            "for": {"s": 3, "k": 4},
            "descriptor": {"start": "s*8192 + k*32", "sbo": 1024, "swizzle": "128B"},
            "reads": {"tile": role, "at": [0, "k*16"], "stage": "s"},
        }
        for role in "AB"
    },
}


def claim_of(argument: Any, *changes: Callable[[dict[str, Any]], object]) -> Disjoint:
    spec = copy.deepcopy(SPEC) | {"claims": [{"disjoint": argument}]}
    for change in changes:
        change(spec)
    found = Spec.from_text(json.dumps(spec)).claims[0].claim
    assert isinstance(found, Disjoint)
    return found


def judged(claim: Disjoint) -> Verdict:
    return prove(claim, options=Options(every_engine=True))


ONE, TWO = {"operand": "A"}, {"operands": ["A", "B"]}


def start(name: str, text: str) -> Callable[[dict[str, Any]], object]:
    return lambda spec: spec["operands"][name]["descriptor"].update(start=text)


def test_stages_and_operands_that_lie_apart_are_proved() -> None:
    for argument in (ONE, TWO):
        found = judged(claim_of(argument))
        assert found.outcome.value == "proved"
        assert {"residues", "z3"} <= set(found.engines)
        assert found.evidence == "measured"
    assert "every two of 3 stages" in judged(claim_of(ONE)).scope


def test_the_table_has_the_two_elements_that_meet() -> None:
    found = judged(claim_of(ONE, start("A", "s*8160 + k*32")))
    assert found.outcome.value == "refuted"
    assert found.counterexample is not None
    (first, second) = found.counterexample.rows
    assert first.cells[3] == second.cells[3]
    assert first.cells[2] != second.cells[2]
    assert set(found.counterexample.binding) == {"s", "k", "s'", "k'"}
    other = judged(claim_of(TWO, lambda spec: spec["tiles"]["B"]["base"].update(offset=16384)))
    assert other.counterexample is not None
    assert set(other.counterexample.binding) == {"s of A", "k of A", "s of B", "k of B"}
    assert [row.cells[0] for row in other.counterexample.rows] == ["A", "B"]


def test_the_base_of_each_operand_counts() -> None:
    assert judged(claim_of(TWO, lambda spec: spec["tiles"]["A"]["base"].update(offset=49152))).outcome.value == "proved"


def test_a_misaligned_start_is_refuted() -> None:
    found = judged(claim_of(TWO, start("B", "s*8192 + k*32 + 8")))
    assert found.outcome.value == "refuted"
    assert "no multiple of 16" in found.reason


def test_one_stage_and_loops_that_never_run_say_nothing() -> None:
    one = claim_of(ONE, lambda spec: spec["operands"]["A"]["reads"].update(stage="0*s"))
    assert judged(one).outcome.value == "vacuous"
    assert judged(claim_of(TWO, lambda spec: spec["operands"]["A"]["for"].update(k=0))).outcome.value == "vacuous"


def test_a_stage_of_two_loops_is_unknown() -> None:
    def of_two(spec: dict[str, Any]) -> None:
        spec["operands"]["A"] |= {"for": {"s": 2, "t": 2, "k": 4}}
        spec["operands"]["A"]["descriptor"]["start"] = "(s + t)*8192 + k*32"
        spec["operands"]["A"]["reads"]["stage"] = "s + t"

    found = judged(claim_of(ONE, of_two))
    assert found.outcome.value == "unknown"
    assert "no loop of A alone" in found.reason
    in_another_order = claim_of(ONE, lambda spec: spec["operands"]["A"]["reads"].update(stage="2 - s"))
    assert judged(in_another_order).outcome.value == "proved"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda spec: spec["tiles"]["B"].update(base={"align": 1024}), "lie to each other"),
        (lambda spec: spec.update(claims=[{"disjoint": "A"}]), "SWZ106"),
    ],
)
def test_what_nothing_relates_is_refused(change: Callable[[dict[str, Any]], object], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        claim_of(TWO, change)


def test_a_tile_beside_an_operand_is_refused() -> None:
    tile, operand = claim_of({"tile": "A"}).first, claim_of(ONE).first
    with pytest.raises(SwzError, match="SWZ105"):
        Disjoint(tile, operand)


def test_what_the_rest_of_the_house_says() -> None:
    good, bad = claim_of(TWO), claim_of(TWO, lambda spec: spec["tiles"]["B"]["base"].update(offset=16384))
    assert good.meeting() == []
    assert len(bad.meeting()) == 8192
    assert len(claim_of(ONE, start("A", "s*8160 + k*32")).meeting()) > 0
    found = judged(bad).counterexample
    assert found is not None
    assert case_code(bad, found).lines == ['assert not claim.meeting(), "No shared bits."']
    assert "run `delivers` only" in not_run(good)
    assert describe(good).of == (("operand", "A"), ("operand", "B"))
    both = [
        Spec.from_text(json.dumps(SPEC | {"claims": [{"disjoint": each}]})).claims[0]
        for each in (TWO, {"tiles": ["A", "B"]})
    ]
    assert [each.direction.value for each in differences(*both)] == ["weaker", "weaker"]

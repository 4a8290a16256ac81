"""Claims with their verdicts, from spec text or files, and the simulated device's answers to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from swzverify.claims import Claim, Verdict
from swzverify.gpu.cost_check import CostCheck, Measured, pattern_key
from swzverify.gpu.costs import Patterns
from swzverify.gpu.crosscheck import CrossCheck, Method, judge_all, plan_all
from swzverify.gpu.device_facts import DeviceFacts
from swzverify.gpu.launch import DeviceAnswer
from swzverify.hardware import access_cost
from swzverify.prover import prove
from swzverify.spec import load_spec, parse_spec
from tests.gpu.simulated import answers_of

H100 = DeviceFacts("an H100", 90, "13.0", 232448)
SPECS = Path(__file__).parent.parent.parent / "specs"


def claims_in(text: str) -> list[tuple[Claim, Verdict]]:
    return [(each.claim, prove(each.claim)) for each in parse_spec(text, path="t.swz.yaml").claims]


def claims_of_file(file: Path) -> list[tuple[Claim, Verdict]]:
    return [(each.claim, prove(each.claim)) for each in load_spec(str(file)).claims]


def priced(wanted: Mapping[str, Patterns]) -> CostCheck:
    """Costs by the scalar rule, one pattern at a time."""
    found: dict[tuple[str, bytes, bytes], Measured] = {}
    for each in wanted.values():
        for i in range(len(each)):
            lanes = [int(a) if on else None for a, on in zip(each.addresses[i], each.active[i], strict=True)]
            cost = access_cost(each.instruction, lanes)
            found[pattern_key(each, i)] = Measured(float(cost.wavefronts), float(cost.bank_conflicts))
    return CostCheck(found)


def checked(
    claims: Sequence[tuple[Claim, Verdict]], answers: Sequence[DeviceAnswer] | None = None, facts: DeviceFacts = H100
) -> CrossCheck:
    """A cross-check with the simulated device's answers, or with others."""
    specs = {"t": claims}
    plans = plan_all(specs)
    given = answers_of(plans["t"]) if answers is None else answers
    return judge_all(specs, plans, facts, {"t": given}, Method.COUNTERS, priced)

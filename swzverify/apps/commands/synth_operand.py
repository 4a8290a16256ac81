"""From an operand of a spec to the descriptors that name it, each proved, or the proof that none does."""

from __future__ import annotations

from swzverify.apps.commands.named import named
from swzverify.prover import Options
from swzverify.report.synth_operand import OperandResult
from swzverify.search.synth.descriptors import find_descriptors
from swzverify.spec import load_spec


def synthesize_operand(path: str, name: str | None, rlimit: int | None = None) -> list[OperandResult]:
    """The descriptors of an operand, in each case of the constants.

    Raises:
        SpecError: The spec cannot be read.
        SwzError: SWZ561 if there is no such operand.
    """
    spec = load_spec(path)
    options = Options() if rlimit is None else Options(rlimit=rlimit)
    found: list[OperandResult] = []
    for case in spec.cases:
        operand = named(spec.path, "operand", case.operands, name)
        chosen = ", ".join(f"{constant}={value}" for constant, value in case.chosen.items())
        found.append(OperandResult(spec.path, chosen, operand, find_descriptors(operand, options)))
    return found

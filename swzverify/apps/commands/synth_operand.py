"""From an operand of a spec to the descriptors that name it, each proved, or the proof that none does."""

from __future__ import annotations

from collections.abc import Mapping

from swzverify.errors import SwzError, nearest
from swzverify.prover import Options
from swzverify.report.synth_operand import OperandResult
from swzverify.search.synth.descriptors import find_descriptors
from swzverify.spec import load_spec
from swzverify.subjects import Operand


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
        operand = _operand(spec.path, case.operands, name)
        chosen = ", ".join(f"{constant}={value}" for constant, value in case.chosen.items())
        found.append(OperandResult(spec.path, chosen, operand, find_descriptors(operand, options)))
    return found


def _operand(path: str, operands: Mapping[str, Operand], name: str | None) -> Operand:
    if name is None and len(operands) == 1:
        return next(iter(operands.values()))
    if name in operands:
        return operands[name or ""]
    known = f"operands are {', '.join(operands) or 'none'}"
    if name is None:
        raise SwzError("SWZ561", f"{path} has {len(operands)} operands: which one?", hint=f"--operand NAME; {known}")
    raise SwzError("SWZ561", f"{path} has no operand '{name}'", hint=nearest(name, operands) or known)

"""From a free access of a kernel to its certificate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from swzrecheck.claim import Claim
from swzrecheck.compiled import KernelAccess, OpenValue
from swzrecheck.folder import SPECS, claim_file, fingerprint, save, save_shared
from swzrecheck.program import Operation
from swzrecheck.record import Certificate, Said, write_certificate
from swzrecheck.statement import write_program
from swzrecheck.warp_rule import MERGED, warp_rule
from swzverify.certificates.make import Points, checked, goal_of
from swzverify.compiled.scan import ScannedAccess, Verdict
from swzverify.compiled.scan.asker import BUDGET
from swzverify.compiled.scan.cost_goal import Stated, stated
from swzverify.engines.obligations import Cost, GatherCost
from swzverify.errors import SwzError
from swzverify.ir.counts import summed
from swzverify.ir.expr import (
    Binary,
    Compare,
    Comparison,
    Const,
    Count,
    Expr,
    Extend,
    Extract,
    Ite,
    Var,
    compare,
    conjunction,
    const,
    ite,
    operands,
    postorder,
    var,
    variables,
)
from swzverify.prover import Options
from swzverify.prover.panel import Panel

_COORDINATES: Final = frozenset({"tid.x", "tid.y", "tid.z", "laneid"})
_KIND: Final = "kernel_conflict_free"
_PLACE: Final = "place in a word"
_WORDS: Final = {
    "place modulo 128": "the number of the place modulo 128 that all lanes add",
    "octets that come": "bit i tells whether octet i of the warp makes the access, all eight lanes together",
    _PLACE: "which of the places in a bank's word all lanes add",
}
_TRUSTED: Final = (
    "the address, the guard and the facts are what the PTX computes: the reader of PTX is trusted",
    "lanes of which the hardware runs the access are equally far beyond a multiple of the width: others fault",
)
_SEVERAL: Final = "its proof is of several costs that differ in more than a number"
_COUNTED: Final = "no engine of the prover showed it"


@dataclass(frozen=True, slots=True)
class KernelText:
    """A PTX text, by the name that certificates give it."""

    path: str
    text: str


def certify_access(
    folder: str, source: KernelText, access: ScannedAccess, taken: Mapping[str, object], versions: Mapping[str, str]
) -> str:
    """Write the certificate of a free access, and return its id, which is none of those taken.

    Raises:
        SwzError: SWZ607 if no certificate can state it.
        CertificateError: SWZ606 if it cannot be written.
    """
    if access.decision.verdict is not Verdict.FREE or not access.decision.goals:
        raise SwzError("SWZ607", _COUNTED)
    goals = access.decision.goals
    said = _joined([stated(each) for each in goals])
    name = _name(access)
    kernel = _kernel(name, access, said)
    claim, derived = checked(Claim(_KIND, (("kernel", name),), {}, {}, {}, {}, {}, {name: kernel}))
    plain = identity = f"{source.path}::{kernel.name}::{_KIND}"
    while identity in taken:
        identity = f"{plain}#{int(identity[len(plain) + 1 :] or 1) + 1}"
    points = Points(None, _suggested(goals[0], {each.words: each.name for each in kernel.values}, said))
    certificate = Certificate(
        id=identity,
        spec=source.path,
        spec_sha256=save_shared(folder, SPECS, source.text, "ptx"),
        line=access.line,
        case={},
        claim=claim,
        said=Said(
            scope=""
            if access.block is not None or access.assumed_block
            else "blocks of any shape: lanes are the same in all of them",
            evidence="",
            engines=access.decision.engines,
            reason=access.decision.reason,
            assumptions=(*_TRUSTED, *access.assumptions),
            versions=versions,
        ),
        goals=tuple(goal_of(folder, asked, points) for asked in derived.asked),
        exists=None if derived.exists is None else points.possible(derived.exists),
    )
    save(folder, claim_file(identity), write_certificate(certificate))
    return identity


def _name(access: ScannedAccess) -> str:
    """A name for the access, with a fingerprint of the kernel's where some of its characters go."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", access.kernel)[:4000]
    if plain != access.kernel or not re.match("[A-Za-z_]", plain):
        plain = f"_{plain}.{fingerprint(access.kernel)[:10]}"
    return f"{plain}.line{access.line}"


def _joined(found: Sequence[Stated]) -> Stated:
    """Join statements that differ in the address alone; a value that all lanes share chooses one."""
    first = found[0]
    if any(
        (each.guard, each.facts, each.own, each.row) != (first.guard, first.facts, first.own, first.row)
        for each in found
    ):
        raise SwzError("SWZ607", _SEVERAL)
    if len(found) == 1:
        return first
    which, address = var(_PLACE, len(found)), first.address
    for number, each in enumerate(found[1:], 1):
        here = compare(Comparison.EQ, which, const(number, which.width))
        address = ite(here, each.address, address)
    return Stated(first.shape, first.row, address, first.guard, first.facts, first.own)


def _kernel(name: str, access: ScannedAccess, said: Stated) -> KernelAccess:
    row = said.row
    is_merged = warp_rule(row.name).repeats and not row.counts_equal_words
    # The second program has no operator that counts bits.
    address, guard, facts = roots = tuple(map(summed, (said.address, said.guard, said.facts)))
    opened = [each for each in variables(*roots) if each.name not in _COORDINATES]
    names = {each: f"v{number}" for number, each in enumerate(opened)}
    program, at = _program(roots, names)
    return KernelAccess(
        name=name,
        kernel=access.kernel,
        line=access.line,
        text=access.instruction,
        instruction=row.name + MERGED * is_merged,
        block=said.shape,
        given=access.assumptions,
        values=tuple(OpenValue(new, _words(each), each in said.own) for each, new in names.items()),
        program=write_program(program),
        address=at[address],
        guard=at[guard],
        facts=at[facts],
    )


def _words(each: Var) -> str:
    return _WORDS.get(each.name, each.name)


def _program(roots: Sequence[Expr], names: Mapping[Var, str]) -> tuple[list[Operation], dict[Expr, int]]:
    """The operations of some expressions, and the line of each node."""
    lines: list[Operation] = []
    at: dict[Expr, int] = {}
    for node in postorder(*roots):
        at[node] = len(lines)
        places = tuple(at[each] for each in operands(node))
        match node:
            case Const(value=value, width=width):
                lines.append(Operation("const", width, number=value))
            case Var(name=name, limit=limit, width=width):
                lines.append(Operation("var", width, number=limit, name=names.get(node, name)))
            case Binary(operator=operator, width=width):
                lines.append(Operation(operator.value, width, places))
            case Compare(comparison=comparison):
                lines.append(Operation(comparison.value, 1, places))
            case Extract(low=low, width=width):
                lines.append(Operation("extract", width, places, low))
            case Extend(width=width, signed=signed):
                lines.append(Operation("sign_extend" if signed else "zero_extend", width, places))
            case Ite(width=width):
                lines.append(Operation("ite", width, places))
            case Count():
                raise SwzError("SWZ607", "the second program does not count bits")
    return lines, at


def _suggested(goal: Cost | GatherCost, names: Mapping[str, str], said: Stated) -> Iterator[Mapping[str, int]]:
    """Points at which the SMT engine says that some lane makes the access, with every rest."""
    cost = goal.cost if isinstance(goal, GatherCost) else goal
    found = Panel(Options(rlimit=BUDGET)).possible(conjunction((cost.domain.assumption, cost.active)))
    if found.point is None:
        return
    point = {names.get(_WORDS.get(name, name), name): value for name, value in found.point.items()}
    for rest in range(said.row.width_bytes):
        yield {**point, "rest": rest}

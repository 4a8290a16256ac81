"""What an independent interpreter saw a kernel do, held against the expressions of its accesses.

An execution of an access by a warp is explained if there are values of the leaves, one of each
uniform leaf and one for each lane of any other, under which the address of every lane that took
part is the one that was seen, and its guard holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import z3

from swzverify.compiled.kernel import KernelAccess, LaneLeaf, TripsLeaf
from swzverify.ir import expr
from swzverify.ir.expr import Binary, BinaryOperator, Compare, Comparison, Const, Count, Expr, Extend, Extract, Ite, Var
from tests.ptx_oracle import record

MOST_TRIPS = 40
MILLISECONDS = 700


@dataclass(frozen=True)
class Event:
    """One execution by one warp: the lanes that took part, with their addresses."""

    line: int
    block: tuple[int, int, int]
    warp: int
    lanes: tuple[tuple[int, int], ...]


@contextmanager
def watched() -> Iterator[list[Event]]:
    """Collect every execution of every access while the interpreter runs."""
    found: list[Event] = []
    original = record.Access._note_warp

    def note(self: Any, block: Any, warp: int, active: int, base: int, rest: bytes) -> None:
        if not self.blind:
            offsets = np.frombuffer(rest, np.uint32).tolist()
            lanes = tuple((lane, (base + offsets[lane]) & 0xFFFFFFFF) for lane in range(32) if active >> lane & 1)
            found.append(Event(self.line, tuple(block), warp, lanes))
        original(self, block, warp, active, base, rest)

    record.Access._note_warp = note  # type: ignore[method-assign]
    try:
        yield found
    finally:
        record.Access._note_warp = original  # type: ignore[method-assign]


def coordinates(lane: int, warp: int, shape: Sequence[int]) -> dict[str, int]:
    number = 32 * warp + lane
    return {
        "tid.x": number % shape[0],
        "tid.y": number // shape[0] % shape[1],
        "tid.z": number // (shape[0] * shape[1]),
        "laneid": lane,
    }


def explains(
    access: KernelAccess, event: Event, shape: Sequence[int], known: Callable[[str], int | None]
) -> bool | None:
    """Whether some values of the leaves explain an execution; None if that was not decided."""
    assert access.address is not None
    by_name = {leaf.name: leaf for leaf in access.leaves}
    own = {leaf.name for leaf in access.leaves if not leaf.uniform and not isinstance(leaf, LaneLeaf)}
    claims: list[tuple[int, Expr]] = []
    for lane, seen in event.lanes:
        point = coordinates(lane, event.warp, shape)
        point |= {f"ctaid.{axis}": value for axis, value in zip("xyz", event.block, strict=True)}
        fixed: dict[Var, Expr] = {}
        for name, leaf in by_name.items():
            value = point.get(name, known(name))
            if value is not None:
                if not 0 <= value < leaf.variable.limit:
                    return False
                fixed[leaf.variable] = expr.const(value, leaf.variable.width)
        both = (expr.compare(Comparison.EQ, access.address, expr.const(seen, 32)), access.who.guard)
        claims += [(lane, expr.substitute(claim, fixed)) for claim in both]
    claims = [(lane, claim) for lane, claim in claims if claim is not expr.TRUE]
    if any(claim is expr.FALSE for _, claim in claims):
        return False
    if not claims:
        return True
    free = set(expr.variables(*(claim for _, claim in claims)))
    trips = [each for each in free if isinstance(by_name[each.name], TripsLeaf)]
    if len(free) == len(trips) == 1 and _by_trying(claims, trips[0], is_own=trips[0].name in own):
        return True
    return _by_solver(claims, own, {name: leaf.values for name, leaf in by_name.items() if leaf.values})


def _by_trying(claims: list[tuple[int, Expr]], trips: Var, *, is_own: bool) -> bool:
    groups: dict[int, list[Expr]] = defaultdict(list)
    for lane, claim in claims:
        groups[lane if is_own else 0].append(claim)
    return all(
        any(
            all(expr.substitute(claim, {trips: expr.const(count, trips.width)}) is expr.TRUE for claim in group)
            for count in range(MOST_TRIPS)
        )
        for group in groups.values()
    )


def _by_solver(claims: list[tuple[int, Expr]], own: set[str], values: dict[str, tuple[int, ...]]) -> bool | None:
    solver = z3.SolverFor("QF_BV")
    solver.set("timeout", MILLISECONDS)
    for lane, claim in claims:
        solver.add(_z3(claim, lambda name, lane=lane: f"{name}@{lane}" if name in own else name, solver) == 1)
        for node in expr.variables(claim):
            if node.name in values:
                made = z3.BitVec(f"{node.name}@{lane}" if node.name in own else node.name, node.width)
                solver.add(z3.Or([made == value for value in values[node.name]]))
    answer = solver.check()
    return None if answer == z3.unknown else answer == z3.sat


_BINARY: dict[BinaryOperator, Callable[[Any, Any], Any]] = {
    BinaryOperator.ADD: lambda a, b: a + b,
    BinaryOperator.SUB: lambda a, b: a - b,
    BinaryOperator.MUL: lambda a, b: a * b,
    BinaryOperator.UDIV: z3.UDiv,
    BinaryOperator.UREM: z3.URem,
    BinaryOperator.SDIV: lambda a, b: a / b,
    BinaryOperator.SREM: z3.SRem,
    BinaryOperator.SHL: lambda a, b: a << b,
    BinaryOperator.LSHR: z3.LShR,
    BinaryOperator.ASHR: lambda a, b: a >> b,
    BinaryOperator.AND: lambda a, b: a & b,
    BinaryOperator.OR: lambda a, b: a | b,
    BinaryOperator.XOR: lambda a, b: a ^ b,
}
_COMPARE: dict[Comparison, Callable[[Any, Any], Any]] = {
    Comparison.EQ: lambda a, b: a == b,
    Comparison.ULT: z3.ULT,
    Comparison.ULE: z3.ULE,
    Comparison.SLT: lambda a, b: a < b,
    Comparison.SLE: lambda a, b: a <= b,
}


def _z3(root: Expr, named: Callable[[str], str], solver: z3.Solver) -> Any:
    built: dict[Expr, Any] = {}
    for node in expr.postorder(root):
        match node:
            case Const(value, width):
                built[node] = z3.BitVecVal(value, width)
            case Var(name, limit, width):
                built[node] = z3.BitVec(named(name), width)
                if limit < 1 << width:
                    solver.add(z3.ULT(built[node], limit))
            case Binary(operator, left, right):
                built[node] = _BINARY[operator](built[left], built[right])
            case Compare(comparison, left, right):
                holds = _COMPARE[comparison](built[left], built[right])
                built[node] = z3.If(holds, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))
            case Extract(operand, low, width):
                built[node] = z3.Extract(low + width - 1, low, built[operand])
            case Extend(operand, width, signed):
                more = width - operand.width
                built[node] = z3.SignExt(more, built[operand]) if signed else z3.ZeroExt(more, built[operand])
            case Count(operand):
                ones = [z3.ZeroExt(node.width - 1, z3.Extract(at, at, built[operand])) for at in range(operand.width)]
                built[node] = z3.Sum(ones)
            case Ite(condition, then, otherwise):
                built[node] = z3.If(built[condition] == 1, built[then], built[otherwise])
    return built[root]


@dataclass
class Tally:
    """How many executions were explained, were not, and were not decided."""

    explained: int = 0
    undecided: int = 0
    wrong: tuple[str, ...] = ()


def compare_all(
    found: list[KernelAccess],
    events: list[Event],
    shape: Sequence[int],
    known: Callable[[str], int | None],
    most: int = 1000,
) -> Tally:
    """Hold executions against accesses, at most so many different ones of each line."""
    tally = Tally()
    by_line: dict[int, list[KernelAccess]] = defaultdict(list)
    for access in found:
        by_line[access.site.line].append(access)
    counted: dict[int, int] = defaultdict(int)
    for event in dict.fromkeys(events):
        here = by_line.get(event.line)
        if not here:
            tally.wrong += (f"line {event.line}: an access that is not listed",)
            continue
        if here[0].address is None or counted[event.line] >= most:
            continue
        counted[event.line] += 1
        answers = [explains(access, event, shape, known) for access in here]
        if True in answers:
            tally.explained += 1
        elif None in answers:
            tally.undecided += 1
        else:
            tally.wrong += (f"line {event.line}, {here[0].site.opcode} {here[0].site.text}: {event}",)
    return tally

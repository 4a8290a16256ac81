"""What the prover's side puts forward for a certificate: periods, and points at which something is possible.

Nothing here is trusted: the witnesses check the periods, and the points are evaluated again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, product
from math import gcd, lcm
from random import Random

from swzverify.certificates.program import Program, evaluate
from swzverify.certificates.warp_rule import LINE_BYTES, WORD_BYTES
from swzverify.engines.obligation import Always, Apart, Cost, Covers, Injective, Obligation
from swzverify.ir.expr import Expr, Var
from swzverify.ir.expr import variables as variables_of
from swzverify.ir.gf2 import VariableBits, affine_bits
from swzverify.ir.periods import Repetition, repetition

TRIES = 4096


def periods(goal: Obligation) -> dict[str, int]:
    """The variables of which fewer values stand for all, with how many."""
    match goal:
        case Always(domain, holds):
            return _found(domain.variables, still=(domain.assumption, holds))
        case Injective(domain, shared, inner):
            return _found(shared, still=(domain.assumption,), alike=(inner,))
        case Cost(domain, _, address, active, instruction):
            unit = lcm(LINE_BYTES if instruction.by_octets else WORD_BYTES, instruction.width_bytes)
            return _found(goal.free, still=(domain.assumption, active), turning=((address, unit),))
        case Covers():
            still = (goal.points.assumption, goal.active)
            return _found(goal.shared, still=still, alike=(goal.address, goal.position))
        case Apart():
            return _found(goal.shared, still=(goal.condition,), alike=(goal.first.position, goal.second.position))


def _found(
    variables: Iterable[Var],
    still: Sequence[Expr] = (),
    alike: Sequence[Expr] = (),
    turning: Sequence[tuple[Expr, int]] = (),
) -> dict[str, int]:
    """`still` must not change, `alike` must change by exact numbers, `turning` by multiples of a unit or linearly."""
    found: dict[str, int] = {}
    for node in variables:
        lengths = [_scaled(repetition(root, node.name), 1 << root.width, still=True) for root in still]
        for root in alike:
            one = repetition(root, node.name)
            lengths.append(one.period if one is not None and one.exact else None)
        for root, unit in turning:
            # Where an address does not turn it may be linear, and then one value stands for all.
            turned = _scaled(repetition(root, node.name), unit, still=False)
            lengths.append(1 if turned is None and _linear(root) else turned)
        known = [length for length in lengths if length is not None]
        if len(known) == len(lengths) and lcm(*known) < node.limit:
            found[node.name] = lcm(*known)
    return found


def _linear(root: Expr) -> bool:
    (bits,) = affine_bits([root], VariableBits.of(variables_of(root)))
    return None not in bits


def _scaled(one: Repetition | None, unit: int, *, still: bool) -> int | None:
    """After how many values the increase is a multiple of a unit; or, where nothing may change, the period itself."""
    if one is None:
        return None
    if (still and one.constant and one.exact) or not one.increment:
        return one.period
    return one.period * (unit // gcd(one.increment, unit))


def possible_point(program: Program, conditions: Sequence[int]) -> dict[str, int] | None:
    """A point at which some one-bit lines are all 1, by trying: low corners first, then at random from a fixed seed."""
    variables = [line for line in program if line.operator == "var"]
    random = Random(0)  # noqa: S311 - the same points in every run
    corners = islice(product(*(range(min(line.number, 3)) for line in reversed(variables))), TRIES)
    for values in corners:
        point = {line.name: value for line, value in zip(reversed(variables), values, strict=True)}
        if _holds(program, conditions, point):
            return dict(sorted(point.items()))
    for _ in range(TRIES):
        point = {line.name: random.randrange(line.number) for line in variables}
        if _holds(program, conditions, point):
            return dict(sorted(point.items()))
    return None


def _holds(program: Program, conditions: Sequence[int], point: Mapping[str, int]) -> bool:
    values = evaluate(program, point)
    return all(values[place] for place in conditions)

"""Which iterations of an access exist.

An unbounded loop ends where an expression of some thread leaves C's range. An iteration is one value
of every loop. It exists for all threads of the block or for none. Most unbounded loops have a simple
end: below some value no thread overflows, and from this value on one thread always does. Other cases
are expressed by a condition on the loop variables to which every thread contributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.c_ast import VALUE_MAX, VALUE_MIN
from swzverify.ir.c_formula import CFormula
from swzverify.ir.expr import TRUE, Expr, conjunction, postorder
from swzverify.ir.formula import Reading
from swzverify.ir.integers import Integer
from swzverify.subjects import access_names as names
from swzverify.subjects.loop import ANY_LIMIT
from swzverify.subjects.plain_access import threads_that_leave
from swzverify.subjects.stated_access import StatedAccess

MAX_WITNESSES = 6
"""Threads of which it is tried whether one of them ends a loop."""
MAX_CONDITION_NODES = 50_000
"""Of the condition that all threads make together; Z3 would take minutes for more."""


@dataclass(frozen=True, slots=True)
class Iterations:
    """How far each loop goes, and whether every iteration within that exists.

    `limits` count iterations from 0 on; 0 stands for a loop that never runs. `ended_by` has for an
    unbounded loop the thread that overflows at its limit and at every value beyond; a loop that
    goes as far as C's range is not in it.
    """

    limits: tuple[int, ...]
    all_exist: bool = True
    ended_by: tuple[tuple[str, int], ...] = ()


def iterations(access: StatedAccess) -> Iterations:
    """How far an access's loops go.

    Errors are those of `existence`.
    """
    limits = [ANY_LIMIT if loop.count is None else loop.count for loop in access.loops]
    unbounded = [index for index, loop in enumerate(access.loops) if loop.is_unbounded]
    if 0 in limits or not unbounded:
        return Iterations(tuple(limits))
    safe = _safe_limit(access, unbounded[0], limits) if len(unbounded) == 1 else 0
    ended_by: list[tuple[str, int]] = []
    for index in unbounded:
        end = _end(access, index, limits, safe)
        if end is not None:
            limits[index], thread = end
            ended_by.append((access.loops[index].name, thread))
    all_exist = 0 in limits or limits[unbounded[0]] == safe or existence(access, limits, limits) is TRUE
    return Iterations(tuple(limits), all_exist, tuple(ended_by))


def last_active(access: StatedAccess, limits: Sequence[int]) -> dict[str, int]:
    """For each unbounded loop, the iteration after which intervals show that no lane is active.

    Loops without such an iteration are left out. The result is a guess for claims that count iterations;
    they prove what they do with it.
    """
    found: dict[str, int] = {}
    conditions = [*access.assume, *(() if access.predicate is None else (access.predicate,))]
    fixed = names.constants(access) | names.threads(access)
    for loop, limit in zip(access.loops, limits, strict=True):
        if not loop.is_unbounded or not conditions or limit == 0:
            continue

        def is_idle(first: int, name: str = loop.name) -> bool:
            env = fixed | names.loops(access, limits, first={name: first})
            return any(_is_false(each, Reading(env, leaving=[])) for each in conditions)

        first_idle = _last(lambda first, idle=is_idle: first == 0 or not idle(first - 1), limit)
        if is_idle(first_idle):
            found[loop.name] = first_idle
    return found


def _is_false(condition: CFormula, reading: Reading) -> bool:
    try:
        value = condition.lowered(reading)
    except SwzError:
        return False
    return value.low == value.high == 0


def existence(access: StatedAccess, limits: Sequence[int], room: Sequence[int]) -> Expr:
    """Whether no thread leaves the range, over loop variables that go as far as `room`.

    Raises:
        SwzError: SWZ206 if that condition would be too large; those of a thread's expressions.
    """
    loops = names.constants(access) | names.loops(access, limits, room)
    conditions: dict[Expr, None] = {}
    for tid in range(access.threads):
        found, error = _values(access, {**loops, **names.one_thread(access, tid)}, limits, tid)
        if error is not None:
            raise error
        conditions |= {_in_range(value): None for value in found if not _stays(value)}
        if len(postorder(*conditions)) > MAX_CONDITION_NODES:
            raise SwzError(
                "SWZ206",
                f"access {access.name}: which iterations of its unbounded loops exist depends on too many threads",
                hint="give the loops a bound, or keep values small with % or &",
            )
    return conjunction(conditions)


def _in_range(value: Integer) -> Expr:
    """Whether a value lies in C's range, -2^31 .. 2^32 - 1."""
    above = ints.less_equal(ints.integer(VALUE_MIN), value)
    return conjunction([ints.truth(above), ints.truth(ints.less_equal(value, ints.integer(VALUE_MAX)))])


def _stays(value: Integer) -> bool:
    """Whether a value lies in C's range wherever the variables are."""
    return value.low >= VALUE_MIN and value.high <= VALUE_MAX


def _leaves(value: Integer) -> bool:
    """Whether a value lies outside C's range wherever the variables are."""
    return value.low > VALUE_MAX or value.high < VALUE_MIN


def _values(
    access: StatedAccess, env: Mapping[str, Integer], limits: Sequence[int], tid: int | None
) -> tuple[list[Integer], SwzError | None]:
    """The unbounded loops' variables and all values of the expressions that may leave C's range.

    With the first undefined operation, if there is one: then values that depend on it are missing.
    """
    found = [env[loop.name] for loop in access.loops if loop.is_unbounded]
    reading = Reading(env, lambda read: names.joint_values(access, read, limits, tid), found)
    undefined: SwzError | None = None
    for expression in access.expressions:
        try:
            expression.lowered(reading)
        except SwzError as error:
            undefined = undefined or error
    return found, undefined


def _last(holds: Callable[[int], bool], most: int) -> int:
    """The last number up to `most` at which `holds` is true.

    It must be true at 0 and become false at most once.
    """
    good, bad = 0, most + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def _safe_limit(access: StatedAccess, index: int, limits: Sequence[int]) -> int:
    """The most iterations of a loop within which intervals see that no thread leaves the range."""
    fixed = names.constants(access) | names.threads(access)

    def is_safe(count: int) -> bool:
        shorter = [count if at == index else limit for at, limit in enumerate(limits)]
        found, error = _values(access, fixed | names.loops(access, shorter), shorter, None)
        return error is None and all(_stays(value) for value in found)

    return _last(is_safe, ANY_LIMIT)


def _end(access: StatedAccess, index: int, limits: Sequence[int], safe: int) -> tuple[int, int] | None:
    """Find (iteration, thread) such that the thread overflows from that iteration of a loop on.

    This holds for all values of the other loops. `safe` iterations are known to exist: a thread that
    overflows from there on gives the exact end of the loop. None if no thread that was tried does.
    """
    if safe == ANY_LIMIT:
        return None
    loop = access.loops[index].name
    farther = [ANY_LIMIT if at == index else limit for at, limit in enumerate(limits)]
    tried: list[Callable[[int], bool]] = []
    threads: list[int] = []

    def ends_at(fixed: Mapping[str, Integer], first: int) -> bool:
        loops = names.loops(access, farther, first={loop: first})
        return any(_leaves(value) for value in _values(access, {**fixed, **loops}, farther, None)[0])

    for thread in _witnesses(access, index, safe):
        fixed = names.constants(access) | names.one_thread(access, thread)
        if ends_at(fixed, safe):
            return safe, thread
        tried.append(lambda first, fixed=fixed: not ends_at(fixed, first))
        threads.append(thread)
    ends = [(_last(goes_on, ANY_LIMIT - 1) + 1, thread) for goes_on, thread in zip(tried, threads, strict=True)]
    soonest = min(ends)
    return None if soonest[0] == ANY_LIMIT else soonest


def _witnesses(access: StatedAccess, index: int, safe: int) -> Iterator[int]:
    """Threads that may end a loop: the last, the first, then those that overflow first after `safe`."""
    tried = dict.fromkeys((access.threads - 1, 0))
    yield from tuple(tried)
    loop = access.loops[index]
    start = {each.name: each.value(0) for each in access.loops}

    def overflowing(iteration: int) -> list[int]:
        return threads_that_leave(access, {**start, loop.name: loop.value(iteration)})

    step = next((1 << power for power in range(33) if overflowing(safe + (1 << power) - 1)), None)
    if step is not None:
        soonest = safe + _last(lambda more: not more or not overflowing(safe + more - 1), step)
        yield from [tid for tid in overflowing(soonest) if tid not in tried][:MAX_WITNESSES]

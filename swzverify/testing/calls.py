"""Plain Python functions as subjects, called once for every value in plain integers.

Nothing beyond these values is claimed: what holds is `checked`, not `proved`. A function of a lane,
and of loop variables by their names, gives the byte address that the lane touches, or None if it
touches nothing. A function of an element's index gives the element's byte address. Exceptions of the
function go to the caller.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from itertools import pairwise, product
from math import prod
from typing import TypeAlias

import numpy as np

from swzverify.claims.contiguous import torn
from swzverify.claims.cost_claim import colliding, exceeds
from swzverify.claims.places import Places, numbers
from swzverify.claims.verdict import Counterexample, Measure, Outcome, Row, Verdict, WarpMeasure
from swzverify.core.words import binding_text
from swzverify.errors import SwzError
from swzverify.hardware import (
    BANK_WORD_BYTES,
    BANKS,
    LANES,
    MOST_BLOCK_THREADS,
    TARGETS,
    AccessCost,
    Instruction,
    Target,
    access_cost,
    evidence,
)
from swzverify.ir.whole import whole
from swzverify.subjects.listed_loop import AnyLoop
from swzverify.testing.layouts import Called

Addresses: TypeAlias = "list[int | None]"
_Warp: TypeAlias = "tuple[Mapping[str, int], Addresses]"
"""Where a warp is, and its lanes' addresses."""
MAX_ELEMENTS = 1 << 20
_ENGINES = ("exhaustion",)
_COLUMNS = ("lane", "address", "word", "bank")
_LARGEST = max(TARGETS.values(), key=lambda target: target.shared_bytes_per_block)
"""The bound where no target is meant."""


def addresses_of(function: Called, count: int, what: str, at: Mapping[str, int] | None = None) -> Addresses:
    """The value for each of `count` lanes or indices; loop variables are passed by their names.

    Raises:
        SwzError: SWZ806 if a value is neither an integer nor None.

    >>> addresses_of(lambda lane: 4 * lane if lane else None, 3, "lane")
    [None, 4, 8]
    >>> addresses_of(lambda lane, k: 4 * lane + k, 3, "lane", {"k": 16})
    [16, 20, 24]
    """
    __tracebackhide__ = True
    found: Addresses = []
    where = "" if not at else f" at {binding_text(at)}"
    for index in range(count):
        value = function(index, **(at or {}))
        found.append(None if value is None else _integer(value, f"{what} {index}{where}"))
    return found


def iterations_of(function: Called, loops: Sequence[AnyLoop], threads: int) -> list[dict[str, int]]:
    """The values of the loop variables in every iteration; one without any where there is no loop.

    Raises:
        SwzError: SWZ806 for a function that does not take a loop's variable, or needs one that is no
            loop's; SWZ105 for a loop without an iteration, or more than 2^20 calls.

    >>> from swzverify.subjects import Loop
    >>> iterations_of(lambda lane, k: 4 * lane + k, [Loop("k", 0, 32, 16)], 32)
    [{'k': 0}, {'k': 16}]
    """
    _check_arguments(function, [loop.name for loop in loops])
    counts = [loop.count or 0 for loop in loops]
    empty = next((loop.name for loop, count in zip(loops, counts, strict=True) if not count), "")
    if empty:
        raise SwzError("SWZ105", f"loop {empty} has no iteration", hint="range(0, 64, 16), or [1, 2, 4]")
    if prod(counts) * threads > MAX_ELEMENTS:
        message = f"{prod(counts)} iterations of {threads} threads: at most {MAX_ELEMENTS} calls are made"
        raise SwzError("SWZ105", message, hint="write it as C expressions: those are proved, however many there are")
    values = [[loop.value(index) for index in range(count)] for loop, count in zip(loops, counts, strict=True)]
    return [dict(zip((loop.name for loop in loops), each, strict=True)) for each in product(*values)]


def _check_arguments(function: Called, names: Sequence[str]) -> None:
    """Refuse a function that cannot be called with a lane and these names."""
    try:
        stated = signature(function)
    except (TypeError, ValueError):
        return  # some functions of C do not say what they take
    try:
        stated.bind(0, **dict.fromkeys(names, 0))
    except TypeError as error:
        shown = getattr(function, "__name__", type(function).__name__)
        loops = f"and the loop variable{'s' * (len(names) > 1)} {', '.join(names)}" if names else "and no loop variable"
        raise SwzError(
            "SWZ806",
            f"{shown}{stated} does not take a lane {loops}: {error}",
            hint='a loop variable is an argument of its name: lambda lane, k: ..., with loops={"k": range(0, 64, 16)}',
        ) from None


def _integer(value: object, where: str) -> int:
    """An int, or what can stand for one without loss, such as numpy's integers."""
    hint = "a byte address is an int (numpy's integers will do), None where nothing is accessed"
    if type(value).__name__ not in {"bool", "bool_"}:
        try:
            return operator.index(value)  # pyright: ignore[reportArgumentType]  # what cannot be one raises
        except TypeError:
            hint += "; divide with //, not with /" if isinstance(value, float) else ""
    raise SwzError(
        "SWZ806", f"{where} has the address {value!r} ({type(value).__name__}), which is no integer", hint=hint
    )


def _check_inside(addresses: Addresses, what: str, target: Target | None = None) -> None:
    """Refuse an address that no block has, such as a generic or a global one.

    A block's shared memory begins at 0; `target` is the one that is meant, None for any.

    Raises:
        SwzError: SWZ806.
    """
    chip = _LARGEST if target is None else target
    for index, address in enumerate(addresses):
        if address is not None and address >= chip.shared_bytes_per_block:
            most = f"{chip.shared_bytes_per_block} bytes of shared memory per block"
            has = f"any target has at most {most}" if target is None else f"{chip.name} has {most}"
            raise SwzError(
                "SWZ806",
                f"{what} {index} has the address {address}, but {has}",
                hint="give addresses within shared memory, which begins at 0",
            )


def cost_of_call(
    function: Called,
    instruction: Instruction,
    target: Target,
    block: tuple[int, ...],
    at_most: int | None,
    loops: Sequence[AnyLoop] = (),
) -> Verdict:
    """The cost of a function's addresses per warp; without `at_most` no conflict is allowed."""
    __tracebackhide__ = True
    threads = prod(block)
    if not 1 <= threads <= MOST_BLOCK_THREADS:
        raise SwzError("SWZ105", f"a block of {threads} threads; 1 to {MOST_BLOCK_THREADS}")
    if instruction.warp_wide and threads % LANES:
        raise SwzError(
            "SWZ406",
            f"{instruction.name} needs all 32 lanes of every warp, but there are {threads} threads",
            hint=f"threads={-(-threads // LANES) * LANES}",
        )
    what = "lane" if threads <= LANES else "thread"
    runs = iterations_of(function, loops, threads)
    warps: list[_Warp] = []
    for at in runs:
        warps += _warps(function, instruction, target, threads, what, at)
    known = evidence(target, instruction)
    counted = f"{threads} lanes" if threads <= LANES else f"{threads} threads in {-(-threads // LANES)} warps"
    counted += f" in {len(runs)} iterations" if loops else ""
    reason = f"checked exhaustively for {counted}, not proved for other bases"
    bare = Verdict(
        Outcome.CHECKED, f"{reason}; {instruction.name} on {target.name} ({known})", _ENGINES, str(known), reason
    )
    if all(address is None for _, addresses in warps for address in addresses):
        return _with(bare, Outcome.VACUOUS, "no lane accesses anything")
    for where, addresses in warps:
        wrong = _impossible(addresses, instruction)
        if wrong:
            note, lanes = wrong
            table = _lanes(addresses, {"warp": 0, **where}, note, dict.fromkeys(lanes, "x"))
            return _with(bare, Outcome.REFUTED, note, table)
    return _judged(bare, [access_cost(instruction, each, target) for _, each in warps], warps, at_most)


def _warps(
    function: Called, instruction: Instruction, target: Target, threads: int, what: str, at: Mapping[str, int]
) -> list[_Warp]:
    """The warps of one iteration, each with its place."""
    __tracebackhide__ = True
    found = addresses_of(function, threads, what, at)
    # The instruction ignores the addresses of the other lanes: they may be anything.
    used = [address if index % LANES < instruction.address_lanes else None for index, address in enumerate(found)]
    _check_inside(used, what, target)
    numbered = threads > LANES
    return [
        (
            {**({"warp": first // LANES} if numbered else {}), **at},
            [*found[first : first + LANES], *[None] * max(0, first + LANES - threads)],
        )
        for first in range(0, threads, LANES)
    ]


def _impossible(addresses: Addresses, instruction: Instruction) -> tuple[str, list[int]] | None:
    """Why no warp can run this: a negative or misaligned address, or none where one is needed."""
    for lane, address in enumerate(addresses[: instruction.address_lanes]):
        width = instruction.width_bytes
        if address is None:
            if instruction.warp_wide:
                return f"{instruction.name} needs an address of every lane, lane {lane} has none", [lane]
        elif address < 0:
            return f"lane {lane} has the negative address {address}", [lane]
        elif address % width:
            bad = [i for i, each in enumerate(addresses) if each is not None and each % width]
            return f"lane {lane} has address {address}, not a multiple of {width}: {instruction.name} faults", bad
    return None


def _judged(bare: Verdict, costs: Sequence[AccessCost], warps: Sequence[_Warp], at_most: int | None) -> Verdict:
    """The verdict by the warp that is worst by the measure which the limit is about."""

    def largest(rank: Callable[[AccessCost], tuple[int, int]]) -> int:
        return max(range(len(costs)), key=lambda warp: (rank(costs[warp]), -warp))

    most = largest(lambda cost: (cost.wavefronts, cost.bank_conflicts))
    worst = largest(lambda cost: (cost.bank_conflicts, cost.wavefronts))
    cases = [WarpMeasure(costs[warp].wavefronts, costs[warp].minimum, warps[warp][0]) for warp in (most, worst)]
    measure = Measure(cases[0], cases[1])
    warp = worst if at_most is None else most
    cost, (where, addresses) = costs[warp], warps[warp]
    if not exceeds(cost, at_most):
        return _with(bare, bare.outcome, bare.reason, measure=measure)
    allowed = f"instead of {cost.minimum}" if at_most is None else f"where at most {at_most} are allowed"
    note = f"{cost.instruction.name} takes {cost.wavefronts} wavefronts {allowed}"
    marks, why = colliding(cost, addresses)
    note += f"; {why}" if why else ""
    return _with(bare, Outcome.REFUTED, note, _lanes(addresses, where, note, marks), measure)


def _lanes(addresses: Addresses, where: Mapping[str, int], note: str, marks: Mapping[int, str]) -> Counterexample:
    rows: list[Row] = []
    for lane, address in enumerate(addresses):
        word = None if address is None or address < 0 else address // BANK_WORD_BYTES
        cells = (lane, address, word, None if word is None else word % BANKS)
        rows.append(Row(cells, marks.get(lane, "")))
    return Counterexample(where, note, _COLUMNS, tuple(rows))


def elements_of_call(function: Called, size: int, element_bits: int) -> tuple[list[int], int, Verdict]:
    """Byte addresses of the elements, each with one, an element's bytes, and a bare verdict."""
    __tracebackhide__ = True
    if element_bits < 1 or element_bits % 8:
        raise SwzError("SWZ105", f"element_bits={element_bits}: a function gives byte addresses, so whole bytes")
    size = whole(size) or 0
    if not 1 <= size <= MAX_ELEMENTS:
        raise SwzError("SWZ105", f"size={size}: 1 to {MAX_ELEMENTS} elements")
    found: list[int] = []
    for index, address in enumerate(addresses_of(function, size, "element")):
        if address is None or address < 0:
            hint = "each element has a byte address, which is at least 0"
            raise SwzError("SWZ806", f"element {index} has the address {address}", hint=hint)
        found.append(address)
    _check_inside([*found], "element")
    reason = f"checked exhaustively for {size} elements, not proved for other bases"
    return found, element_bits // 8, Verdict(Outcome.CHECKED, reason, _ENGINES, reason=reason)


def bijective_call(function: Called, size: int, element_bits: int) -> Verdict:
    """Whether the elements fill one run of bytes, each byte once."""
    __tracebackhide__ = True
    found, width, bare = elements_of_call(function, size, element_bits)
    order = sorted(range(size), key=lambda index: found[index])
    for one, other in pairwise(order):
        gap = found[other] - found[one] - width
        if gap:
            what = "share bytes" if gap < 0 else f"leave a gap of {gap} bytes"
            note = f"elements {one} and {other} at {found[one]} and {found[other]} {what}"
            rows = tuple(Row((index, found[index]), "x") for index in (one, other))
            return _with(bare, Outcome.REFUTED, note, Counterexample({}, note, ("element", "address"), rows))
    return bare


def contiguous_call(function: Called, size: int, element_bits: int, elements: int) -> Verdict:
    """Whether aligned vectors stay whole, the first element at a multiple of the vector's bytes."""
    __tracebackhide__ = True
    if elements < 1:
        raise SwzError("SWZ105", f"contiguous: vectors of {elements} elements; at least 1")
    found, width, bare = elements_of_call(function, size, element_bits)
    if size < elements:
        return _with(bare, Outcome.VACUOUS, f"{size} elements: no vector of {elements} fits")
    vectors = 8 * np.asarray(found[: size // elements * elements]).reshape(-1, elements)
    bad = numbers(torn(Places(vectors, 8 * width)))
    if not bad:
        return bare
    item = bad[0] % elements
    first = bad[0] - item
    where = f"{found[first] + item * width}" if item else f"a multiple of {elements * width}"
    note = f"element {bad[0]} lies at {found[bad[0]]}, not at {where}"
    vector = range(first, first + elements)
    rows = tuple(Row((index, found[index]), "x" if index in bad else "") for index in vector)
    return _with(bare, Outcome.REFUTED, note, Counterexample({}, note, ("element", "address"), rows))


def equivalent_calls(first: Called, other: Called, threads: int) -> Verdict:
    """Whether two functions of a lane give the same address, or none, for every lane."""
    __tracebackhide__ = True
    if not 1 <= threads <= MAX_ELEMENTS:
        raise SwzError("SWZ105", f"threads={threads}: 1 to {MAX_ELEMENTS} values are compared")
    sides = [addresses_of(each, threads, "lane") for each in (first, other)]
    for side in sides:
        _check_inside(side, "lane")
    reason = f"checked exhaustively for {threads} lanes, not proved for others"
    bare = Verdict(Outcome.CHECKED, reason, _ENGINES, reason=reason)
    differ = [lane for lane in range(threads) if sides[0][lane] != sides[1][lane]]
    if not differ:
        if all(address is None for address in sides[0]):
            return _with(bare, Outcome.VACUOUS, "no lane accesses anything")
        return bare
    lane = differ[0]
    note = f"lane {lane}: the first gives {sides[0][lane]}, the second {sides[1][lane]}"
    rows = tuple(Row((i, a, b), "x" if a != b else "") for i, (a, b) in enumerate(zip(*sides, strict=True)))
    table = Counterexample({}, note, ("lane", "first", "second"), rows)
    return _with(bare, Outcome.REFUTED, note, table)


def _with(
    bare: Verdict,
    outcome: Outcome,
    reason: str,
    counterexample: Counterexample | None = None,
    measure: Measure | None = None,
) -> Verdict:
    return Verdict(outcome, bare.scope, bare.engines, bare.evidence, reason, measure, counterexample)

"""What compiled code does at an access, exactly: an interpreter that shares no code with the scan must
see each lane do this, as often, and nothing else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from swzverify.compiled.kernel import KernelAccess, accesses
from swzverify.compiled.kernel.arithmetic import bit_and
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import stated as module
from swzverify.compiled.scan.stated import Stated, read_accesses, stated_at
from swzverify.compiled.scan.unwrapped import NotWrittenError
from swzverify.ir.expr import const
from tests.kernel.differential import Event, coordinates, watched
from tests.kernel.planted_paths import forget_joins
from tests.kernel.programs import program
from tests.kernel.test_programs import SHAPES, WIDE
from tests.kernel.traps import BODIES, text_of
from tests.oracle import c_expr
from tests.ptx_oracle import launch
from tests.ptx_oracle.spaces import SHARED_BASE

Seen = Counter[tuple[int, int]]


def expected(found: Stated, shape: tuple[int, int, int]) -> Seen:
    """(thread, address) as often as the texts say."""
    threads = shape[0] * shape[1] * shape[2]
    result: Seen = Counter()
    for trips in product(*(range(loop.count) for loop in found.loops)):
        for thread in range(threads):
            place = coordinates(thread % 32, thread // 32, shape)
            names = {f"tid_{axis}": place[f"tid.{axis}"] for axis in "xyz"} | {"lane": thread % 32}
            names |= {loop.name: trip for loop, trip in zip(found.loops, trips, strict=True)}
            columns = {name: [value] for name, value in names.items()}
            if found.condition and not c_expr.evaluate(c_expr.parse(found.condition.text), columns, 1)[0]:
                continue
            result[thread, c_expr.evaluate(c_expr.parse(found.address.text), columns, 1)[0]] += 1
    return result


def compared(text: str, shape: tuple[int, int, int], number: int, seed: int = 1) -> tuple[int, int]:
    """(accesses that are stated, those of them in loops that count); an AssertionError for a wrong one."""
    code = read_module(text, "k.ptx")
    kernel = code.function("k")
    assert kernel is not None
    with watched() as events:
        result = launch(text, "k", [1], shape, 0, [number, WIDE], seed, steps=3000)
    if result.error:
        return 0, 0
    told = looping = 0
    found = accesses(code, kernel, shape)
    for access in found:
        try:
            one = stated_at(read_accesses(code, kernel, shape), access.site.line, shape)
        except NotWrittenError:
            continue
        seen: Seen = Counter(
            (32 * event.warp + lane, address - SHARED_BASE)
            for event in events
            if event.line == access.site.line
            for lane, address in event.lanes
        )
        wanted = expected(one, shape)
        if len(access.who.loops) == len(one.loops):
            assert seen == wanted, (access.site.line, one)
        else:
            assert set(seen) == set(wanted), (access.site.line, one)
            if not one.loops:
                assert_same_lanes_each_time(access.site.line, events, wanted)
        told, looping = told + 1, looping + bool(one.loops)
    return told, looping


def assert_same_lanes_each_time(line: int, events: list[Event], wanted: Seen) -> None:
    """An access that loops repeat is made by the same lanes, as often by each of a warp."""
    lanes: dict[int, Counter[int]] = {}
    for event in events:
        if event.line == line:
            lanes.setdefault(event.warp, Counter()).update(lane for lane, _ in event.lanes)
    for warp, counts in lanes.items():
        assert set(counts) == {thread % 32 for thread, _ in wanted if thread // 32 == warp}, line
        assert len(set(counts.values())) <= 1, line


def all_of(seeds: range) -> tuple[int, int]:
    told = looping = 0
    for seed in seeds:
        one = compared(program(seed, 3), SHAPES[seed % len(SHAPES)], seed % 7, seed)
        told, looping = told + one[0], looping + one[1]
    return told, looping


@pytest.mark.nightly
def test_random_kernels_do_what_is_said() -> None:
    told, looping = all_of(range(24, 27))
    assert told > 12
    assert looping > 2


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(27, 627, 20))
def test_many_random_kernels_do_what_is_said(start: int) -> None:
    all_of(range(start, start + 20))


@pytest.mark.parametrize("name", BODIES)
def test_traps(name: str) -> None:
    compared(text_of(BODIES[name]), (16, 4, 1), 3)


REPEATED = "L:\nmov.u32 %r7, pool;\nmad.lo.u32 %r6, %r0, 8, %r7;\nst.shared.u32 [%r6], %r0;\nadd.u32 %r4, %r4, 1;\n"
REPEATED += "setp.lt.u32 %p1, %r4, {0};\n@%p1 bra L;"
"""One place again and again."""
COUNTED = "L:\nmad.lo.u32 %r6, %r4, 64, %r0;\nshl.b32 %r6, %r6, 2;\nmov.u32 %r7, pool;\nadd.u32 %r6, %r6, %r7;\n"
COUNTED += "st.shared.u32 [%r6+64], %r0;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, {0};\n@%p1 bra L;"
GUARDED = "mov.u32 %r7, pool;\nshl.b32 %r6, %r0, 3;\nadd.u32 %r6, %r6, %r7;\nsetp.lt.u32 %p1, %r1, 2;\n"
GUARDED += "@%p1 st.shared.u32 [%r6], %r0;"
BY_PARAMETER = "mov.u32 %r7, pool;\nshl.b32 %r6, %r0, 3;\nadd.u32 %r6, %r6, %r7;\nsetp.eq.u32 %p1, %r2, 3;\n"
BY_PARAMETER += "@%p1 st.shared.u32 [%r6], %r0;"


def one(body: str) -> Stated:
    code = read_module(text_of(body), "k.ptx")
    kernel = code.function("k")
    assert kernel is not None
    (access,) = accesses(code, kernel, (16, 4, 1))
    return stated_at(read_accesses(code, kernel, (16, 4, 1)), access.site.line, (16, 4, 1))


def test_a_counted_loop() -> None:
    found = one(COUNTED.format(5))
    assert [loop.count for loop in found.loops] == [5]
    assert (found.array, found.align_bytes, found.condition) == ("pool", 16, None)
    assert compared(text_of(COUNTED.format(5)), (16, 4, 1), 3) == (1, 1)


def test_lanes_that_take_part() -> None:
    assert str(one(GUARDED).condition) == "tid_y < 2"
    assert compared(text_of(GUARDED), (16, 4, 1), 3) == (1, 0)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (COUNTED.format("%r0"), "the loop at line"),
        (COUNTED.format("%r2"), "the loop at line"),
        (BY_PARAMETER, r"it depends on \w+$"),
        (REPEATED.format("%r0"), "lanes may leave the loop"),
        (BODIES["a load at an address of each lane"], r"it depends on [\w.]+ at line \d+$"),
    ],
)
def test_what_is_not_known_exactly_is_not_stated(body: str, reason: str) -> None:
    code = read_module(text_of(body), "k.ptx")
    kernel = code.function("k")
    assert kernel is not None
    last = accesses(code, kernel, (16, 4, 1))[-1]
    with pytest.raises(NotWrittenError, match=reason):
        stated_at(read_accesses(code, kernel, (16, 4, 1)), last.site.line, (16, 4, 1))


def of_own_bodies() -> int:
    bodies = (
        COUNTED.format(5),
        COUNTED.format("%r0"),
        COUNTED.format("%r1"),
        *map(REPEATED.format, (3, "%r0", "%r2")),
        GUARDED,
        BY_PARAMETER,
        *BODIES.values(),
    )
    return sum(compared(text_of(body), (16, 4, 1), 3)[0] for body in bodies)


def test_own_bodies() -> None:
    assert of_own_bodies() >= 12


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("conjuncts", lambda _: ()),
        ("_follows", lambda _condition, _name, trips, _block: [True] * (len(trips) - 1) + [False]),
        ("normal", lambda value: bit_and(normal(value), const(0xFFF0, 32))),
        ("_count", lambda _loop, leaf, _block: len(leaf.values or ()) + 1),
    ],
    ids=["lanes that do not count", "lanes that leave when they like", "bits of an address", "one trip more"],
)
def test_a_planted_mistake_is_found(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(AssertionError):
        of_own_bodies()


def test_loops_that_lanes_leave_taken_for_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    original = module._stated

    def together(access: KernelAccess) -> KernelAccess:
        loops = tuple(replace(each, is_uniform=True) for each in access.who.loops)
        return replace(access, who=replace(access.who, loops=loops))

    monkeypatch.setattr(module, "_stated", lambda access, block: original(together(access), block))
    with pytest.raises(AssertionError):
        of_own_bodies()


@pytest.mark.nightly
def test_ways_that_may_not_lead_there_taken_for_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_joins(monkeypatch)
    with pytest.raises(AssertionError):
        of_own_bodies()

"""Values of a launch: no verdict is about a launch that cannot be, and every conflict is met."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from swzverify.compiled.kernel import LaneLeaf, accesses, evaluate, special
from swzverify.compiled.kernel.opcodes import comparisons
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import collide, cost_goal, mixed, samples, surely
from swzverify.compiled.scan.verdict import Decision
from swzverify.ir.expr import const, variables
from tests.nightly import counts
from tests.ptx_oracle import Access
from tests.ptx_oracle.launch import Launch
from tests.scan.launch_programs import program
from tests.scan.texts import last
from tests.scan.whole import scan_module

pytestmark = pytest.mark.usefixtures("without_trials")

FAR = "shl.b32 %r7, %r1, 7; add.u32 %r20, %r3, %r7; @%p1 ld.shared.u32 %r30, [%r20];"
STRIDED = "mul.lo.u32 %r5, %r4, %r1; shl.b32 %r5, %r5, 2; add.u32 %r20, %r5, %r3; ld.shared.u32 %r30, [%r20];"


def said(body: str) -> Decision:
    return last(body).decision


def is_never_made(body: str) -> bool:
    return said(body).reason == "no lane makes this access"


# ---- one parameter in two widths


TWO_WIDTHS = "ld.param.u16 %h1, [n]; cvt.u32.u16 %r4, %h1; and.b32 %r5, %r2, 65535; sub.u32 %r4, %r5, %r4;"


def test_two_reads_of_a_parameter_have_the_same_bytes() -> None:
    assert said(f"{TWO_WIDTHS} add.u32 %r4, %r4, 1; {STRIDED}").verdict == "free"
    assert is_never_made(f"{TWO_WIDTHS} setp.ne.u32 %p1, %r4, 0; {FAR}")


@pytest.mark.parametrize(
    "reads",
    [
        "ld.param.u64 %d1, [q]; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r4, %d1; ld.param.u32 %r5, [q+4];",
        "ld.param.v2.u32 {%r6, %r4}, [q]; ld.param.u64 %d1, [q]; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r5, %d1;",
        "mov.u64 %d2, q; ld.param.u8 %r4, [%d2+5]; ld.param.u16 %r5, [q+4]; shr.u32 %r5, %r5, 8;",
        "mov.u64 %d2, q; ld.param.u32 %r4, [%d2+4]; ld.param.u64 %d1, [%d2];"
        " shr.u64 %d1, %d1, 32; cvt.u32.u64 %r5, %d1;",
    ],
)
def test_parts_of_a_wide_parameter(reads: str) -> None:
    """By fields, by vectors, and through an address in a register."""
    assert is_never_made(f"{reads} setp.ne.u32 %p1, %r4, %r5; {FAR}")
    assert said(f"{reads} setp.ne.u32 %p1, %r4, 77; {FAR}").verdict == "conflict"


# ---- registers of the launch


@pytest.mark.parametrize(
    "condition",
    [
        "mov.u32 %r4, %ctaid.z; setp.eq.u32 %p1, %r4, 70000;",
        "mov.u32 %r4, %ctaid.y; setp.gt.u32 %p1, %r4, 65534;",
        "mov.u32 %r4, %nctaid.x; setp.eq.u32 %p1, %r4, 0;",
        "mov.u32 %r4, %nctaid.x; setp.lt.s32 %p1, %r4, 0;",
        "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %nctaid.x; setp.ge.u32 %p1, %r4, %r5;",
        "mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %cluster_nctarank; setp.ge.u32 %p1, %r4, %r5;",
        "mov.u32 %r4, %clusterid.x; mov.u32 %r5, %ctaid.x; setp.gt.u32 %p1, %r4, %r5;",
        "mov.u32 %r4, %warpid; setp.eq.u32 %p1, %r4, 100;",
        "mov.u32 %r4, %dynamic_smem_size; setp.eq.u32 %p1, %r4, 5000000;",
    ],
)
def test_no_launch_has_such_values(condition: str) -> None:
    assert is_never_made(condition + FAR)


def test_the_address_and_the_guard_are_of_one_launch() -> None:
    """The guard reads the place, and the address the extent, which is then 33 or more."""
    body = "mov.u32 %r5, %ctaid.x; setp.gt.u32 %p1, %r5, 31; mov.u32 %r4, %nctaid.x; setp.lt.u32 %p2, %r4, 20;"
    body += "selp.b32 %r4, 32, 1, %p2; mul.lo.u32 %r5, %r4, %r1; shl.b32 %r5, %r5, 2; add.u32 %r20, %r5, %r3;"
    assert said(body + "@%p1 ld.shared.u32 %r30, [%r20];").verdict == "free"


def test_some_launches_have_such_values() -> None:
    for register, number in (("ctaid.z", 65534), ("ctaid.x", 0x7FFFFFFD), ("nctaid.x", 1), ("nctaid.y", 65535)):
        condition = f"mov.u32 %r4, %{register}; setp.eq.u32 %p1, %r4, {number};"
        assert (said(condition + FAR).verdict, said(condition + FAR).ways) == ("conflict", 32), register


def test_the_extent_of_the_grid_is_the_launches_choice() -> None:
    found = said("mov.u32 %r4, %nctaid.x;" + STRIDED)
    assert (found.verdict, found.parameters) == ("depends", ("nctaid.x",))


def test_the_place_of_a_block_depends_on_the_launch_too() -> None:
    """The first block has no conflict, and a launch may have no other block."""
    found = said("mov.u32 %r4, %ctaid.x;" + STRIDED)
    assert (found.verdict, found.parameters) == ("depends", ("ctaid.x",))


def test_a_conflict_of_the_first_block_is_one_of_every_launch() -> None:
    found = said("mov.u32 %r4, %ctaid.x; add.u32 %r4, %r4, 32;" + STRIDED)
    assert (found.verdict, found.ways, found.at_least) == ("conflict", 32, True)


# ---- narrow accesses in loops


def narrow(access: str, lanes: str, begin: int) -> Decision:
    """A first trip of a loop in a loop at a stride of `begin` / 2 bytes, from 2n bytes on."""
    return said(
        f"mov.u32 %r5, {begin}; shl.b32 %r12, %r2, 1; add.u32 %r12, %r12, %r3; {lanes} L: shr.u32 %r6, %r5, 1;"
        f" I: mul.lo.u32 %r11, %r6, %r1; add.u32 %r20, %r11, %r12; @%p3 {access} shr.u32 %r6, %r6, 1;"
        " setp.gt.u32 %p2, %r6, 1; @%p2 bra I; shl.b32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r2; @%p1 bra L;"
    )


HALF = "ld.shared.u16 %h1, [%r20];"
TWO_LANES = "setp.lt.u32 %p3, %r1, 2;"
NEXT_LANES = "sub.u32 %r13, %r1, 1; setp.lt.u32 %p3, %r13, 2;"


def test_a_conflict_of_even_numbers_is_not_one_of_all() -> None:
    """Bytes 2n and 2n + 130 are in one bank for even n, and in neighbouring banks for odd n."""
    assert narrow(HALF, TWO_LANES, 260).verdict == "unknown"


def test_a_conflict_of_odd_numbers_is_no_fault() -> None:
    """Bytes 2n + 130 and 2n + 260: one bank for odd n alone."""
    found = narrow(HALF, NEXT_LANES, 260)
    assert (found.verdict, "engines disagree" in found.reason) == ("unknown", False)


def test_a_conflict_wherever_the_array_starts() -> None:
    found = narrow(HALF, "setp.lt.u32 %p3, %r1, 32;", 512)
    assert (found.verdict, found.ways) == ("conflict", 32)


# ---- a choice of spaces


CHOSEN = (
    "mov.u64 %d2, s; cvta.shared.u64 %d3, %d2; setp.lt.u32 %p1, %r2, 5; mul.wide.u32 %d5, %r1, 4;"
    " add.u64 %d3, %d3, %d5; mul.wide.u32 %d5, %r1, 128; ld.param.u64 %d1, [q]; add.u64 %d1, %d1, %d5;"
    " selp.b64 %d4, %d3, %d1, %p1; isspacep.shared{} %p2, %d4; cvta.to.shared.u64 %d6, %d4;"
    " @{}%p2 ld.shared.u32 %r9, [%d6];"
)


def test_a_generic_address_that_is_asked_for_its_space() -> None:
    assert said(CHOSEN.format("", "")).verdict == "free"
    assert said(CHOSEN.format("::cta", "")).verdict == "free"
    assert said(CHOSEN.format("", "!")).verdict != "free"


# ---- values that exclude each other


def test_a_negative_float_is_less_than_0() -> None:
    assert said(f"setp.lt.f32 %p1, 0fBF800000, 0f00000000; {FAR}").verdict == "conflict"
    assert is_never_made(f"setp.ge.f32 %p1, 0fBF800000, 0f00000000; {FAR}")


LOADED = "ld.param.u64 %d1, [q]; ld.global.f32 %f1, [%d1];"
EXCLUDED = (
    ".reg .f32 %f<9>; " + LOADED + " {} setp.lt.f32 %p1, %f1, {}; setp.{}.f32 %p2, {}, {};"
    " setp.eq.u32 %p3, %r1, 0; and.pred %p4, %p1, %p3; setp.eq.u32 %p5, %r1, 1; and.pred %p6, %p2, %p5;"
    " or.pred %p1, %p4, %p6;"
) + FAR
ROOTS = "sqrt.approx.f32 %f2, %f1; ex2.approx.f32 %f1, %f1;"


def test_comparisons_of_one_float_exclude_each_other() -> None:
    """Lane 0 comes if f < 5, lane 1 if f >= 5."""
    five, six = "0f40A00000", "0f40C00000"
    assert said(EXCLUDED.format("", five, "ge", "%f1", five)).verdict == "free"
    assert said(EXCLUDED.format("", six, "gt", "%f1", five)).ways == 2
    assert said(EXCLUDED.format("", six, "geu", "%f1", six)).verdict == "free"


def test_what_a_rounded_number_cannot_be_is_no_conflict() -> None:
    """No whole number is between 5 and 6; the scan does not compute the conversion."""
    converted = EXCLUDED.replace(LOADED, "cvt.rn.f32.u32 %f1, %r2;")
    assert said(converted.format("", "0f40C00000", "gt", "%f1", "0f40A00000")).verdict == "unknown"


def test_two_results_that_are_not_computed_are_no_conflict() -> None:
    """The root of n and its power may exclude each other, as they do for these limits."""
    found = said(EXCLUDED.format(ROOTS, "0f40A00000", "gt", "%f2", "0f42C80000"))
    assert found.verdict == "unknown"
    assert found.reason.startswith(surely.NOT_SURE)


# ---- against the interpreter


GRIDS = ((1, 1, 1), (2, 1, 3), (5, 1, 1), (1, 4, 1))
NUMBERS = (0, 1, 2, 3, 5, 64, 0x101, 0x303, 0x20002, 70000, 0x1FFFF, 0xFF00FF)
MORE = 4000
"""Launches of one block that are searched for what the first ones do not show."""
EXTENTS = (1, 1, 1, 2, 3, 4, 5, 6, 8, 16, 17, 32, 33, 40)
BYTES = (0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 33, 64, 255)
SHAPE = (64, 1, 1)
Met = dict[int, set[int]]
"""The ways of each access, by lines."""


def held(seeds: Sequence[int], make: Callable[[int], str] = program) -> Counter[str]:
    """Hold the verdicts of some programs against launches."""
    total: Counter[str] = Counter()
    for seed in seeds:
        text = make(seed)
        module = read_module(text, "k.ptx")
        found = scan_module(module, SHAPE)
        # Under a condition on the launch a conflict is one of some launches only.
        always = {
            each.site.line
            for each in accesses(module, module.functions[0], SHAPE)
            if all(isinstance(leaf, LaneLeaf) for leaf in each.leaves if leaf.variable in variables(each.who.guard))
        }
        met: Met = {}
        for grid in GRIDS:
            for number in NUMBERS:
                _run(text, met, grid, number)
        source = random.Random(seed)
        for _ in range(MORE):
            if all(_is_met(each.decision, met.get(each.line, set())) for each in found):
                break
            grid = tuple(source.choice(EXTENTS) for _ in "xyz")
            if source.random() < 0.1:
                grid = source.choice(((65535, 1, 1), (70002, 1, 1), (70001, 1, 1), (1, 65535, 1), (1, 1, 65535)))
            number = int.from_bytes(bytes(source.choice(BYTES) for _ in range(4)), "little") >> source.choice(
                (0, 0, 8, 16, 24)
            )
            _run(text, met, grid, number, tuple(source.choice((source.randrange(each), each - 1)) for each in grid))
        for each in found:
            where = (seed, each.line, each.instruction, each.address, each.decision)
            assert "disagree" not in each.decision.reason, where
            _compare(each.decision, met.get(each.line, set()), where)
            total["not met"] += not _is_met(each.decision, met.get(each.line, set()))
            if each.line in always and each.decision.verdict == "conflict":
                assert min(met[each.line]) > 1, where
            total[each.decision.verdict.value] += 1
    return total


def _run(text: str, met: Met, grid: tuple[int, ...], number: int, only: tuple[int, ...] | None = None) -> None:
    result = Launch(text, "k").run((grid, SHAPE), 0, {0: number, 1: number << 32}, only=only)
    assert not result.error, result.error
    for access in result.accesses:
        met.setdefault(access.line, set()).update(_ways(access))


def _ways(access: Access) -> set[int]:
    return {access.ways} if access.executions else set()


def _is_met(decision: Decision, met: set[int]) -> bool:
    """Whether some launch has the conflict, and another one has none if the verdict says so."""
    if decision.verdict not in ("conflict", "depends"):
        return True
    is_free_somewhere = decision.verdict == "conflict" or min(met, default=2) <= 1
    return max(met, default=0) > 1 and is_free_somewhere


def _compare(decision: Decision, met: set[int], where: object) -> None:
    most = max(met, default=0)
    assert decision.verdict != "conflict" or _is_met(decision, met), where
    assert decision.verdict != "free" or most <= 1, where
    assert decision.reason != "no lane makes this access" or not met, where
    if decision.verdict == "conflict" and not decision.at_least:
        assert most <= (decision.ways or 1), where


@pytest.mark.parametrize("count", counts(5, 8))
def test_launches_are_no_worse_than_what_is_said_and_have_each_conflict(count: int) -> None:
    total = held(range(count))
    assert all(total[each] > 0 for each in ("free", "conflict", "depends")), total
    assert total["not met"] == 0, total


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(8, 2008, 50))
def test_many_launches(start: int) -> None:
    """What depends on the launch may need a parameter of a few values among 2^32, which no draw meets."""
    assert held(range(start, start + 50))["not met"] <= 2


# ---- planted mistakes


def other_bytes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(evaluate, "_pieces", lambda _: {})


def no_limits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(special, "_LIMITS", dict.fromkeys(special._LIMITS, 1 << 32))


def no_facts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(collide, "launch_facts", lambda _: [])


def no_facts_in_costs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cost_goal, "known_of", lambda *_: [])


def extents_run(patch: pytest.MonkeyPatch) -> None:
    runs = samples._runs
    patch.setattr(samples, "_runs", lambda leaf: runs(leaf) or "ctaid" in leaf.name)


def no_first_block(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(mixed, "_first_block", lambda _: None)


def one_place(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(mixed, "in_each_place", lambda question, decide: decide(question))


def spaces_unasked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(evaluate, "_IS_SHARED", re.compile("(?!)"))


def nothing_related(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(surely, "_is_chosen", lambda *_: True)


def floats_without_signs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(comparisons, "is_negative", lambda _: const(0, 1))


PLANTED: list[tuple[Callable[[pytest.MonkeyPatch], None], Callable[[], None]]] = [
    (other_bytes, test_two_reads_of_a_parameter_have_the_same_bytes),
    (no_limits, lambda: test_no_launch_has_such_values("mov.u32 %r4, %ctaid.z; setp.eq.u32 %p1, %r4, 70000;")),
    (no_facts, lambda: test_no_launch_has_such_values("mov.u32 %r4, %nctaid.x; setp.eq.u32 %p1, %r4, 0;")),
    (no_facts_in_costs, test_the_address_and_the_guard_are_of_one_launch),
    (extents_run, test_the_extent_of_the_grid_is_the_launches_choice),
    (extents_run, test_the_place_of_a_block_depends_on_the_launch_too),
    (no_first_block, test_a_conflict_of_the_first_block_is_one_of_every_launch),
    (one_place, test_a_conflict_of_even_numbers_is_not_one_of_all),
    (spaces_unasked, test_a_generic_address_that_is_asked_for_its_space),
    (nothing_related, test_what_a_rounded_number_cannot_be_is_no_conflict),
    (floats_without_signs, test_a_negative_float_is_less_than_0),
]


@pytest.mark.parametrize(("plant", "test"), PLANTED, ids=[each[0].__name__ for each in PLANTED])
def test_a_planted_mistake_is_found(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None], test: Callable[[], None]
) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        test()


# Each of these mistakes is found by a test of its own above, too.
@pytest.mark.nightly
@pytest.mark.parametrize(("plant", "seed"), [(nothing_related, 6), (one_place, 5), (other_bytes, 33), (no_limits, 6)])
def test_random_launches_find_a_planted_mistake(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None], seed: int
) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        assert held([seed])["not met"] == 0


RELATED = {
    "that of the cluster": "mov.u32 %r4, %clusterid.x; mov.u32 %r5, %ctaid.x; setp.le.u32 %p1, %r4, %r5; @%p1 bra E;",
    "the rank": "mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %ctaid.x; setp.le.u32 %p1, %r4, %r5; @%p1 bra E;",
}


@pytest.mark.parametrize("condition", RELATED.values(), ids=RELATED)
def test_places_in_the_grid_and_in_the_cluster_are_not_chosen_apart(condition: str) -> None:
    """A block's place in a grid of one row is at least its rank, and at least the place of its cluster."""
    access = "shl.b32 %r8, %r1, 7; add.u32 %r8, %r8, %r3; st.shared.u32 [%r8], %r2; E:"
    assert last(condition + access).decision.verdict == "unknown"
    other = (
        condition.replace("%ctaid.x", "%ctaid.y") if "clusterid" in condition else condition.replace("%ctaid.x", "1")
    )
    assert last(other + access).decision.verdict == "conflict"

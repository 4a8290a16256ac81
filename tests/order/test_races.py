"""What a verdict on a kernel says beside the verdict: witnesses, assumptions, options, and what it is asked of."""

from __future__ import annotations

import pytest

from swzverify.compiled.kernel import CarriedLeaf
from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.barriers import Scope, orders_of
from swzverify.compiled.order.events import LostError
from swzverify.compiled.order.instance import BASE, Instances
from swzverify.compiled.order.intervals import meetings
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.residues import by_residues
from swzverify.compiled.order.step import Sharing, in_step
from swzverify.compiled.order.threads import Couple
from swzverify.compiled.order.verdict import KernelRaces, RaceVerdict
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import race_parts
from swzverify.compiled.scan.given import Given
from swzverify.compiled.scan.race_witness import parameter_behind
from swzverify.compiled.scan.races import IN_ARRAYS, TRIPS, races_of
from swzverify.engines.obligations import Answer
from swzverify.engines.smt import SMT
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import BinaryOperator, Comparison, binary, compare, const, extend, extract, var, variables
from tests.order.conftest import HEAD, module_of, races, races_in
from tests.order.traps import TRAPS

FLAG = (
    "ld.global{}.u32 %r10, [%rd1];\nsetp.eq.u32 %p1, %r10, 0;\n@%p1 bra B;\nst.shared.u32 [%r4], %r1;\n"
    "bar.sync 0;\nld.shared.u32 %r30, [%r6];\nB:"
)


def test_witness_of_a_race() -> None:
    """Two threads, both lines, the byte in the array."""
    found = races(TRAPS["no barrier"].body)
    (pair,) = found.pairs
    assert pair.witness is not None
    one, two = pair.witness.threads
    assert one == two ^ 1
    assert pair.witness.byte == 4 * one
    assert (pair.witness.array, pair.first.opcode, pair.second.opcode) == ("s", "st.shared.u32", "ld.shared.u32")
    assert pair.second.line == pair.first.line + 1


def test_witness_in_a_loop_has_trips_and_parameters() -> None:
    """The trips of both accesses, and a number of trips that is large enough."""
    pair = next(each for each in races(TRAPS["one stage"].body).pairs if each.first.line != each.second.line)
    assert pair.witness is not None
    (first,), (second,) = pair.witness.trips
    assert abs(first[1] - second[1]) == 1
    assert dict(pair.witness.parameters)["n+0:4"] > max(first[1], second[1])
    assert pair.condition.startswith("n+0:4 = ")


@pytest.mark.parametrize(("kind", "is_assumed"), [("", True), (".nc", False)])
def test_loads_of_global_memory_are_an_assumption(kind: str, *, is_assumed: bool) -> None:
    """What a flag in global memory decides is free if nobody writes it, which `.nc` says."""
    found = races(FLAG.format(kind))
    assert found.verdict is RaceVerdict.FREE
    assert any("global memory" in each for each in found.assumptions) is is_assumed


def test_a_volatile_flag_is_no_value_of_all() -> None:
    """Threads may read different values of a volatile word, which no run of one block shows."""
    body = FLAG.replace("ld.global{}", "ld.volatile.global") + "\nld.shared.u32 %r31, [%r4];"
    assert races(body).verdict is RaceVerdict.UNKNOWN
    assert races(body.replace("volatile.", "")).verdict is RaceVerdict.FREE


def test_given_parameters_count() -> None:
    """A value of a parameter, or a condition on it, decides what depends on it."""
    body = TRAPS["one stage"].body
    assert races(body, given=Given(("n=1",))).verdict is RaceVerdict.FREE
    assert races(body, given=Given(("n=5",))).verdict is RaceVerdict.RACE
    assert races(body, given=Given((), ("n == 1",))).verdict is RaceVerdict.FREE
    assert races(body, given=Given((), ("n < 9",))).verdict is RaceVerdict.DEPENDS


ROUNDED = """
mov.u32 %r10, {0};
add.u32 %r11, %r10, 127;
and.b32 %r11, %r11, -128;
add.u32 %r11, %r11, %r2;
st.shared.u32 [%r11], %r1;
add.u32 %r12, %r10, %r2;
ld.shared.u32 %r13, [%r12+256];
"""
"""64 words from the next multiple of 128 on, and 64 words that begin 256 bytes behind the start of an array."""


def rounded(array: str, align: int | None) -> KernelRaces:
    text = HEAD.replace(".visible", ".extern .shared .align 16 .b8 d[];\n.visible", 1)
    return races_in(f"{text}{ROUNDED.format(array)}ret;\n}}\n", given=Given(smem_align=align))


def test_a_given_alignment_is_an_assumption() -> None:
    """The words are apart only if the dynamic array begins at a multiple of 128."""
    assert rounded("d", None).verdict is RaceVerdict.UNKNOWN
    found = rounded("d", 128)
    assert found.verdict is RaceVerdict.FREE
    assert "d begins at a multiple of 128 bytes" in found.assumptions


def test_an_alignment_of_an_array_that_is_not_read_is_no_assumption() -> None:
    found = rounded("s", 128)
    assert found.verdict is rounded("s", None).verdict
    assert not any("begins at" in each for each in found.assumptions)


def test_lockstep_is_told() -> None:
    """Lanes in lockstep are ordered, two warps are not."""
    one = TRAPS["one warp"]
    found = races(one.body, one.threads, lockstep=True)
    assert (found.verdict, found.is_lockstep) == (RaceVerdict.FREE, True)
    assert races(TRAPS["barrier of a warp for the block"].body, lockstep=True).verdict is RaceVerdict.RACE


def test_divergent_barriers_are_told() -> None:
    """The barrier has a verdict of its own, with the line where threads part."""
    found = races(TRAPS["some miss the barrier"].body)
    (barrier,) = found.barriers
    assert barrier.verdict is RaceVerdict.DIVERGENT
    assert "take different paths at line" in barrier.reason


def test_distinct_arrays_are_an_assumption() -> None:
    """Accesses of two arrays are free if each stays in its own."""
    found = races("mov.u32 %r10, t;\nadd.u32 %r11, %r10, %r5;\nst.shared.u32 [%r4], %r1;\nld.shared.u32 %r30, [%r11];")
    assert found.verdict is RaceVerdict.FREE
    assert IN_ARRAYS in found.assumptions


PUBLISHED = "ld.param.u64 %rd2, [out]; {} ld.global.u64 %rd3, [%rd2]; st.global.u32 [%rd3], 3;"
OWN_STORES = (
    ("st.global.u32 [%rd1], 3;", True),
    ("st.u32 [%rd1+256], 3;", True),
    ("red.global.add.u32 [%rd1], 1;", True),
    ("cvta.to.global.u64 %rd2, %rd1; L: st.global.u32 [%rd2], 3; add.u64 %rd2, %rd2, 4; @%p2 bra L;", True),
    ("wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd1], {%r30, %r31, %r30, %r31};", True),
    ("discard.global.L2 [%rd1], 128;", True),
    (".local .align 8 .b8 l[8]; st.local.u64 [l], %rd1; ld.local.u64 %rd2, [l]; st.global.u32 [%rd2], 3;", True),
    (
        "mov.b64 {%r30, %r31}, %rd1; add.cc.u32 %r30, %r30, %r4; addc.u32 %r31, %r31, 0; mov.b64 %rd2, {%r30, %r31}; "
        "st.global.u32 [%rd2], 3;",
        True,
    ),
    ("ld.param.u64 %rd2, [out]; st.global.u32 [%rd2], 3;", False),
    ("ld.param.u64 %rd2, [out]; ld.global.u64 %rd2, [%rd2]; st.global.u32 [%rd2], 3;", False),
    ("cp.async.commit_group; cp.async.wait_group 0;", False),
    ("ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd2, %rd2; red.global.add.u32 [%rd2], 1;", False),
    (
        "mov.u32 %r30, t; add.u32 %r30, %r30, %r2; cvt.u64.u32 %rd2, %r30; cvta.shared.u64 %rd2, %rd2;"
        " st.u32 [%rd2], 3;",
        False,
    ),
    ("ld.global.u32 %r30, [%rd1+4];", False),
    # By a pointer that the kernel has written to global memory, whole, in parts, or with others.
    (PUBLISHED.format("st.global.u64 [%rd2], %rd1;"), True),
    (PUBLISHED.format("mov.b64 {%r30, %r31}, %rd1; st.global.v2.b32 [%rd2], {%r30, %r31};"), True),
    (PUBLISHED.format("st.global.u64 [%rd2], %rd2;"), False),
    (PUBLISHED.format("st.global.u32 [%rd2], %r1;"), False),
)


@pytest.mark.parametrize(("store", "is_own"), OWN_STORES)
def test_a_kernel_that_writes_the_word_itself_assumes_nothing(store: str, *, is_own: bool) -> None:
    """Threads that load a flag at different times may see different words, if the kernel writes it meanwhile."""
    found = races(store + "\n" + FLAG.format(""))
    assert found.verdict is (RaceVerdict.UNKNOWN if is_own else RaceVerdict.FREE)
    assert ("may change the word of global memory" in found.reason) is is_own
    # A race that does no harm says as much of the rest as none.
    beside = races("st.shared.u32 [s+4000], 7;\n" + store + "\n" + FLAG.format(""))
    assert beside.verdict is (RaceVerdict.UNKNOWN if is_own else RaceVerdict.BENIGN)
    # What is loaded into data alone is nothing that threads have to share.
    each = "mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r10, [%rd2]; st.shared.u32 [%r4], %r10; " + store
    assert races(each).verdict is RaceVerdict.FREE


def test_pointers_that_a_kernel_publishes_in_other_ways() -> None:
    """By rows of matrices that a bulk copy moves, and by the initialiser of a variable."""
    rows = PUBLISHED.format(
        "mov.b64 {%r30, %r31}, %rd1; mov.u32 %r29, t; shl.b32 %r28, %r1, 4; add.u32 %r28, %r28, %r29; "
        "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r28], {%r30, %r31}; fence.proxy.async.shared::cta; bar.sync 0; "
        "setp.eq.u32 %p3, %r1, 0; @%p3 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r29], 16; "
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; bar.sync 0;"
    )
    assert "may change the word of global memory" in races(rows + "\n" + FLAG.format(""), threads=32).reason
    text = (
        HEAD + "ld.global.u64 %rd3, [p]; st.global.u32 [%rd3], 3; mov.u64 %rd1, g;\n" + FLAG.format("") + "\nret;\n}\n"
    )
    for value, is_own in (("g", True), ("generic(g)", True), ("5", False)):
        declared = f".global .align 8 .u32 g;\n.global .align 8 .u64 p = {value};\n.visible"
        found = races_in(text.replace(".visible", declared))
        assert found.verdict is (RaceVerdict.UNKNOWN if is_own else RaceVerdict.FREE)


def test_without_an_order_every_access_is_asked_that_a_bulk_copy_may_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first store is apart from what the copy reads, and the second one is not."""

    def lost(*_: object) -> None:
        raise LostError("a thread has too many paths between two barriers")

    monkeypatch.setattr(race_parts, "pipelines_of", lost)
    far, near = "add.u32 %r10, %r4, 2048; st.shared.u32 [%r10], %r1;", "st.shared.u32 [%r4], %r1;"
    copy = (
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra E; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 256;"
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:"
    )
    assert races(far + copy).verdict is RaceVerdict.FREE
    for stores in (near, far + near, near + far):
        assert races(stores + copy).verdict is not RaceVerdict.FREE


def test_trips_of_a_loop_at_the_begin_are_an_assumption() -> None:
    """Its header is block 0, which is a block like any other."""
    text = HEAD.replace("mov.u32 %r1, %tid.x;", "L:\nmov.u32 %r1, %tid.x;")
    text += "st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r30, [%r4];\nsetp.eq.u32 %p1, %r7, 3;\n"
    assert TRIPS in races_in(text + "@%p1 bra L;\nret;\n}\n").assumptions


def test_without_a_block_nothing_is_known() -> None:
    """The number of threads is needed."""
    module = module_of(TRAPS["barrier"].body)
    assert races_of(module, module.functions[0], Given()).verdict is RaceVerdict.UNKNOWN


def test_a_leaf_that_came_later_has_no_answer() -> None:
    """What threads share is asked of the leaves that the analysis knew."""
    module = module_of(TRAPS["two stages"].body)
    kernel = Kernel(module, inlined(module, module.functions[0]), (64, 1, 1))
    sharing = Sharing(kernel, Scope.BLOCK, ())
    with pytest.raises(AssertionError, match="later"):
        sharing.leaf(var("later", 4))


def test_two_engines_prove_what_coordinates_decide() -> None:
    """Lists and Z3 prove that a free pair never meets, and both refute that of a race."""
    for name, answer in (("barrier", Answer.EMPTY), ("no barrier", Answer.HOLDS)):
        module = module_of(TRAPS[name].body)
        kernel = Kernel(module, inlined(module, module.functions[0]), (64, 1, 1))
        step = in_step(kernel, Scope.BLOCK, orders_of(kernel))
        asked = [
            case
            for couple in (Couple.ANY, Couple.WARPS, Couple.LANES)
            for each in meetings(kernel, step)
            for case in Asked(
                Instances(kernel, step.sharing, couple),
                each,
                (kernel.parts[each.first][0], kernel.parts[each.second][0]),
            ).families()
        ]
        answers = {SMT().possible(family.meets([distance])).answer for family, distance in asked}
        lists = {bool(family.apart([distance])) for family, distance in asked}
        assert answers == {Answer.EMPTY} if answer is Answer.EMPTY else Answer.HOLDS in answers
        assert lists == {True} if answer is Answer.EMPTY else False in lists


def test_guards_of_ranges_count() -> None:
    """Threads below 32 write words that the threads from 32 on read: without the guards they would race."""
    body = (
        "and.b32 %r10, %r1, 31;\nshl.b32 %r11, %r10, 2;\nadd.u32 %r12, %r11, %r3;\n"
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 st.shared.u32 [%r12], %r1;"
    )
    assert races(body).verdict is RaceVerdict.FREE
    assert races(body.replace("@%p1 ", "")).verdict is RaceVerdict.RACE


@pytest.mark.parametrize("behind", [0, 1, 5])
def test_residues_say_what_the_trip_does(behind: int) -> None:
    """At each trip, the condition of its residue has the value of the whole one."""
    trip = var(f"{BASE}a loop", 1 << 30)
    wide = extend(binary(BinaryOperator.ADD, extend(trip, 32, signed=False), const(behind, 32)), 64, signed=False)
    product = binary(BinaryOperator.MUL, wide, const(0xAAAAAAAB, 64))
    quotient = extract(binary(BinaryOperator.LSHR, product, const(33, 64)), 0, 32)
    rest = binary(BinaryOperator.SUB, extract(wide, 0, 32), binary(BinaryOperator.MUL, quotient, const(3, 32)))
    condition = compare(Comparison.EQ, rest, const(1, 32))
    parts = list(by_residues(condition, [trip]))
    assert len(parts) == 3
    for residue, (part, values) in enumerate(parts):
        (round_,) = variables(values[trip])
        for number in range(7):
            env = {round_.name: number}
            assert evaluate(values[trip], env) == 3 * number + residue
            assert evaluate(part, env) == evaluate(condition, {trip.name: 3 * number + residue})


def test_half_a_trip_is_no_trip() -> None:
    """A quotient of something else than the trip itself is left as it is."""
    trip = var(f"{BASE}a loop", 1 << 30)
    half = binary(BinaryOperator.LSHR, extend(trip, 32, signed=False), const(1, 32))
    condition = compare(Comparison.EQ, binary(BinaryOperator.UDIV, half, const(3, 32)), const(1, 32))
    for residue, (part, values) in enumerate(by_residues(condition, [trip])):
        (round_,) = variables(values[trip])
        for number in range(7):
            assert evaluate(part, {round_.name: number}) == evaluate(condition, {trip.name: 3 * number + residue})


def test_no_piece_of_a_wmma_load_is_forgotten() -> None:
    """Of the machine instructions that `wmma.load` becomes, the first one reads what thread 0 stores."""
    body = (
        "setp.eq.u32 %p1, %r1, 0;\nwmma.load.c.sync.aligned.row.m16n16k16.shared.f32 "
        "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%r3];\n@%p1 st.shared.u32 [%r3], %r1;"
    )
    assert races(body, 64).verdict is not RaceVerdict.FREE


def test_a_comparison_of_numbers_alone_runs() -> None:
    """A run notes what its comparisons compare; of two numbers it is one result for all lanes."""
    body = "setp.eq.u32 %p1, 0, 0;\nld.shared.u32 %r9, [%r4];\nsetp.eq.u32 %p3, %r9, 1;\n@%p3 st.shared.u32 [%r6], %r1;"
    assert races(body, 64).verdict in (RaceVerdict.UNKNOWN, RaceVerdict.RACE, RaceVerdict.DEPENDS)


def test_a_race_behind_many_steps_is_run_at_length() -> None:
    """One witness gets a long run if no short one shows a race."""
    wait = "mov.u32 %r10, 0;\nL:\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, {};\n@%p1 bra L;\n"
    body = wait + "st.shared.u32 [%r3], %r1;"
    assert races(body.format(4500)).verdict is RaceVerdict.RACE


_HALVING = """.version 8.3
.target sm_90
.address_size 64
.shared .align 128 .b8 s[4096];
.visible .entry sort(.param .u64 sort_param_0, .param .u32 sort_param_1) {
.reg .pred %p<9>; .reg .b32 %r<99>;
ld.param.u32 %r2, [sort_param_1]; mov.u32 %r1, %tid.x; mov.u32 %r3, s; shr.u32 %r4, %r2, 1;
AGAIN: bar.sync 0;
sub.u32 %r5, %r4, 1; and.b32 %r6, %r1, %r5; shl.b32 %r7, %r1, 1; sub.u32 %r7, %r7, %r6;
mad.lo.u32 %r8, %r7, 4, %r3; mad.lo.u32 %r9, %r4, 4, %r8;
ld.shared.u32 %r10, [%r8]; ld.shared.u32 %r11, [%r9]; st.shared.u32 [%r8], %r11; st.shared.u32 [%r9], %r10;
shr.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra AGAIN;
ret; }"""


def test_a_register_that_begins_with_a_parameter_names_it() -> None:
    """Bitonic sort: the stride of its loop is made of its length, which is the second parameter."""
    module = read_module(_HALVING, "k.ptx")
    kernel = Kernel(module, inlined(module, module.functions[0]), (64, 1, 1))
    carried = [each for each in kernel.leaves.by_name.values() if isinstance(each, CarriedLeaf)]
    assert {parameter_behind(kernel, each) for each in carried} == {"param_1"}
    assert parameter_behind(kernel, kernel.leaves.by_name["tid.x"]) == ""


@pytest.mark.parametrize(
    ("code", "is_free"),
    [
        ("ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1; bar.sync 0;", True),
        ("ld.u32 %r1, [%d1];", False),
        ("st.shared.u32 [s], 1;", False),
        ("red.shared.add.u32 [s], 1;", False),
        ("mbarrier.init.shared.b64 [s], 1;", False),
        ("cp.async.ca.shared.global [s], [%d1], 4;", False),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %d1, %d1, 1, 1, 1, 0, 0;", False),
        ("call.uni other;", False),
    ],
)
def test_a_kernel_without_accesses_is_free_for_every_block(code: str, is_free: bool) -> None:
    text = f""".version 8.3 .target sm_90a .address_size 64 .extern .func other();
    .shared .align 16 .b8 s[64]; .entry k() {{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; {code} ret; }}"""
    module = read_module(text, "k.ptx")
    found = races_of(module, module.functions[-1], Given())
    assert found.verdict is (RaceVerdict.FREE if is_free else RaceVerdict.UNKNOWN)

"""What tensor copies bring to operands, where the boxes of their tensor maps are given."""

import random
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import swzverify
from swzverify.compiled.scan.delivers import TOGETHER
from swzverify.compiled.scan.filled import NO_GAPS
from tests.nightly import counts
from tests.scan.fill_programs import MISTAKES, Program, Side, by_tensor_copies, planted, right, text
from tests.scan.test_delivers import PLAIN, check, scanned

copies: Any = import_module("swzverify.compiled.scan.fill_copies")
fill_leaves: Any = import_module("swzverify.compiled.scan.fill_leaves")

BOXES = replace(PLAIN, a=replace(PLAIN.a, box="64B"), b=replace(PLAIN.b, box="128B"))
"""A is K-major and B is MN-major, with another swizzle mode."""
OF_K = Side(64, False, "128B", 7, 0, 1024, 32, box="128B")
TWO = Program(OF_K, replace(OF_K, rows=32), columns=64, stages=1)
POPULATION = "dp4a.u32.u32 %r50, %r6, %r6, %r6; dp4a.u32.u32 %r51, %r6, %r3, %r6;"
"""Two numbers that depend on the trip, by an instruction that is not computed."""


def verdicts(program: Program, ptx: str = "", align: int | None = None) -> list[str]:
    found = scanned(ptx or text(program), align, program.maps)
    return [each.claim("delivers").verdict.value for each in found]


def check_many(seeds: range) -> None:
    for seed in seeds:
        draw = random.Random(seed)
        program = by_tensor_copies(right(draw), draw)
        mistake = draw.choice(MISTAKES)
        found = check(planted(program, mistake, draw))
        assert mistake != "none" or found == {"proved"}, program


@pytest.mark.parametrize("count", counts(12, 400))
def test_verdicts_are_those_of_the_interpreter(count: int) -> None:
    check_many(range(count))


@pytest.mark.parametrize("count", counts(2, 200))
def test_verdicts_hold_wherever_the_array_begins(count: int) -> None:
    for seed in range(count):
        draw = random.Random(seed)
        program = by_tensor_copies(right(draw), draw)
        align = draw.choice([256, 512])
        check(replace(planted(program, draw.choice(MISTAKES), draw), align=align), *range(0, 1024, align))


def check_right() -> None:
    assert verdicts(BOXES) == ["proved"] * 4
    found = scanned(text(BOXES), maps=BOXES.maps)[0]
    assert NO_GAPS in found.claim("delivers").assumptions
    assert found.elements is not None
    assert found.elements.row == "stride 1 of amap"
    assert found.elements.column == "2"


def test_right_kernels_are_proved() -> None:
    check_right()


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("mode", ["none", "32B", "64B", "128B"])
def test_the_mode_of_the_map_is_that_of_the_descriptor(name: str, mode: str) -> None:
    """Where it is another one, the tensor core multiplies other elements."""
    side: Side = getattr(BOXES, name)
    both = {"a": replace(BOXES.a, rows=64), "b": BOXES.b}
    both[name] = replace(side, box=mode)
    program = Program(both["a"], both["b"], columns=32, stages=3)
    if program.line_bytes(both[name]) % (16 if mode == "none" else int(mode[:-1])):
        return
    found = check(program)
    assert ("refuted" in found) is (mode != side.mode), found


def check_modes() -> None:
    for mode in ("none", "32B"):
        wrong = replace(BOXES, a=replace(BOXES.a, box=mode))
        claim = scanned(text(wrong), maps=wrong.maps)[0].claim("delivers")
        assert claim.verdict.value == "refuted"
        assert claim.reason.endswith(f"; the tensor map has the swizzle {mode}, and the descriptor 64B")


def test_the_message_names_both_modes() -> None:
    check_modes()


def test_both_xor_the_address_wherever_the_array_begins() -> None:
    """Tensor copies and the tensor core XOR one address; threads usually XOR the offset in the array."""
    for align in (128, 256, 512, 1024):
        assert verdicts(replace(BOXES, align=align)) == ["proved"] * 4
    mixed = replace(BOXES, a=PLAIN.a, align=128)
    (claim, *_) = [each.claim("delivers") for each in scanned(text(mixed), maps=mixed.maps)]
    assert (claim.verdict.value, claim.needs) == ("unknown", 512)
    assert verdicts(replace(mixed, align=512)) == ["proved"] * 4


def test_tensor_copies_fault_elsewhere_than_at_128_bytes() -> None:
    """Nothing is refuted, or proved, of starts at which no copy is made."""
    claims = [each.claim("delivers") for each in scanned(text(replace(BOXES, align=16)), maps=BOXES.maps)]
    assert {(each.verdict.value, each.needs) for each in claims} == {("unknown", 128)}
    wrong = replace(BOXES, a=replace(BOXES.a, box="32B"), align=16)
    assert "refuted" in verdicts(wrong)


def test_without_a_box_nothing_is_known() -> None:
    only_b = tuple(each for each in BOXES.maps if each.startswith("b"))
    reasons = {each.claim("delivers").reason for each in scanned(text(BOXES), maps=only_b)}
    assert {each.partition(": ")[2] for each in reasons} == {"a tensor copy fills it, and the tensor map says what"}


def in_loop(program: Program, a: str, b: str) -> str:
    """The kernel whose main loop copies the columns of K with other numbers than that of the trip."""
    before, _, after = text(program).partition("L:")
    for name, number in (("amap", a), ("bmap", b)):
        place = after.index(name)
        first = after.rindex("mul.lo.u32 %r17, %r10", 0, place)
        after = after[:first] + after[first:].replace("%r10", number, 1)
    return f"{before}L: {POPULATION}{after}"


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [("%r50", "%r50", "proved"), ("%r50", "%r51", "unknown"), ("%r10", "%r51", "unknown"), ("%r10", "%r10", "proved")],
)
def test_values_that_change_in_a_loop_count_as_steps(a: str, b: str, verdict: str) -> None:
    assert set(verdicts(TWO, in_loop(TWO, a, b))) == {verdict}


@pytest.mark.parametrize("strides", ["", ",4096"])
def test_rows_may_come_from_two_matrices(strides: str) -> None:
    """A tile may hold parts of two matrices, which may have other strides."""
    ptx = text(TWO).replace("bmap[128]", "bmap[128], .param .align 64 .b8 cmap[128]", 1)
    copy = ptx[ptx.index("@%p3 cp.async.bulk") :].partition("\n")[0]
    other = copy.replace("[%rd3", "[%rd40").replace("%r14", "%r59")
    made = f"{copy} mov.b64 %rd40, cmap; cvta.param.u64 %rd40, %rd40; add.u32 %r59, %r14, 4096; {other}"
    boxes = [f"{name}=64x32xf16,128B{more}" for name, more in (("amap", strides), ("bmap", ""), ("cmap", ",8192"))]
    claim = scanned(ptx.replace(copy, made, 1), maps=tuple(boxes))[0].claim("delivers")
    assert claim.verdict.value == "unknown"
    assert claim.reason.startswith("its rows come from several matrices, which may be meant: element (32, 0)")


@pytest.mark.filterwarnings("error")
def test_columns_of_k_may_come_in_falling_order() -> None:
    ptx = text(TWO).replace("add.u32 %r18, %r17, 0;", "sub.u32 %r18, 0, %r17;")
    assert verdicts(TWO, ptx) == ["proved"] * 8
    assert verdicts(TWO, ptx.replace("sub.u32 %r18, 0, %r17;", "add.u32 %r18, %r17, 0;", 1)) == ["refuted"] * 8


def by_threads(ptx: str, a: str, b: str) -> str:
    """The kernel in which these conditions say which thread copies A and B."""
    for name, condition in (("amap", a), ("bmap", b)):
        parts = ptx.split(f"mov.b64 %rd3, {name};")
        parts[1:] = [each.replace("setp.eq.u32 %p3, %r5, 0;", condition, 1) for each in parts[1:]]
        ptx = f"mov.b64 %rd3, {name};".join(parts)
    return ptx


THREAD = "setp.eq.u32 %p3, %r5, {};"
ELECT = "elect.sync %r58|%p3, -1;"
ONE_ELECT = "and.pred %p3, %p4, %p4;"
OWN = "mad.lo.u32 %r50, %r5, 4, %r4; ld.shared.u32 %r50, [%r50+40000]; elect.sync %r58|%p4, -1;"
"""A number that each thread has of its own, and an elected thread."""


@pytest.mark.parametrize(
    ("a", "b", "number", "verdict"),
    [
        (THREAD.format(0), THREAD.format(0), "%r50", "proved"),
        (THREAD.format(0), THREAD.format(32), "%r50", "unknown"),
        (THREAD.format(0), THREAD.format(32), "%r10", "proved"),
        (ONE_ELECT, ONE_ELECT, "%r50", "proved"),
        (ELECT, ELECT, "%r50", "unknown"),
    ],
)
def test_values_of_a_thread_are_those_of_the_thread_that_copies(a: str, b: str, number: str, verdict: str) -> None:
    """Two threads may copy other columns of K for A than for B."""
    ptx = by_threads(in_loop(TWO, number, number).replace(POPULATION, OWN), a, b)
    assert set(verdicts(TWO, ptx)) == {verdict}


@pytest.mark.parametrize(("change", "verdict"), [("", "proved"), ("@%p5 mov.u32 %r7, 0;", "unknown")])
def test_two_threads_that_copy_are_in_one_stage(change: str, verdict: str) -> None:
    """A thread that is a stage behind copies other columns of K into a stage than the thread that copies A."""
    program = replace(TWO, stages=3)
    ptx = by_threads(text(program), THREAD.format(0), THREAD.format(32))
    assert set(verdicts(program, ptx.replace("L:", f"setp.eq.u32 %p5, %r5, 32; {change} L:"))) == {verdict}


@pytest.mark.parametrize(("a", "b", "verdict"), [("%r57", "%r57", "proved"), ("%r57", "%r58", "unknown")])
def test_one_thread_of_a_block_of_code_makes_both_copies(a: str, b: str, verdict: str) -> None:
    """Data end the loop, so nobody knows which threads come; who comes has one value for A and B."""
    own = "ld.global.u32 %r57, [%rd1+8]; ld.global.u32 %r58, [%rd1+12]; ld.global.u32 %r56, [%rd1];"
    ptx = (
        in_loop(TWO, a, b).replace(POPULATION, own).replace("setp.lt.u32 %p2, %r6, %r3;", "setp.lt.u32 %p2, %r6, %r56;")
    )
    ptx = ptx.replace("setp.eq.u32 %p3, %r5, 0;", "elect.sync _|%p3, -1;")
    elected = ptx.replace("elect.sync _|%p3, -1;", "", 2).replace("L:", "L: elect.sync _|%p3, -1;")
    assert set(verdicts(TWO, elected)) == {verdict}


@pytest.mark.parametrize("is_beside", [True, False])
def test_places_of_objects_behind_a_remainder_are_listed(*, is_beside: bool) -> None:
    """Barrier objects of a ring lie behind the tile in one array, at a stage that a parameter gives."""
    length, begin = (8, BOXES.bytes - 1024) if is_beside else (4096, 0)
    drain = (
        "mul.wide.u32 %rd20, %r3, 613566757; shr.u64 %rd20, %rd20, 32; cvt.u32.u64 %r50, %rd20; "
        "sub.u32 %r51, %r3, %r50; shr.u32 %r51, %r51, 1;"
        "add.u32 %r51, %r51, %r50; shr.u32 %r51, %r51, 2; mul.lo.u32 %r51, %r51, 7;"
        f"sub.u32 %r51, %r3, %r51; mad.lo.u32 %r52, %r51, {length}, %r4; add.u32 %r52, %r52, {begin};"
        "mbarrier.arrive.shared::cta.b64 _, [%r52];"
    )
    found = verdicts(BOXES, text(BOXES).replace("L:", f"L: {drain}"))
    assert ("unknown" not in found) is is_beside


def check_varying() -> None:
    """The same where threads copy: on their own they cannot know whether two such values are alike."""
    before, _, after = text(Program(PLAIN.a, replace(PLAIN.a, rows=32), columns=32, stages=1)).partition("L:")
    for number, pitch in (("%r50", "%r1"), ("%r51", "%r2")):
        place = f"mul.lo.u32 %r17, %r12, {pitch}; mad.lo.u32 %r17, "
        after = after.replace(f"{place}%r10", f"{place}{number}")
    assert {each.claim("delivers").verdict.value for each in scanned(f"{before}L: {POPULATION}{after}")} == {"unknown"}


def test_values_that_are_not_computed_may_go_on_unlike() -> None:
    check_varying()


def third(program: Program, a: str, b: str) -> str:
    """The kernel with a third coordinate."""
    ptx = text(program).replace("tensor.2d", "tensor.3d")
    for name, more in (("amap", a), ("bmap", b)):
        parts = ptx.split(f"mov.b64 %rd3, {name};")
        ptx = f"mov.b64 %rd3, {name};".join(
            [parts[0], *(each.replace("0}]", f"0, {more}}}]", 1) for each in parts[1:])]
        )
    return ptx


def in_3d(strides: str) -> list[str]:
    return [f"{name}=64x{rows}x1xf16,128B{strides}" for name, rows in (("amap", 64), ("bmap", 32))]


@pytest.mark.parametrize(
    ("a", "b", "strides", "verdict", "is_assumed"),
    [
        ("%r3", "%r3", "", "proved", True),
        ("0", "0", "", "proved", False),
        ("%r6", "%r6", "", "proved", True),
        ("%r6", "0", "", "unknown", False),
        ("%r6", "%r6", ",_x128", "proved", False),
        ("%r6", "0", ",_x128", "refuted", False),
    ],
)
def test_coordinates_beside_rows_and_columns(a: str, b: str, strides: str, verdict: str, *, is_assumed: bool) -> None:
    """A batch of both, or columns of K in blocks of 64 elements: with its stride it is a step along K."""
    found = scanned(third(TWO, a, b), maps=tuple(in_3d(strides)))
    assert {each.claim("delivers").verdict.value for each in found} == {verdict}
    assert {TOGETHER in each.claim("delivers").assumptions for each in found} == {is_assumed}


def test_text_has_each_assumption_once() -> None:
    """Those that stand above a kernel are not repeated."""
    found = swzverify.scan(third(TWO, "%r3", "%r3"), tensor_maps=in_3d(""))
    claims = found.files[0].operands[0].claims
    assumptions = claims[-1].assumptions
    assert len(set(assumptions)) == len(assumptions)
    lines = str(found).splitlines()
    for each in (words for claim in claims for words in claim.assumptions):
        is_given = each in found.files[0].applied["k"]
        assert lines.count(f"  given: {each}") == is_given
        assert bool(lines.count(f"    assumed: {each}")) != is_given, each
    assert TOGETHER in assumptions


def test_a_pointer_to_a_map() -> None:
    ptx = text(BOXES)
    for name in ("amap", "bmap"):
        ptx = ptx.replace(f".param .align 64 .b8 {name}[128]", f".param .u64 {name}")
        ptx = ptx.replace(f"mov.b64 %rd3, {name}; cvta.param.u64 %rd3, %rd3;", f"ld.param.u64 %rd3, [{name}];")
    assert verdicts(BOXES, ptx) == ["proved"] * 4
    changed = ptx.replace("L:", "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 1; L:")
    assert set(verdicts(BOXES, changed)) == {"unknown"}


def test_copies_to_another_block_are_not_known() -> None:
    """They have the coordinates of the block that makes them."""
    copy = "@%p3 cp.async.bulk.tensor"
    ptx = text(BOXES).replace(copy, f"mapa.shared::cluster.u32 %r14, %r14, 1; {copy}")
    assert set(verdicts(BOXES, ptx)) == {"unknown"}


def test_several_boxes_of_several_threads_are_not_known() -> None:
    ptx = text(BOXES).replace("setp.eq.u32 %p3, %r5, 0;", "setp.lt.u32 %p3, %r5, 2; shl.b32 %r59, %r5, 7;")
    ptx = ptx.replace("add.u32 %r18, %r17, 0;", "add.u32 %r18, %r17, 0; add.u32 %r14, %r14, %r59;")
    assert set(verdicts(BOXES, ptx)) == {"unknown"}


def arrive(place: str) -> str:
    """Arrives at an object of another block."""
    return f"{place} mapa.shared::cluster.u32 %r59, %r58, 1; mbarrier.arrive.shared::cluster.b64 _, [%r59];"


def test_writes_to_other_blocks_count_at_their_place() -> None:
    """All blocks run one kernel: what it writes to another block, another one writes to it."""
    ptx = text(BOXES)
    assert verdicts(BOXES, ptx.replace("ret;", arrive("mov.u32 %r58, full;") + " ret;")) == ["proved"] * 4
    beside = ptx.replace("L:", "L: " + arrive("mov.u32 %r58, tile;"))
    assert verdicts(BOXES, beside) == ["unknown", "unknown", "proved", "proved"]  # the first 8 bytes are of one step
    anywhere = ptx.replace("L:", "L: " + arrive("mov.u32 %r58, %r3;"))
    assert set(verdicts(BOXES, anywhere)) == {"unknown"}


def test_writers_that_are_not_followed_stay_in_their_array() -> None:
    """A store somewhere in another array is none in the tile; somewhere in the tile it may be any byte."""
    ptx = text(BOXES).replace(".shared .align 8 .b64 full;", ".shared .align 8 .b64 full[64];")
    for array, verdict in (("full", "proved"), ("tile", "unknown")):
        store = (
            f"mov.u32 %r58, {array}; and.b32 %r59, %r3, 63; mad.lo.u32 %r58, %r59, 8, %r58; st.shared.u32 [%r58], %r6;"
        )
        assert set(verdicts(BOXES, ptx.replace("L:", f"L: {store}"))) == {verdict}


def no_swizzle(patch: pytest.MonkeyPatch) -> None:
    right_places = copies.BoxCopy.places

    def places(self: Any, threads: Any, values: Any, begin: int) -> Any:
        found, first = right_places(self, threads, values, begin)
        start = int(found.min()) if found.size else 0
        return np.broadcast_to(start + np.arange(found.shape[1]), found.shape), first

    patch.setattr(copies.BoxCopy, "places", places)


def xor_of_the_offset(patch: pytest.MonkeyPatch) -> None:
    right_places = copies.BoxCopy.places
    patch.setattr(copies.BoxCopy, "places", lambda self, threads, values, _: right_places(self, threads, values, 0))


def dimensions_swapped(patch: pytest.MonkeyPatch) -> None:
    right_coordinates = copies.BoxCopy.__init__

    def init(self: Any, *parts: Any) -> None:
        right_coordinates(self, *parts[:3], tuple(reversed(parts[3])), *parts[4:])

    patch.setattr(copies.BoxCopy, "__init__", init)


def nothing_varies(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fill_leaves.Shared, "is_fixed", lambda *_: True)


def starts_are_all_alike() -> None:
    """A by threads and B by tensor copies hold one order of elements only where both XOR alike."""
    for align in (128, 256):
        mixed = replace(BOXES, a=PLAIN.a, align=align)
        assert set(verdicts(mixed)) == {"unknown"}
    assert verdicts(replace(BOXES, align=128)) == ["proved"] * 4


@pytest.mark.parametrize(
    ("plant", "check_it"),
    [
        (no_swizzle, check_right),
        (no_swizzle, lambda: check_many(range(12))),
        (xor_of_the_offset, starts_are_all_alike),
        (dimensions_swapped, lambda: check_many(range(12))),
        (nothing_varies, check_varying),
    ],
)
def test_planted_mistakes_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], check_it: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check_it()

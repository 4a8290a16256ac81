"""Operands in rings of stages: the verdicts of `delivers` on random kernels, against what an interpreter multiplies."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from swzverify.compiled.kernel.reachable import Reachable
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, scan_fragments
from swzverify.compiled.scan.delivers import APART
from swzverify.compiled.scan.products import INSIDE
from tests.nightly import counts
from tests.oracle.operands import Operand
from tests.ptx_oracle.products import operand_bytes
from tests.scan import fill_programs, fragment_programs
from tests.scan import ring_oracle as oracle
from tests.scan.random_rings import Mistakes, Ring, drawn, write
from tests.scan.ring_oracle import faults, judge, launches
from tests.scan.whole import scan_operands

agreement: Any = import_module("swzverify.compiled.scan.operand_agreement")
delivers: Any = import_module("swzverify.compiled.scan.delivers")
copies: Any = import_module("swzverify.compiled.scan.fill_copies")
columns: Any = import_module("swzverify.compiled.scan.operand_columns")
trips: Any = import_module("swzverify.compiled.scan.operand_trips")

FIRST_SEED = 20_000_137


@dataclass(frozen=True)
class Said:
    """What the package says of an operand."""

    line: int
    role: str
    verdict: str
    reason: str
    is_assumed: bool


def said_of(ring: Ring) -> list[Said]:
    module = read_module(write(ring), "k.ptx")
    scan: Any = scan_operands if ring.is_wgmma else scan_fragments
    found: list[Said] = []
    for each in scan(module, module.functions[0], None, Given(tensor_maps=ring.maps), None):
        claim = each.claim("delivers")
        found.append(Said(each.line, each.fields.role, claim.verdict.value, claim.reason, APART in claim.assumptions))
    return found


def answer(seed: int) -> str:
    """How the verdicts on the kernel of a seed compare with its launches."""
    ring = drawn(seed)
    found, why = judge(ring, said_of(ring))
    return f"{found}: {why}" if why else found


def verdicts(ring: Ring) -> set[str]:
    return {each.verdict for each in said_of(ring)}


def seen(ring: Ring) -> set[str]:
    """What launches show to be wrong."""
    return {each.kind for run in launches(ring) for each in faults(run)}


def check_many(seeds: range) -> None:
    """No verdict contradicts what launches show."""
    for seed in seeds:
        found = answer(seed)
        assert not found.startswith("WRONG"), (seed, found)


@pytest.mark.parametrize("count", counts(4, 400))
def test_verdicts_are_those_of_the_interpreter(count: int) -> None:
    check_many(range(FIRST_SEED, FIRST_SEED + count))


ALONG = fragment_programs.Side(mask=1, read_mask=1)
TILES = fragment_programs.Program(ALONG, replace(ALONG), warps=1, tiles=1, steps=1)
"""One mma.sync in each stage, whose lines are 32 bytes."""
WIDE = fill_programs.Side(64, False, "32B", 1, 0, 256, 32)
GROUP = fill_programs.Program(WIDE, replace(WIDE, rows=8), columns=16, stages=1)
"""One wgmma in each stage."""
PLAIN = Ring(TILES, stages=3, ahead=2, reading="counter", writing="rem")
BOXES = Ring(
    replace(GROUP, a=replace(WIDE, box="32B"), b=replace(WIDE, rows=8, box="32B")), stages=3, ahead=0, roles=True
)
RIGHT: dict[str, Ring] = {
    "copies behind the products": PLAIN,
    "copies before the products": replace(PLAIN, is_behind=False, order="ba"),
    "wgmma": replace(PLAIN, tiles=GROUP, is_anew=True),
    "in a loop over tiles": replace(PLAIN, outer=True, has_begin=True, is_joint=False),
    "all in one trip": replace(PLAIN, reading="fixed", writing="fixed", unrolled=3),
    "tensor copies of one thread": BOXES,
    "a warp that copies": replace(PLAIN, ahead=0, roles=True),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_are_proved(name: str) -> None:
    assert verdicts(RIGHT[name]) == {"proved"}
    assert not seen(RIGHT[name])


def test_threads_that_do_not_copy_say_nothing_of_addresses() -> None:
    """The copying warp counts its threads from 0, and the numbers of those before it wrap."""
    check_wrapped()


def check_wrapped() -> None:
    assert verdicts(RIGHT["a warp that copies"]) == {"proved"}


PERSISTENT = replace(
    PLAIN, tiles=replace(TILES, warps=2), ahead=0, roles=True, outer=True, reading="counter", writing="counter"
)
"""Two warps copy into a ring that goes on from tile to tile of the product."""


def copied(old: str, new: str) -> set[str]:
    """The verdicts on it with another text where warps copy."""
    before, _, after = write(PERSISTENT).partition("FILL:\n")
    assert old in after
    module = read_module(f"{before}FILL:\n{after.replace(old, new, 1)}", "k.ptx")
    found = scan_fragments(module, module.functions[0], None, Given(), None)
    return {each.claim("delivers").verdict.value for each in found}


def check_one_state() -> None:
    """Each warp begins with a stage of its own, goes on in its own way, or makes as many trips as memory says."""
    begin, step = "mov.u32 %ws, 0;", "add.u32 %ws, %ws, 1;"
    last = "setp.ge.u32 %p10, %thread, 32;"
    for old, new in (
        (begin, "shr.u32 %ws, %thread, 5;"),
        (begin, f"{begin} ld.shared.u32 %n, [%base+4000];"),
        (begin, f"{begin} ld.global.u32 %n, [%w1];"),
        (begin, f"{begin} add.u32 %n, %n, %thread;"),
        (step, f"{last} @%p10 {step}"),
        (step, f"{last} @%p10 bra OWN; {step} OWN:"),
        (step, f"{last} selp.b32 %r51, 2, 1, %p10; add.u32 %ws, %ws, %r51;"),
    ):
        assert copied(old, new) == {"unknown"}, new
    assert copied(begin, begin) == {"proved"}


def test_threads_that_copy_parts_are_in_one_state() -> None:
    check_one_state()


def test_the_last_trip_of_a_loop_is_one_of_all_threads() -> None:
    ring = replace(PLAIN, tiles=replace(TILES, warps=2), stages=1, ahead=0, peeled=True)
    assert verdicts(ring) == {"proved"}
    assert not seen(ring)


@pytest.mark.parametrize("roles", ["a", "b"])
def test_copies_before_the_loop_fill_a_stage_for_both(roles: str) -> None:
    check_shallow(roles)


def check_shallow(roles: str) -> None:
    """In the second tile of the product, the stage holds what the last trip of the first one left there."""
    ring = replace(PLAIN, outer=True, mistakes=Mistakes(shallow=roles))
    assert seen(ring) == {"empty", "agreement"}
    assert verdicts(ring) == {"unknown"}


OF_OTHERS = replace(PLAIN, reading="rem", stages=2, ahead=1, mistakes=Mistakes(pitch="b"))
"""B is read from half of a stage, where A is of the next one."""


def check_exchanged() -> None:
    ring = replace(OF_OTHERS, tiles=replace(TILES, warps=2))
    assert "matrix" in seen(ring)
    found = said_of(ring)
    assert "proved" not in {each.verdict for each in found}
    assert {each.reason for each in found} == {trips._EXCHANGED}


def test_an_operand_that_is_read_from_the_other_matrix_in_some_stages_is_not_proved() -> None:
    check_exchanged()


AGAIN: dict[str, Ring] = {
    "one instruction": replace(PLAIN, mistakes=Mistakes(early="ab")),
    "one stage": replace(PLAIN, stages=1, ahead=1, mistakes=Mistakes(early="ab")),
    "another block of code": replace(RIGHT["all in one trip"], mistakes=Mistakes(early="ab"), guard=True),
    "wgmma in another block of code": replace(
        RIGHT["all in one trip"], tiles=GROUP, mistakes=Mistakes(early="ab"), guard=True
    ),
}
"""The first copies of the loop bring the tile that the last ones before it bring."""


@pytest.mark.parametrize("name", AGAIN)
def test_copies_of_a_loop_that_bring_what_is_there_are_not_proved(name: str) -> None:
    check_again(name)


def check_again(name: str) -> None:
    assert seen(AGAIN[name]) == {"repeated"}
    assert "unknown" in verdicts(AGAIN[name])


def test_a_tile_that_wraps_around_on_purpose_is_not_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads begin with row 60 of A, in global and in shared memory: without the remainder, rows are out of order."""
    ring = replace(PLAIN, tiles=GROUP, stages=1, ahead=0, is_behind=False)
    row = "add.u32 %r12, %r12, 60; mul.lo.u32 %r50, %m, 32; rem.u32 %r51, %r12, %r50; and.b32 %r12, %r12, 63;"
    ptx = write(ring).replace("shr.u32 %r12, %r11, 1;", f"shr.u32 %r12, %r11, 1; {row}", 1)
    ptx = ptx.replace("mul.lo.u32 %r17, %r12, %r1;", "mul.lo.u32 %r17, %r51, %r1;", 1)
    monkeypatch.setattr(oracle, "write", lambda _: ptx)
    assert not seen(ring)
    module = read_module(ptx, "k.ptx")
    a, b = (each.claim("delivers") for each in scan_operands(module, module.functions[0], None, Given(), None))
    assert (a.verdict.value, b.verdict.value) == ("unknown", "unknown")
    assert INSIDE in a.reason


# ---- the oracle


@pytest.mark.parametrize("width", [0, 32, 64, 128])
@pytest.mark.parametrize("is_across", [False, True])
def test_two_readings_of_a_descriptor_agree(width: int, *, is_across: bool) -> None:
    """That of the interpreter, and that of the oracle of specs."""
    code, nothing = {0: 0, 128: 1, 64: 2, 32: 3}[width], None
    for lbo, sbo, base_offset, start in ((256, 1024, 0, 2048), (128, 512, 3, 1168), (16, 2048, 0, 4096)):
        bits = code << 62 | base_offset << 49 | sbo >> 4 << 32 | lbo >> 4 << 16 | start >> 4
        rule = Operand(
            "A",
            64,
            16,
            2,
            is_across,
            width,
            lbo,
            sbo,
            base_offset,
            nothing,
            nothing,
            k_first=True,
            runs=(),  # type: ignore[arg-type]
        )
        expected = [[rule.read_at(start, r, k) for k in range(16)] for r in range(64)]
        assert np.array_equal(operand_bytes(bits, 64, 2, is_across=is_across), np.array(expected))


MISTAKES: dict[str, tuple[Ring, str]] = {
    "A of the next tile": (replace(PLAIN, mistakes=Mistakes(late="a")), "agreement"),
    "A of another stage": (replace(PLAIN, mistakes=Mistakes(write="a")), "agreement"),
    "a tile again": (AGAIN["one instruction"], "repeated"),
    "a stage that nothing fills": (replace(PLAIN, mistakes=Mistakes(shallow="b")), "empty"),
    "one tile in all trips, sums that a predicate starts": (
        replace(RIGHT["wgmma"], stages=1, ahead=0, mistakes=Mistakes(still="ab")),
        "repeated",
    ),
    "one tile in all trips of a loop that is unrolled": (
        replace(PLAIN, stages=4, ahead=0, unrolled=4, writing="fixed", outer=True, mistakes=Mistakes(still="ab")),
        "repeated",
    ),
    "stages of which the last one is not read": (
        replace(PLAIN, reading="rem", mistakes=Mistakes(turn="ab")),
        "repeated",
    ),
    "one stage of three that is read": (replace(PLAIN, reading="fixed"), "repeated"),
    "no XOR": (replace(PLAIN, tiles=replace(TILES, a=replace(ALONG, read_mask=0))), "elements"),
    "the mode of a map": (replace(BOXES, tiles=replace(BOXES.tiles, b=replace(WIDE, rows=8, box="none"))), "elements"),
    "another matrix": (replace(OF_OTHERS, tiles=replace(TILES, warps=2)), "matrix"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_launches_show_mistakes(name: str) -> None:
    check_mistake(name)


def check_mistake(name: str) -> None:
    ring, kind = MISTAKES[name]
    assert kind in seen(ring)
    assert "proved" not in verdicts(ring)


@dataclass(frozen=True)
class Always:
    """A judge that says one thing of all operands."""

    verdict: str

    def __call__(self, ring: Ring) -> list[Said]:
        return [replace(each, verdict=self.verdict) for each in said_of(ring)]


def test_a_judge_that_knows_nothing_is_found() -> None:
    assert judge(PLAIN, Always("refuted")(PLAIN))[0] == "WRONG refuted"
    wrong = MISTAKES["A of the next tile"][0]
    assert judge(wrong, Always("proved")(wrong))[0] == "WRONG proved"


# ---- planted mistakes


def nothing_is_exchanged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(agreement, "find_exchanged", lambda products, _: [""] * len(products))


def of_one_block(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(columns, "_may_be_one_sum", lambda one, other: one[0] == other[0])


def of_one_loop(patch: pytest.MonkeyPatch) -> None:
    right: Any = columns._are_others
    patch.setattr(columns, "_are_others", lambda one, two, **how: one.loops == two.loops and right(one, two, **how))


def every_thread_counts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(copies, "_check", every_check(copies._check))


def states_do_not_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(agreement, "_unlike_states", lambda _: "")


def one_in_each_block(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reachable, "is_of_block", lambda *_: True)


def unread_stages_do_not_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(delivers, "_find_unread", lambda *_: None)


def every_check(right: Callable[..., None]) -> Callable[..., None]:
    def check(source: Any, found: Any, point: Any) -> None:
        right(source, found, {name: of * 0 for name, of in point.items()})

    return check


@pytest.mark.parametrize(
    ("plant", "check"),
    [
        (nothing_is_exchanged, check_exchanged),
        (of_one_block, lambda: check_again("wgmma in another block of code")),
        (of_one_loop, lambda: check_again("one instruction")),
        (every_thread_counts, check_wrapped),
        (one_in_each_block, check_one_state),
        (states_do_not_count, lambda: check_shallow("b")),
        (unread_stages_do_not_count, lambda: check_mistake("one stage of three that is read")),
    ],
)
def test_planted_mistakes_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()

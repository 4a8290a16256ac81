"""Stages behind a loop whose trips the launch gives: right kernels are free, and none with a mistake is."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from swzverify.compiled.order import boxes, launch_counts
from swzverify.compiled.order.interleaved import _Runs
from swzverify.compiled.order.launch_counts import LaunchCount
from swzverify.compiled.order.verdict import RaceVerdict
from swzverify.compiled.scan import races
from swzverify.ir.expr import FALSE, Expr
from tests.order.conftest import HEAD as HEAD_OF_RINGS
from tests.order.conftest import races_in
from tests.order.pipeline_pieces import HEAD
from tests.order.random_counts import drawn
from tests.order.rings import RINGS

Patch = Callable[[pytest.MonkeyPatch], None]
ASSUMED = "the number of trips that {} gives is at least 0, and less than 2^30"


@pytest.fixture(autouse=True)
def _no_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is proved counts here: nothing is run."""
    monkeypatch.setattr(races.Runs, "confirmed", lambda _, found, *__: found)


def text_of(seed: int, mistake: int = -1) -> str:
    """A kernel of 64 threads."""
    pipeline, _, _ = drawn(seed, mistake)
    return HEAD + "\n".join(pipeline.lines) + "\nret;\n}\n"


COPIES, STORES = 3, 13
"""Seeds of a ring with two stages for copies, and of one with three for stores."""


def _changed(text: str, pattern: str, new: str) -> str:
    """The kernel with its first line that fits replaced; that is a line of the producer."""
    found, count = re.subn(pattern, new, text, count=1)
    assert count == 1
    return found


def _beyond() -> str:
    """From 1001 trips on the producer begins each tile with stage 0."""
    behind = r"\g<0>\nsetp.gt.u32 %p98, %r24, 1000;\n@%p98 mov.u32 \1, 0;"
    return _changed(text_of(COPIES), r"sub\.u32 (%r\d+), %r\d+, %r\d+;", behind)


def _beyond_in_other_widths(comparison: str) -> str:
    """The same, where the comparison reads the count with another width."""
    text = _beyond().replace("setp.gt.u32 %p98, %r24, 1000;", comparison)
    return text.replace("ld.param.u32 %r1", ".reg .b16 %h1;\nld.param.u32 %r1")


def _two_periods(stages: int) -> str:
    """With 6, 13, 20 ... trips the second warp does not wait for the store; its trips also name barriers.

    In the loop, trips count as numbers up to `stages`, and the count of the launch up to 7.
    """
    return f"""{HEAD}
@%p0 mbarrier.init.shared::cta.b64 [%r5], 32;
bar.sync 0;
mov.u32 %r20, 0;
mov.u32 %r21, 0;
mov.u32 %r22, 0;
setp.ne.u32 %p5, %r2, 0;
@%p5 bra TILE;
mad.lo.u32 %r34, %r3, 4, %r4;
st.shared.u32 [%r34], %r20;
mbarrier.arrive.shared::cta.b64 _, [%r5];
bra END;
TILE:
mov.u32 %r30, 0;
setp.lt.s32 %p6, %r1, 1;
@%p6 bra BEHIND;
LOOP:
rem.u32 %r31, %r30, {stages};
add.u32 %r31, %r31, 1;
bar.sync %r31, 32;
add.u32 %r30, %r30, 1;
setp.lt.s32 %p7, %r30, %r1;
@%p7 bra LOOP;
BEHIND:
add.u32 %r21, %r21, %r1;
rem.u32 %r21, %r21, 7;
setp.eq.u32 %p9, %r21, 6;
selp.u32 %r40, 1, 0, %p9;
xor.b32 %r41, %r20, %r40;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r5], %r41;
@!%p8 bra WAIT;
mad.lo.u32 %r34, %r3, 4, %r4;
ld.shared.u32 %r9, [%r34];
add.u32 %r22, %r22, 1;
xor.b32 %r20, %r20, 1;
setp.lt.u32 %p10, %r22, 1;
@%p10 bra TILE;
END:
ret;
}}
"""


def _longer() -> str:
    """With more than 2000 trips of a tile the producer makes one more."""
    more = r"setp.gt.s32 %p98, \2, 2000;\nselp.u32 %r998, 1, 0, %p98;\nadd.s32 \1, \2, %r998;"
    return _changed(text_of(COPIES), r"add\.s32 (%r\d+), (%r\d+), 0;", more)


def _unguarded() -> str:
    """Without trips the producer copies a stage all the same."""
    return _changed(text_of(COPIES), r"setp\.lt\.s32 (%p\d+), (%r\d+), 1;\n@%p\d+ bra L\d+;", "")


def given(before: str = "") -> str:
    """The launch says how many bytes are announced; `before` is what the producer does before its copy."""
    text = _changed(text_of(COPIES), r"_, \[(%r\d+)\], 128;", r"_, [\1], %r996;\n" + before)
    return _changed(text, r"setp\.eq\.u32 %p0", "ld.param.u32 %r996, [n];\nadd.u32 %r996, %r996, 64;\nsetp.eq.u32 %p0")


def _perhaps_two() -> str:
    """If data say it, there is one more copy, which may complete a phase."""
    more = "ld.global.u32 %r998, [%d1];\nsetp.eq.u32 %p98, %r998, 0;\n@%p98 bra LONE;\nadd.u32 %r997, %r33, 2048;\n"
    to = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    return given(more + f"{to} [%r997], [%d1], 128, [%r32];\nLONE:\n")


def _not_waited_for() -> str:
    """Loads of another warp behind a wait that says nothing of the bulk copy that writes there."""
    body = RINGS["bulk copy and a wait for cp.async"].body
    load = "ld.shared.u32 %r30, [%r4];"
    assert load in body
    body = body.replace(load, f"setp.lt.u32 %p3, %r1, 32;\n@%p3 bra END;\n{load}\nEND:")
    return f"{HEAD_OF_RINGS}{body}\nret;\n}}\n"


@pytest.mark.parametrize("seed", [COPIES, STORES])
def test_right_kernels_are_free(seed: int) -> None:
    """And what is assumed of the count is said."""
    found = races_in(text_of(seed))
    assert found.verdict is RaceVerdict.FREE
    assert ASSUMED.format("bytes 0 to 3 of the parameter n") in found.assumptions


@pytest.mark.parametrize(
    ("count", "words"),
    [
        ("add.s32 %r24, %r1, -5", ASSUMED.format("bytes 0 to 3 of the parameter n minus 5")),
        ("sub.s32 %r24, 5, %r1", ASSUMED.format("5 minus bytes 0 to 3 of the parameter n")),
    ],
    ids=["n - 5", "5 - n"],
)
def test_a_count_that_may_be_negative(count: str, words: str) -> None:
    """The assumption says what is not negative: n - 5, though the loop makes no trip for n up to 5.

    If the count is negative, the second warp does not wait for the store.
    """
    text = _two_periods(1).replace("%r1;", "%r24;").replace("%r1, 1;", "%r24, 1;")
    text = text.replace("bar.sync 0;", f"{count};\nbar.sync 0;")
    text = text.replace("setp.eq.u32 %p9, %r21, 6;", "add.u32 %r50, %r21, 1;")
    text = text.replace("selp.u32 %r40, 1, 0, %p9;", "bar.sync %r50, 32;\nshr.u32 %r40, %r24, 31;")
    found = races_in(text)
    assert found.verdict is RaceVerdict.FREE
    assert words in found.assumptions


@pytest.mark.parametrize("bytes_of", ["or.b32 %r996, %r1, 1", "and.b32 %r996, %r1, 63", "mov.u32 %r996, %ctaid.x"])
def test_bytes_that_no_launch_gives(bytes_of: str) -> None:
    """No number is 128 then, or not in all blocks: nothing can be assumed."""
    text = given().replace("add.u32 %r996, %r996, 64", bytes_of)
    assert text != given()
    assert races_in(text.replace("ld.param.u32 %r996, [n];\n", "")).verdict is not RaceVerdict.FREE


@pytest.mark.parametrize(
    "comparison",
    [
        "cvt.u64.u32 %d8, %r24;\nsetp.gt.u64 %p98, %d8, 1000;",
        "cvt.u16.u32 %h1, %r24;\nsetp.gt.u16 %p98, %h1, 1000;",
    ],
    ids=["64 bits", "16 bits"],
)
def test_a_count_that_is_read_with_another_width(comparison: str) -> None:
    """A period is shown for it as for 32 bits."""
    assert races_in(_beyond_in_other_widths(comparison)).verdict is not RaceVerdict.FREE


def test_trips_and_a_count_with_two_periods() -> None:
    """Trips that are kept as numbers of another period do not say which number the count is."""
    assert races_in(_two_periods(5)).verdict is not RaceVerdict.FREE


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [COPIES, STORES])
def test_mistakes_are_not_free(seed: int) -> None:
    """Each mistake in the stages, phases, trips, waits and arrivals."""
    right, _, _ = drawn(seed, -1)
    said = {what: races_in(text_of(seed, at)).verdict for at, what in enumerate(right.chances)}
    assert [what for what, verdict in said.items() if verdict is RaceVerdict.FREE] == []


def _all_is_periodic(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LaunchCount, "is_periodic", lambda *_: True)


def _conditions_are_what_samples_show(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(launch_counts, "bit_xor", lambda *_: FALSE)


def _no_count_is_small(patch: pytest.MonkeyPatch) -> None:
    right = LaunchCount.cases

    def wrong(self: LaunchCount, known: Expr | None, need: int) -> Iterator[Expr]:
        found = list(right(self, known, need))
        yield from found[-1:] if found and need < self.end else found

    patch.setattr(LaunchCount, "cases", wrong)


def _all_copies_are_made(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(boxes, "_makes_all", lambda *_: True)


def _no_phase_completes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Runs, "_asked", lambda *_: set[int]())


MISTAKES: dict[str, tuple[Patch, Callable[[], str]]] = {
    "periods": (_all_is_periodic, _beyond),
    "conditions": (_conditions_are_what_samples_show, _longer),
    "small counts": (_no_count_is_small, _unguarded),
    "bytes": (_all_copies_are_made, _perhaps_two),
    "phases": (_no_phase_completes, _not_waited_for),
}


SLOW = {"conditions", "small counts"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.nightly] * (n in SLOW)) for n in MISTAKES])
def test_planted_mistakes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mistake of ours, a wrong kernel is free."""
    patch, make = MISTAKES[name]
    text = make()
    assert races_in(text).verdict is not RaceVerdict.FREE
    patch(monkeypatch)
    assert races_in(text).verdict is RaceVerdict.FREE

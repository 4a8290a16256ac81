"""What the async proxy reads and writes: right kernels are free, and none with a mistake is."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.order import boxes, flights, objects, proxies, store_boxes, walk
from swzverify.compiled.order.flights import Flight, Flights, Running
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.tracked import Tracked
from swzverify.compiled.order.verdict import KernelRaces
from swzverify.compiled.scan.race_meetings import MeetingJudge
from swzverify.compiled.scan.race_parts import OF_LINES
from tests.order.conftest import races_in
from tests.order.tiles import FIELDS, TILES

Patch = Callable[[pytest.MonkeyPatch], None]


def found(name: str) -> KernelRaces:
    text, _, threads = TILES[name]
    return races_in(text, (threads, 1, 1), target="sm_90a")


@pytest.mark.parametrize("name", TILES)
def test_free_only_if_right(name: str) -> None:
    """A kernel is free if it is right, and only then."""
    assert (found(name).verdict.value == "free") is TILES[name].is_free, found(name).reason


def test_the_box_is_assumed_in_words() -> None:
    line = TILES["alone"].text.splitlines().index(next(x for x in TILES["alone"].text.splitlines() if ".tensor." in x))
    assert f"the box of the tensor map at line {line + 1} has 256 bytes" in found("alone").assumptions


def test_the_most_that_a_box_has_is_assumed_in_words() -> None:
    lines = TILES["boxed, an object behind it"].text.splitlines()
    line = next(at for at, each in enumerate(lines, 1) if ".tensor." in each)
    assert (
        f"the box of the tensor map at line {line} has at most 512 bytes"
        in found("boxed, an object behind it").assumptions
    )


def test_the_wait_of_one_warp_is_assumed_in_words() -> None:
    text = "a warp that has waited for wgmma has waited for all that its warp group reads"
    assert text in found("ring").assumptions
    assert text not in found("kept").assumptions


@pytest.mark.parametrize("align", [128, 16])
def test_lines_of_an_array_of_unknown_alignment(align: int) -> None:
    """What `wgmma` reads with a swizzle mode is known only if it is known where lines begin."""
    text = TILES["ring"].text.replace(str(FIELDS), str(FIELDS | 3 << 62)).replace(".align 128", f".align {align}")
    races = races_in(text, (160, 1, 1), target="sm_90a")
    assert (races.verdict.value, races.reason == OF_LINES) == (("free", False) if align == 128 else ("unknown", True))


def test_each_piece_of_wmma_counts() -> None:
    """A word of each row is stored while another warp loads the matrix: no row may be forgotten."""
    for row in range(8):
        text = (
            ".version 8.3\n.target sm_90\n.address_size 64\n.shared .align 128 .b8 s[1024];\n.entry k() {\n"
            ".reg .b32 %r<9>; .reg .pred %p; .reg .f32 %f<9>;\nmov.u32 %r1, %tid.x; mov.u32 %r2, s; "
            "setp.lt.u32 %p, %r1, 32; @%p bra L; mov.u32 %r3, 16;\n"
            "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, [%r2], %r3; ret;\n"
            f"L: shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2; st.shared.u32 [%r4+{128 * row}], %r1; ret; }}"
        )
        assert races_in(text).verdict.value != "free"


def _products_are_done_at_once(patch: pytest.MonkeyPatch) -> None:
    """`wgmma` has read its operands when it is issued."""
    _ends_at_once(patch, Running.PRODUCT)


def _stores_are_done_at_once(patch: pytest.MonkeyPatch) -> None:
    """A bulk copy out of shared memory has read its source when it is issued."""
    _ends_at_once(patch, Running.STORE)


def _writes_need_no_fence(patch: pytest.MonkeyPatch) -> None:
    """What is written reaches the async proxy at once."""
    _ends_at_once(patch, Running.UNFENCED)


def _ends_at_once(patch: pytest.MonkeyPatch, how: Running) -> None:
    right = Flights.behind

    def wrong(self: Flights, index: int, running: frozenset[Flight]) -> frozenset[Flight]:
        return frozenset(each for each in right(self, index, running) if each.how is not how)

    patch.setattr(Flights, "behind", wrong)


def _a_group_more_is_waited_for(patch: pytest.MonkeyPatch) -> None:
    """`wait_group n` waits for all groups but the last n - 1."""
    right = flights._waited
    patch.setattr(flights, "_waited", lambda running, how, left: right(running, how, left - 1))


def _each_fence_is_one_of_the_proxies(patch: pytest.MonkeyPatch) -> None:
    """A fence of another space is taken for one of shared memory."""
    patch.setattr(flights, "_FENCE", flights.re.compile(r"fence\..*"))


def _bytes_need_not_add_up(patch: pytest.MonkeyPatch) -> None:
    """The boxes bring what is expected, however much room they have."""

    def wrong(
        kernel: object, announcement: object, total: int, rooms: dict[int, object], is_one: bool
    ) -> dict[int, int]:
        del kernel, announcement, is_one
        return dict.fromkeys(rooms, total // len(rooms))

    patch.setattr(boxes, "_shared_out", wrong)


def _one_thread_stands_for_all(patch: pytest.MonkeyPatch) -> None:
    """Guards of fences do not tell threads apart."""
    right = Tracked.of_coordinates
    patch.setattr(Tracked, "of_coordinates", lambda self, _: right(self, ()))


def _any_threads_wait_alike(patch: pytest.MonkeyPatch) -> None:
    """What one thread of a warp group waits for comes before the issue of all."""
    patch.setattr(proxies, "are_alike", lambda *_: True)


def _a_group_begins_together(patch: pytest.MonkeyPatch) -> None:
    """`wgmma` begins when all warps have issued it."""
    patch.setattr(flights, "_before_products", lambda *_: set())


def _one_address_is_written_in_one_way(patch: pytest.MonkeyPatch) -> None:
    """Two threads of a warp group name the same bytes only if their addresses look the same."""
    patch.setattr(proxies.Proxies, "_is_one", lambda *_: True)
    patch.setattr(proxies, "_may_be_one", lambda *_: False)


def _coordinates_tell_no_descriptors_apart(patch: pytest.MonkeyPatch) -> None:
    """What the first thread of a role gives as a descriptor is what all give."""
    patch.setattr(proxies.Proxies, "_is_one", lambda *_: True)


def _rows_are_of_their_lanes(patch: pytest.MonkeyPatch) -> None:
    """A row of a matrix is written by the lane that names it."""
    right = proxies.Proxies.moments

    def wrong(self: proxies.Proxies, one: SharedAccess, two: SharedAccess, level: int) -> object:
        return right(self, one, replace(two, is_collective=False), level)

    patch.setattr(proxies.Proxies, "moments", wrong)


def _copies_release_what_ended_before(patch: pytest.MonkeyPatch) -> None:
    """The end of a copy says that what its thread did before the copy has ended, too."""
    patch.setattr(objects, "_late_copies", lambda *_: set())


def _one_question_stands_for_all(patch: pytest.MonkeyPatch) -> None:
    """If some of the questions that are asked together are free, all are."""
    right = MeetingJudge.free_ones

    def wrong(self: MeetingJudge, asked: Sequence[Asked]) -> set[Asked]:
        return set(asked) if right(self, asked) else set()

    patch.setattr(MeetingJudge, "free_ones", wrong)


def _any_fence_of_the_reader_counts(patch: pytest.MonkeyPatch) -> None:
    """Each copy out of shared memory is behind a fence of its thread."""
    patch.setattr(walk, "Flight", lambda *of, **_: Flight(*of, is_fenced=True))


def _a_fence_counts_behind_later_barriers(patch: pytest.MonkeyPatch) -> None:
    """A fence covers what comes before a barrier behind it."""
    right = walk._Place._replace

    def wrong(self: walk._Place, **new: object) -> object:
        return right(self, **{**new, "is_fenced": bool(new.get("is_fenced", False)) or self.is_fenced})

    patch.setattr(walk._Place, "_replace", wrong)


def _who_multiplies_need_not_all_fence(patch: pytest.MonkeyPatch) -> None:
    """A fence of one thread of a warp group stands for those of all."""
    patch.setattr(proxies.Proxies, "_is_unfenced", lambda _, flight: not flight.is_fenced)


def _a_fence_needs_no_barrier_before_it(patch: pytest.MonkeyPatch) -> None:
    """What a thread writes comes before the fences of its warp group."""
    right = Flights._fenced

    def wrong(self: Flights, running: Iterable[Flight]) -> frozenset[Flight]:
        return frozenset(replace(each, is_met=True) for each in right(self, running))

    patch.setattr(Flights, "_fenced", wrong)


def _boxes_are_small(patch: pytest.MonkeyPatch) -> None:
    """A box out of shared memory has at most 512 bytes."""
    right = store_boxes._room
    patch.setattr(store_boxes, "_room", lambda *of: min(512, right(*of)))


def _an_instruction_has_one_map(patch: pytest.MonkeyPatch) -> None:
    """The tensor map of an instruction is one, however its address changes."""
    patch.setattr(store_boxes, "UniformLeaf", object)


MISTAKES: dict[str, tuple[Patch, str]] = {
    "products": (_products_are_done_at_once, "ring, given back before the wait"),
    "stores": (_stores_are_done_at_once, "kept, no wait"),
    "fences": (_writes_need_no_fence, "stored, no fence"),
    "guards": (_one_thread_stands_for_all, "kept, one thread fences"),
    "groups": (_a_group_more_is_waited_for, "ring, one group too late"),
    "spaces": (_each_fence_is_one_of_the_proxies, "stored, fence of global memory"),
    "waits": (_any_threads_wait_alike, "ring, one warp waits for full"),
    "begins": (_a_group_begins_together, "own, no barrier before the product"),
    "words": (_one_address_is_written_in_one_way, "ring, warps name a tile in their own words"),
    "descriptors": (_coordinates_tell_no_descriptors_apart, "ring, each thread names its own bytes"),
    "rows": (_rows_are_of_their_lanes, "kept, only the lanes with addresses fence"),
    "released": (_copies_release_what_ended_before, "half stored, half copied, fence behind the arrival"),
    "ended": (_copies_release_what_ended_before, "reused, the wait for the product is behind the arrival"),
    "together": (_one_question_stands_for_all, "kept, one group too late"),
    "any fence": (_any_fence_of_the_reader_counts, "kept, one thread fences"),
    "late fence": (
        _a_fence_counts_behind_later_barriers,
        "kept, the thread that copies fences before another barrier",
    ),
    "fences of some": (_who_multiplies_need_not_all_fence, "stored, one warp that multiplies fences"),
    "fences of the writer": (
        _who_multiplies_need_not_all_fence,
        "own, only the warp that writes fences behind the barrier",
    ),
    "met": (_a_fence_needs_no_barrier_before_it, "own, fence behind a barrier of each warp"),
    "fence before the wait": (
        _a_fence_counts_behind_later_barriers,
        "stored, who multiplies fences before the wait",
    ),
    "small boxes": (_boxes_are_small, "boxed, a write at the end of the array"),
    "one map": (_an_instruction_has_one_map, "boxed, another map in each trip"),
    "bytes": (_bytes_need_not_add_up, "alone, other bytes are expected"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mistake of ours, some kernel gets a wrong verdict."""
    patch, kernel = MISTAKES[name]
    patch(monkeypatch)
    assert found(kernel).verdict.value == "free"

"""Blocks that run side by side do what each of them does alone."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from swzverify.compiled.kernel import accesses, inlined
from swzverify.compiled.ptx import Function, Module, read_module
from swzverify.compiled.trial import Launch, Launcher, Search, Trial, lanes, machine, memory, run, run_all
from swzverify.compiled.trial.memory import Array, FaultError, Mask, Memory, Region
from tests.kernel.programs import program
from tests.kernel.test_programs import SHAPES
from tests.kernel.texts import HEAD, TOP
from tests.kernel.traps import BODIES, text_of
from tests.trial.float_programs import program as float_program
from tests.trial.test_planted import BARRIER

LAUNCHES = 14
DYNAMIC_BYTES = 48 << 10
STEPS = (900, 40, 7)
"""Steps of the launches in turn, so that some are cut off."""
ATOMICS = """
shl.b32 %r20, %r1, 2; and.b32 %r21, %r20, 28; add.u32 %r21, %r21, %r3;
atom.shared.add.u32 %r5, [%r21], %r1; atom.shared.max.s32 %r6, [%r21], %r2;
atom.shared.cas.b32 %r7, [%r21], %r5, %r6; red.shared.inc.u32 [%r21], %r2;
and.b32 %r5, %r5, 60; add.u32 %r5, %r5, %r3; ld.shared.u32 %r6, [%r5];
"""
FORGOTTEN = """
.reg .f32 %f<3>; cvt.rn.f32.u32 %f0, %r2; ex2.approx.f32 %f1, %f0; mov.b32 %r9, %f1;
and.b32 %r9, %r9, 124; add.u32 %r9, %r9, %r3; setp.gt.u32 %p1, %r2, 16;
@%p1 st.shared.u32 [%r9], %r1;
ld.shared.u32 %r5, [%r3]; and.b32 %r5, %r5, 60; add.u32 %r5, %r5, %r3; ld.shared.u32 %r6, [%r5];
"""
"""Launches with a large parameter store to a place that is not known."""
BEYOND = """
shl.b32 %r20, %r2, 9; add.u32 %r20, %r20, %r3; ld.shared.v2.u32 {%r20, %r5}, [%r20];
setp.gt.u32 %p1, %r2, 20; @%p1 trap;
shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r3; st.shared.u32 [%r6], %r20;
"""
"""Launches with a large parameter read outside of the array, into the register of the address."""
PARTLY = """
.reg .f32 %f<3>; cvt.rn.f32.u32 %f0, %r2; ex2.approx.f32 %f1, %f0; mov.b32 %r9, %f1;
setp.gt.u32 %p1, %r1, %r2; shl.b32 %r5, %r1, 2; @%p1 mov.b32 %r5, %r9;
and.b32 %r5, %r5, 124; add.u32 %r5, %r5, %r3; ld.shared.u32 %r6, [%r5];
and.b32 %r6, %r6, 124; add.u32 %r6, %r6, %r3; ld.shared.u32 %r7, [%r6];
setp.gt.u32 %p1, %r9, 5; @%p1 bra E; ld.shared.u32 %r7, [%r3];
E:
"""
"""In launches with a small parameter some threads load from a place that is not known."""
WRITTEN = [f"{TOP}{HEAD}{body}\nret; }}" for body in (BARRIER, ATOMICS, FORGOTTEN, BEYOND, PARTLY)]


def kernels(seeds: range) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Kernels `k` of many kinds, with the shape of a block."""
    yield from ((text, (64, 1, 1)) for text in WRITTEN)
    yield from ((program(seed), SHAPES[seed % len(SHAPES)]) for seed in seeds)
    yield from ((float_program(seed), (64, 1, 1)) for seed in seeds[::4])
    yield from ((text_of(BODIES[name]), (8, 5, 1)) for name in list(BODIES)[:: max(1, 200 // len(seeds))])


def did(trial: Trial) -> dict[str, Any]:
    """What a trial did, so that two can be compared."""
    seen = {
        index: (
            [each.tobytes() for each in found.addresses],
            [each.tobytes() for each in found.active],
            found.warps,
            found.is_all,
        )
        for index, found in trial.seen.items()
    }
    ended = (trial.ended, trial.fault, trial.is_cut_off, trial.steps)
    left = trial.memory.touched()
    return {"seen": {} if trial.fault else seen, "ended": ended, "left": left, "ways": trial.ways} | {
        "compared": trial.compared,
        "starts": trial.starts,
    }


def prepared(text: str, shape: tuple[int, int, int]) -> tuple[Module, Function, list[Launch], list[int], list[int]]:
    """What `run_all` takes of a kernel: its launches, the accesses that are wanted, and the steps of each launch."""
    module = read_module(text, "k.ptx")
    function = module.function("k")
    assert function is not None
    wanted = [each.site.index for each in accesses(module, function, shape) if each.site.index >= 0]
    whole = inlined(module, function).function
    launches = [*islice(Search(Launcher(whole, shape, DYNAMIC_BYTES)), LAUNCHES)]
    return module, whole, launches, wanted, [STEPS[at % len(STEPS)] for at in range(len(launches))]


def differences(seeds: range, out: Counter[str]) -> list[str]:
    """What differs between launches side by side and alone; `out` counts how launches ended."""
    found: list[str] = []
    for text, shape in kernels(seeds):
        module, whole, launches, wanted, steps = prepared(text, shape)
        together = run_all(module, whole, launches, wanted, steps, keeps_memory=True)
        assert len(together) == len(launches)
        for launch, most, trial in zip(launches, steps, together, strict=True):
            mine, alone = did(trial), did(run(module, whole, launch, wanted, most))
            found += [f"{launch.words}: {name}\n{text}" for name in mine if mine[name] != alone[name]]
            kind = "fault" if trial.fault else "cut off" if trial.is_cut_off else "ended" if trial.ended else "whole"
            out[kind] += 1
    return found


def test_each_launch_does_what_it_does_alone() -> None:
    out: Counter[str] = Counter()
    assert differences(range(6), out) == []
    assert min(out[kind] for kind in ("fault", "cut off", "ended", "whole")) >= 2


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(6, 206, 20))
def test_many_launches_do_what_they_do_alone(start: int) -> None:
    assert differences(range(start, start + 20), Counter()) == []


def test_so_many_threads_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of blocks side by side is no matter of what they do."""
    monkeypatch.setattr(machine, "MOST_THREADS", 200)
    assert differences(range(2), Counter()) == []


def test_a_machine_is_freed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that stop leave no error behind that holds the machine, and with it megabytes of memory."""
    made: list[weakref.ref[Any]] = []
    start = machine.Machine.__init__

    def started(self: Any, *given: Any) -> None:
        made.append(weakref.ref(self))
        start(self, *given)

    monkeypatch.setattr(machine.Machine, "__init__", started)
    gc.disable()
    try:
        assert differences(range(1), Counter()) == []
        assert len(made) > 50
        assert [each for each in made[:-1] if each() is not None] == []
    finally:
        gc.enable()


def test_what_was_forgotten_stays_so_however_often() -> None:
    """More often than the counter of a block has numbers, between stores to changing places."""
    seen = Memory([[Region(0, 64, np.arange(64, dtype=np.uint8))] for _ in range(2)], 1)
    expected = np.ones((2, 64), dtype=np.bool_)
    places = np.arange(0, 64, 4)
    for turn in range(300):
        block = turn % 3 % 2
        thread = np.array([block])
        seen.forget(thread)
        expected[block] = False
        for at, known in ((turn % 16, True), (turn * 5 % 16, False)):
            seen.store(places[[at]], thread, 4, np.array([turn]), np.array([known]))
            expected[block, 4 * at : 4 * at + 4] = known
        for each in range(2):
            _, known_words = seen.load(places, np.full(16, each), 4)
            assert known_words.tolist() == expected[each, ::4].tolist(), turn


def test_pages_hold_what_one_array_of_bytes_would() -> None:
    """Words of all widths in two blocks, most of them near the ends of pages, and regions of all kinds of sizes."""
    draw = np.random.default_rng(7)
    sizes = (5000, 1, 2048, 4097)
    data = [[draw.integers(0, 256, size, dtype=np.uint8) for size in sizes] for _ in range(2)]
    regions = [[Region(10_000 * at, len(each), each) for at, each in enumerate(mine)] for mine in data]
    memory, plain = Memory(regions, 1), [[each.copy() for each in mine] for mine in data]
    for _ in range(600):
        block, region, width = int(draw.integers(2)), int(draw.integers(len(sizes))), int(draw.choice((1, 2, 4, 8)))
        if width > sizes[region]:
            continue
        near = int(draw.choice((0, 2048, 4096))) + int(draw.integers(-width, width + 1))
        at, thread = min(max(near, 0), sizes[region] - width), np.array([block])
        here, place = plain[block][region][at : at + width], np.array([10_000 * region + at])
        if draw.random() < 0.5:
            here[:] = draw.integers(0, 256, width)
            value = np.array([int.from_bytes(here.tobytes(), "little")], dtype=np.uint64).view(np.int64)
            memory.store(place, thread, width, value, np.array([True]))
        found, known = memory.load(place, thread, width)
        assert found.astype("<u8").tobytes()[:width] == here.tobytes()
        assert known.all()


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_a_word_is_in_its_region_up_to_the_last_byte(width: int) -> None:
    """The addresses of several threads are looked up at once if one region has all of them."""
    memory, threads = Memory([[Region(4096, 40), Region(8192, 64)]], 2), np.arange(2)
    for end in (4096 + 40, 8192 + 64):
        assert memory.load(np.full(2, end - width), threads, width)[1].all()
        for outside in (end - width + 1, end, 4095, 1 << 62, -1):
            with pytest.raises(FaultError):
                memory.load(np.array([end - width, outside]), threads, width)
            with pytest.raises(FaultError):
                memory.load(np.array([outside, outside]), threads, width)
    assert memory.load(np.array([4096, 8192]), threads, width)[1].all()


@pytest.mark.parametrize("size", [8, 12, 20, 2044])
def test_threads_have_bytes_of_their_own_of_any_size(size: int) -> None:
    """Words that are aligned in the addresses of a thread need not be so among the bytes of all threads."""
    memory, threads = Memory([[Region(64, size, per_thread=True)]], 5), np.arange(5)
    here = np.full(5, 64)
    memory.write(memory.reach(here, threads, 8), 0, 8, threads * 0x0101010101010101, np.ones(5, dtype=np.bool_))
    for width in (1, 2, 4, 8):
        found, _ = memory.load(here + 8 - width, threads, width)
        assert found.tolist() == [int.from_bytes(bytes([each]) * width) for each in range(5)]


def test_a_copy_of_words_reads_all_of_them_first() -> None:
    """Copies of a warp to the place from which its next lane reads."""
    bytes_ = np.arange(80, dtype=np.uint8)
    memory = Memory([[Region(0, 80, bytes_)]], 4)
    memory.copy(np.arange(4) * 16, np.arange(1, 5) * 16, np.arange(4), 16)
    found, _ = memory.load(np.arange(80), np.zeros(80, dtype=np.int64), 1)
    assert found.tolist() == [*range(16), *range(64)]


def forget_all(self: Any, _threads: Array) -> None:
    self._forgotten += 1


def all_blocks(_self: Any, which: Mask) -> Mask:
    return np.full(len(which), which.any())


def all_stop(self: Any, _block: int, error: Exception) -> None:
    for block in range(self.blocks):
        STOP(self, block, error)


def one_counts(counts: Any, block: Any, lanes: Any, targets: Any, active: Mask) -> None:
    COUNT(counts, block, lanes, targets, active & (lanes.block_of == 0))


def of_first_block(self: Any, addresses: Array, threads: Array, *widths: int) -> Any:
    return AT(self, addresses, threads % self._threads, *widths)


def as_one_block(self: Any) -> None:
    if len(np.unique([barrier.block for barrier in self.barriers])) > 1:
        self.barriers = {replace(barrier, block=0): waiting for barrier, waiting in self.barriers.items()}
    RELEASE(self)


STOP, COUNT = machine.Machine._stop, machine.count_ways
AT, RELEASE = memory.Memory._at, machine.Machine._release
PLANTED: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "one block forgets what all blocks have in memory": (memory.Memory, "forget", forget_all),
    "no block loads where an address of one is not known": (lanes.Lanes, "whole_blocks", all_blocks),
    "all blocks stop where one does": (machine.Machine, "_stop", all_stop),
    "ways of one block are counted": (machine, "count_ways", one_counts),
    "all blocks have one memory": (memory.Memory, "_at", of_first_block),
    "barriers of one block are those of others": (machine.Machine, "_release", as_one_block),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, attribute, wrong = PLANTED[name]
    monkeypatch.setattr(where, attribute, wrong)
    assert differences(range(1), Counter()) != []

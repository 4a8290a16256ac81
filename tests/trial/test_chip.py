"""Trials against an H200: single instructions, and random programs whose lanes part."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from swzverify.compiled.kernel import inlined
from swzverify.compiled.ptx import Module, read_module
from swzverify.compiled.trial import Launch, run
from swzverify.compiled.trial.launch import Buffer, Data
from swzverify.compiled.trial.memory import BUFFER_BASE, BUFFER_STEP, Bytes
from tests.nightly import counts, share
from tests.ptx_oracle import random_programs
from tests.ptx_oracle.ask_chip import PROGRAMS, program_inputs, program_of
from tests.ptx_oracle.case_list import THREADS, Case, all_cases, inputs
from tests.ptx_oracle.test_chip import LOOSE, agrees, data, text

CHUNK = 125
STEPS = 3000


@cache
def cases() -> Module:
    """The kernels of all single instructions."""
    return read_module(text(), "cases.ptx")


@dataclass(frozen=True)
class Given(Buffer):
    """A buffer of these bytes."""

    data: Data = Data.ZERO
    begin: int = 0
    raw: Bytes = field(default_factory=lambda: np.zeros(0, np.uint8))

    @property
    def content(self) -> Bytes:
        return self.raw


def left_behind(
    module: Module, kernel: str, given: NDArray[np.uint8], sizes: list[int]
) -> list[tuple[NDArray[np.uint8], NDArray[np.bool_]]]:
    """What is in buffers of these sizes, behind a first one with `given`, when a kernel has run;
    and which bytes of it are known.
    """
    function = module.function(kernel)
    assert function is not None
    buffers = tuple(Given(raw=raw) for raw in (given, *(np.zeros(size, np.uint8) for size in sizes)))
    places = [BUFFER_BASE + at * BUFFER_STEP for at in range(len(buffers))]
    values = {each.name: place.to_bytes(8, "little") for each, place in zip(function.parameters, places, strict=True)}
    launch = Launch((1, 1, 1), (THREADS, 1, 1), (0, 0, 0), 0, values, buffers, "")
    found = run(module, inlined(module, function).function, launch, (), STEPS)
    assert not found.fault, found.fault
    if found.ended:
        return [(np.zeros(size, np.uint8), np.zeros(size, np.bool_)) for size in sizes]
    read = [
        found.memory.load(np.arange(place, place + size), np.zeros(size, dtype=np.int64), 1)
        for place, size in zip(places[1:], sizes, strict=True)
    ]
    return [(values.astype(np.uint8), known) for values, known in read]


def answered(case: Case, chip: NDArray[np.uint64]) -> tuple[int, bool]:
    """How many threads a trial knows the answer of, and whether they have the chip's."""
    given = np.ascontiguousarray(inputs()).view(np.uint8).reshape(-1)
    ((answer, known),) = left_behind(cases(), case.name, given, [THREADS * 8])
    told = known.reshape(-1, 8).all(axis=1)
    is_right = not told.any() or agrees(case, answer.view(np.uint64)[told], chip[told])
    return int(told.sum()), is_right


@pytest.mark.parametrize("start", share(range(0, 740, CHUNK), 2))
def test_a_known_answer_is_the_chips(start: int) -> None:
    wrong: list[str] = []
    threads = 0
    for case, chip in zip(all_cases()[start : start + CHUNK], data()["answers"][start:], strict=False):
        told, is_right = answered(case, chip)
        threads += told
        if not is_right:
            wrong.append(case.body)
    assert wrong == []
    assert threads >= TOLD[start]


TOLD = {0: 6720, 125: 5696, 250: 7040, 375: 5864, 500: 5764, 625: 2773}
"""Answers of each chunk that a trial knows, at least: one of each thread that runs an instruction.
Floats that are no numbers, approximations, halves in pairs and matrices are most of the others.
"""


def run_program(seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The last registers of all lanes of a random program, and its traces."""
    sizes = [THREADS * 4 * count for count in (random_programs.REGISTERS, random_programs.TRACES)]
    module = read_module(random_programs.text_of(program_of(seed)), "p.ptx")
    given = np.ascontiguousarray(program_inputs(seed)).view(np.uint8).reshape(-1)
    lasts, traces = left_behind(module, "program", given, sizes)
    assert lasts[1].all()
    assert traces[1].all()
    return lasts[0].view(np.uint32), traces[0].view(np.uint32)


@pytest.mark.parametrize("count", counts(60, PROGRAMS))
def test_lanes_are_together_where_the_chip_has_them_together(count: int) -> None:
    """Of 9,348 trace points in 150 programs the chip has the same lanes but in three programs."""
    different = {}
    for seed in range(count):
        lasts, mine = run_program(seed)
        assert zlib.crc32(lasts.tobytes()) == data()["lasts"][seed]
        chip = data()["traces"][seed].reshape(-1)
        if (mine != chip).any():
            different[seed] = "fewer" if (mine & chip == chip).all() else "others"
    assert different == {seed: how for seed, how in LOOSE.items() if seed < count}

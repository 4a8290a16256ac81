"""Trials against an H200: single instructions, and random programs whose lanes part."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from swzverify.kernel import inlined
from swzverify.ptx import Module, read_module
from swzverify.trial import Launch, run
from swzverify.trial.memory import BUFFER_BASE, BUFFER_STEP
from tests.ptx_oracle import random_programs
from tests.ptx_oracle.ask_chip import PROGRAMS, program_inputs, program_of
from tests.ptx_oracle.case_list import THREADS, all_cases, inputs
from tests.ptx_oracle.test_chip import LOOSE, agrees, data, text

CHUNK = 125
STEPS = 3000


@cache
def cases() -> Module:
    """The kernels of all single instructions."""
    return read_module(text(), "cases.ptx")


def left_behind(
    module: Module, kernel: str, given: NDArray[np.uint8], sizes: list[int]
) -> tuple[list[bytes], list[bool]]:
    """What is in buffers of these sizes, behind a first one with `given`, when a kernel has run;
    and of each whether all of it is known.
    """
    function = module.function(kernel)
    assert function is not None
    buffers = (given, *(np.zeros(size, np.uint8) for size in sizes))
    places = [BUFFER_BASE + at * BUFFER_STEP for at in range(len(buffers))]
    values = {each.name: place.to_bytes(8, "little") for each, place in zip(function.parameters, places, strict=True)}
    launch = Launch((1, 1, 1), (THREADS, 1, 1), (0, 0, 0), 0, values, buffers, "")
    found = run(module, inlined(module, function).function, launch, (), STEPS)
    assert not found.fault, found.fault
    if found.ended:
        return [b""] * len(sizes), [False] * len(sizes)
    read = [
        found.memory.load(np.arange(place, place + size), np.zeros(size, dtype=np.int64), 1)
        for place, size in zip(places[1:], sizes, strict=True)
    ]
    return [values.astype(np.uint8).tobytes() for values, _ in read], [bool(known.all()) for _, known in read]


@pytest.mark.parametrize("start", range(0, 625, CHUNK))
def test_a_known_answer_is_the_chips(start: int) -> None:
    wrong: list[str] = []
    told = 0
    given = np.ascontiguousarray(inputs()).view(np.uint8).reshape(-1)
    for case, chip in zip(all_cases()[start : start + CHUNK], data()["answers"][start:], strict=False):
        (answer,), (known,) = left_behind(cases(), case.name, given, [THREADS * 8])
        told += known
        if known and not agrees(case, np.frombuffer(answer, np.uint64), chip):
            wrong.append(case.body)
    assert wrong == []
    assert told >= TOLD[start]


TOLD = {0: 105, 125: 89, 250: 110, 375: 91, 500: 8}
"""Instructions of each chunk whose answers a trial knows, at least; floats are most of the
others, and of those after the last chunk it knows none.
"""


def run_program(seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The last registers of all lanes of a random program, and its traces."""
    sizes = [THREADS * 4 * count for count in (random_programs.REGISTERS, random_programs.TRACES)]
    module = read_module(random_programs.text_of(program_of(seed)), "p.ptx")
    given = np.ascontiguousarray(program_inputs(seed)).view(np.uint8).reshape(-1)
    (lasts, traces), known = left_behind(module, "program", given, sizes)
    assert all(known)
    return np.frombuffer(lasts, np.uint32), np.frombuffer(traces, np.uint32)


def test_lanes_are_together_where_the_chip_has_them_together() -> None:
    """Of 9,348 trace points in 150 programs the chip has the same lanes but in three programs."""
    different = {}
    for seed in range(PROGRAMS):
        lasts, mine = run_program(seed)
        assert zlib.crc32(lasts.tobytes()) == data()["lasts"][seed]
        chip = data()["traces"][seed].reshape(-1)
        if (mine != chip).any():
            different[seed] = "fewer" if (mine & chip == chip).all() else "others"
    assert different == LOOSE

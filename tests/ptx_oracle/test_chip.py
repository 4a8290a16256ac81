"""The oracle against an H200: single instructions, and random programs (see `ask_chip`)."""

from __future__ import annotations

import json
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from . import Buffer, launch, random_programs
from .ask_chip import PROGRAMS, program_inputs, program_of
from .case_list import THREADS, Case, all_cases, checksum, inputs, text_of

ANSWERS = Path(__file__).parent / "h200_answers.npz"
FLOATS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "f16x2": np.float16}
CHUNK = 75
LOOSE = {9: "fewer", 45: "fewer", 93: "fewer"}
"""Random programs in which the chip had fewer lanes together somewhere than the oracle."""


@cache
def data() -> dict[str, np.ndarray]:
    """What the chip answered."""
    with np.load(ANSWERS) as found:
        return {name: found[name] for name in found.files}


@cache
def text() -> str:
    """The PTX of all cases."""
    return text_of(all_cases())


def numbers(answer: np.ndarray, kind: str) -> np.ndarray:
    """Answers as floats, a row for each lane.

    Of bfloat16 as the singles that they are the upper halves of.
    """
    if kind.startswith("bf16"):
        halves = answer.view(np.uint16).reshape(len(answer), 4)[:, : 2 if kind.endswith("x2") else 1]
        return (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)
    size = FLOATS[kind]
    return answer.view(size).reshape(len(answer), -1)[:, : 2 if kind.endswith("x2") else 1]


def agrees(case: Case, mine: np.ndarray, chip: np.ndarray) -> bool:
    """Whether answers are the same; of floats, what is no number may be so in different bits."""
    if case.compare == "exact":
        return bool((mine == chip).all())
    if case.compare == "rough":
        return bool(np.allclose(numbers(mine, "f32"), numbers(chip, "f32"), rtol=1e-5, atol=2e-6, equal_nan=True))
    first, second = numbers(mine, case.compare), numbers(chip, case.compare)
    both = np.isnan(first) & np.isnan(second)
    return bool((both | ((first == second) & (np.signbit(first) == np.signbit(second)))).all())


def answer(case: Case) -> np.ndarray:
    """What the oracle says of a case."""
    given = [Buffer(THREADS * 24, content=inputs()), Buffer(THREADS * 8)]
    result = launch(text(), case.name, [1], [THREADS], 0, given)
    assert not result.error, (case.body, result.error)
    return result.buffers[1].view(np.uint64)


def test_the_cases_are_those_that_the_chip_answered() -> None:
    assert [checksum(case.body) for case in all_cases()] == data()["checksums"].tolist()


@pytest.mark.parametrize("start", range(0, 750, CHUNK))
def test_cases(start: int) -> None:
    wrong = [
        (case.body, mine.tolist(), chip.tolist())
        for case, chip in zip(all_cases()[start : start + CHUNK], data()["answers"][start:], strict=False)
        if not agrees(case, mine := answer(case), chip)
    ]
    assert wrong == []


def test_the_file_says_where_it_comes_from() -> None:
    about = json.loads(str(data()["about"]))
    assert (about["device"], set(about)) == ("NVIDIA H200", {"device", "driver", "date"})


def test_no_case_is_left_out() -> None:
    assert 750 - CHUNK < len(all_cases()) <= 750


def run_program(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The last registers of all lanes of a random program, and its traces."""
    sizes = [THREADS * 4 * count for count in (random_programs.REGISTERS, random_programs.TRACES)]
    given = [Buffer(sizes[0], content=program_inputs(seed)), *(Buffer(size) for size in sizes)]
    result = launch(random_programs.text_of(program_of(seed)), "program", [1], [THREADS], 0, given)
    assert (result.error, result.warnings) == ("", [])
    return result.buffers[1].view(np.uint32).reshape(THREADS, -1), result.buffers[2].view(np.uint32)


@pytest.mark.parametrize("start", range(0, PROGRAMS, 25))
def test_random_programs_compute_what_lanes_alone_do(start: int) -> None:
    for seed in range(start, start + 25):
        found, _ = run_program(seed)
        assert zlib.crc32(found.tobytes()) == data()["lasts"][seed]
        alone = [random_programs.evaluate(program_of(seed), row) for row in program_inputs(seed).tolist()]
        assert found.tolist() == alone


def test_lanes_are_together_where_the_chip_has_them_together() -> None:
    """Of 9,348 trace points in 150 programs the chip has the same lanes but in three programs."""
    different = {}
    for seed in range(PROGRAMS):
        mine, chip = run_program(seed)[1], data()["traces"][seed].reshape(-1)
        if (mine != chip).any():
            different[seed] = "fewer" if (mine & chip == chip).all() else "others"
    assert different == LOOSE

"""Emitted programs: what they answer is taken for the same specs only, whole, and gives the same
result.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from swzverify.apps.run.emit import emitted
from swzverify.errors import SwzError
from swzverify.gpu.cost_check import LADDER, ladder_wavefronts, with_ladders
from swzverify.gpu.crosscheck import plan_all
from swzverify.gpu.emit import HEADER, Emitted, emit, read_answers
from swzverify.gpu.launch import pack, unpack
from swzverify.hardware import access_cost
from tests.gpu.simulated import answers_of
from tests.gpu.specs import claims_in
from tests.gpu.test_simulated import SPEC


@pytest.fixture(scope="module")
def program() -> Emitted:
    specs = {"t": claims_in(SPEC)}
    return emitted(specs, plan_all(specs))


def slopes(program: Emitted) -> bytes:
    """What a clock would say: a cycle a wavefront, but never less than four."""
    found: list[float] = []
    for each in program.timed.values():
        for i in range(len(each)):
            lanes = [int(a) if on else None for a, on in zip(each.addresses[i], each.active[i], strict=True)]
            found.append(max(4.0, float(access_cost(each.instruction, lanes).wavefronts)))
    return np.array(found, dtype="<f4").tobytes()


def written(program: Emitted) -> bytes:
    plan = plan_all({"t": claims_in(SPEC)})["t"]
    about = {
        "name": "A GPU",
        "capability": 90,
        "driver": "13.0",
        "shared_bytes_per_block": 232448,
        "program": program.digest,
    }
    return HEADER + json.dumps(about).encode() + b"\n" + pack(answers_of(plan)) + slopes(program)


def test_its_answers_are_read(program: Emitted, tmp_path: Path) -> None:
    file = tmp_path / "answers.bin"
    file.write_bytes(written(program))
    read = read_answers(file, program)
    assert read.device.name == "A GPU"
    assert len(read.answers) == len(program.launches)
    for name, each in program.timed.items():
        assert len(read.slopes[name]) == len(each)
        first = read.slopes[name][2 : 2 + len(LADDER)].tolist()
        assert first == [max(4, w) for w in ladder_wavefronts(each.instruction)]


def test_the_same_specs_give_the_same_program(program: Emitted) -> None:
    specs = {"t": claims_in(SPEC)}
    again = emitted(specs, plan_all(specs))
    assert again.source == program.source
    other = {"t": claims_in(SPEC.replace("Swizzle<3,3,3>", "Swizzle<2,3,3>"))}
    assert emitted(other, plan_all(other)).digest != program.digest


@pytest.mark.parametrize("cut", [0, 5, 40, 400, 4000, -1, -5000])
def test_a_file_that_is_cut_off(program: Emitted, tmp_path: Path, cut: int) -> None:
    file = tmp_path / "answers.bin"
    file.write_bytes(written(program)[:cut])
    with pytest.raises(SwzError, match="SWZ703"):
        read_answers(file, program)


def test_files_of_others(program: Emitted, tmp_path: Path) -> None:
    good = written(program)
    changed = {
        "another program's": good.replace(program.digest.encode(), b"0" * 64),
        "longer": good + b"\0\0\0\0",
        "no device": good.replace(b'"capability"', b'"capacity"'),
        "a device of two lines": good.replace(b'"A GPU"', b'"A GPU\\n\\n1 agree, 0 disagree"'),
        "a device that is no text": good.replace(b'"A GPU"', b"null"),
        "a capability that is no number": good.replace(b'"capability": 90', b'"capability": "90"'),
        "a capability that is a truth value": good.replace(b'"capability": 90', b'"capability": true'),
        "a capability beyond all": good.replace(b'"capability": 90', b'"capability": 1e400'),
        "no room": good.replace(b"232448", b'"x"'),
        "nested without end": HEADER + b"[" * 100_000 + b"\n" + good,
        "no json": good.replace(b'{"name"', b'{"name', 1),
        "no answers": good.replace(b"SWZANS01", b"SWZANS99"),
    }
    for data in changed.values():
        file = tmp_path / "answers.bin"
        file.write_bytes(data)
        with pytest.raises(SwzError, match="SWZ703"):
            read_answers(file, program)
    assert all(data != good for data in changed.values())
    with pytest.raises(SwzError, match="SWZ503"):
        read_answers(tmp_path / "none", program)


def test_the_folder(program: Emitted, tmp_path: Path) -> None:
    emit(tmp_path / "out", program)
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["Makefile", "README", "crosscheck.cu"]
    assert len((tmp_path / "out" / "README").read_text().splitlines()) == 3
    with pytest.raises(SwzError, match="not empty"):
        emit(tmp_path / "out", program)
    (tmp_path / "file").write_text("")
    with pytest.raises(SwzError, match="SWZ504"):
        emit(tmp_path / "file", program)


def test_answers_to_other_launches() -> None:
    plan = plan_all({"t": claims_in(SPEC)})["t"]
    launches, answers = plan.job.launches, answers_of(plan)
    data = pack(answers)
    assert len(unpack(data, launches, "f")) == len(launches)
    for other in (launches[1:], launches[::-1], (*launches, launches[0])):
        with pytest.raises(SwzError, match="SWZ703"):
            unpack(data, other, "f")


def test_calibration_goes_first(program: Emitted) -> None:
    for name, each in with_ladders(program.patterns).items():
        assert len(each) == 2 + len(LADDER) + len(program.patterns[name])

"""The commands without a GPU: plain messages, exit codes, and the programs that `--emit` writes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from swzverify.apps.cli import main
from swzverify.errors import SwzError
from swzverify.gpu import crosscheck as gpu_crosscheck
from swzverify.gpu.calibration import save_calibration
from swzverify.gpu.crosscheck import plan_all
from swzverify.gpu.device_facts import DeviceFacts
from swzverify.gpu.emit import HEADER
from swzverify.gpu.launch import DeviceAnswer, pack
from tests.gpu.simulated import answers_of
from tests.gpu.specs import H100, priced
from tests.gpu.test_calibration import ABOUT, honest

SPEC = """
swzverify: 1
target: sm_90
tiles:
  A: {element: f16, layout: "(16,64):(64,1)", swizzle: "Swizzle<3,3,3>"}
accesses:
  read: {tile: A, instruction: ldmatrix.x4, threads: 32, for: {k: 4}, coord: [tid%16, k*16 + tid/16*8]}
claims:
  - bijective: A
  - conflict_free: read
"""


@pytest.fixture
def spec(tmp_path: Path) -> str:
    file = tmp_path / "a.swz.yaml"
    file.write_text(SPEC)
    return str(file)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def with_device(monkeypatch: pytest.MonkeyPatch, facts: DeviceFacts = H100, *, wrong: bool = False) -> None:
    """The simulated device in place of the worker's process."""

    def functions(plans: dict, *_: object) -> tuple[DeviceFacts, dict[str, list[DeviceAnswer]]]:
        answers = {name: answers_of(plan) for name, plan in plans.items()}
        if wrong:
            next(iter(answers.values()))[0].places[0] ^= 2
        return facts, answers

    monkeypatch.setattr(gpu_crosscheck, "run_functions", functions)
    monkeypatch.setattr(gpu_crosscheck, "measure", lambda wanted, *_: priced(wanted))


def test_without_a_gpu(spec: str) -> None:
    result = run("crosscheck", spec)
    assert result.exit_code == 2
    assert "SWZ701" in result.output
    assert "--emit" in result.output
    assert "Traceback" not in result.output


def test_calibrate_without_a_gpu() -> None:
    result = run("calibrate")
    assert result.exit_code == 2
    assert "SWZ701" in result.output


def test_a_worker_that_dies(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def dead(*_: object) -> None:
        raise SwzError("SWZ702", "the process at the device ended with code -9: no word of it")

    monkeypatch.setattr(gpu_crosscheck, "work", dead)
    result = run("crosscheck", spec)
    assert result.exit_code == 2
    assert "SWZ702" in result.output


def test_with_a_device_that_agrees(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_device(monkeypatch)
    record = tmp_path / "r.json"
    result = run("crosscheck", spec, "--record", str(record))
    assert result.exit_code == 0, result.output
    assert "2 agree, 0 disagree, 0 not seen on an H100" in result.output
    proved = run("prove", spec, "--recording", str(record), "--format", "json")
    claims = {claim["kind"]: claim for claim in json.loads(proved.output)["claims"]}
    assert claims["conflict_free"]["evidence"] == "measured on an H100"
    assert claims["bijective"]["evidence"] == ""
    assert "measured on an H100" in run("prove", spec, "--recording", str(record)).output


def test_with_a_device_that_disagrees(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_device(monkeypatch, wrong=True)
    result = run("crosscheck", spec)
    assert result.exit_code == 1
    assert "and the hardware disagree" in result.output
    assert "the model says" in result.output
    report = json.loads(run("crosscheck", spec, "--format", "json").output)
    assert report["schema"] == "swzverify.crosscheck/1"
    assert report["summary"]["disagree"] == 1


def test_no_claim_and_bad_specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_device(monkeypatch)
    assert run("crosscheck", str(tmp_path)).exit_code == 5
    (tmp_path / "bad.swz.yaml").write_text("swzverify: 2\n")
    result = run("crosscheck", str(tmp_path))
    assert result.exit_code == 2
    assert "bad.swz.yaml" in "".join(result.output.split())


def test_emit_and_against(spec: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("crosscheck", spec, "--emit", str(out), "-q").exit_code == 0
    digest = (out / "crosscheck.cu").read_text().split('PROGRAM = "')[1][:64]
    from swzverify.apps.options.prove import Settings
    from swzverify.apps.run.crosscheck import judged_claims, verdicts

    specs = verdicts(judged_claims([spec], Settings())[0])
    answers = [answer for plan in plan_all(specs).values() for answer in answers_of(plan)]
    from swzverify.apps.run.emit import emitted
    from tests.gpu.test_emit import slopes

    about = {"name": "A GPU", "capability": 90, "driver": "13.0", "shared_bytes_per_block": 232448, "program": digest}
    tail = slopes(emitted(specs, plan_all(specs)))
    data = HEADER + json.dumps(about).encode() + b"\n" + pack(answers) + tail
    file = tmp_path / "answers.bin"
    file.write_bytes(data)
    result = run("crosscheck", spec, "--against", str(file))
    assert result.exit_code == 0, result.output
    assert "on A GPU" in result.output
    file.write_bytes(data[:-40])
    result = run("crosscheck", spec, "--against", str(file))
    assert result.exit_code == 2
    assert "SWZ703" in result.output


@pytest.mark.parametrize(
    "arguments",
    [("--emit", "d", "--against", "f"), ("--emit", "d", "--record", "f"), ("-v", "-q"), ("--cost", "guess")],
)
def test_usage(spec: str, arguments: tuple[str, ...]) -> None:
    result = run("crosscheck", spec, *arguments)
    assert result.exit_code == 2
    assert "Usage" in result.output


def test_a_kept_calibration(tmp_path: Path) -> None:
    file = tmp_path / "c.npz"
    save_calibration(file, honest())
    result = run("calibrate", "--from", str(file))
    assert result.exit_code == 0, result.output
    assert "the rule holds for 96 of 96 patterns" in " ".join(result.output.split())
    wrong = honest()
    wrong.counted["stmatrix.x2"].wavefronts[0] += 1
    save_calibration(tmp_path / "w.npz", wrong)
    result = run("calibrate", "--from", str(tmp_path / "w.npz"))
    assert result.exit_code == 1
    assert "stmatrix.x2" in result.output
    assert run("calibrate", "--from", "x", "--output", "y").exit_code == 2
    assert run("calibrate", "--from", str(tmp_path / "none")).exit_code == 2


def test_a_calibration_as_evidence(spec: str, tmp_path: Path) -> None:
    file = tmp_path / "c.npz"
    ampere = dataclasses.replace(honest(), about=dataclasses.replace(ABOUT, capability=80))
    save_calibration(file, ampere)
    wide = tmp_path / "wide.swz.yaml"
    wide.write_text(
        SPEC.replace("ldmatrix.x4, threads: 32, for: {k: 4}, coord: [tid%16, k*16 + tid/16*8]",
                     "ld.shared.v4.b32, threads: 32, for: {k: 4}, coord: [tid%16, k*16 + tid/16*8]")
    )  # fmt: skip
    for more, evidence in (((), "assumed"), (("--calibration", str(file)), "measured on A GPU")):
        result = run("prove", str(wide), "--target", "sm_80", "--format", "json", *more)
        assert result.exit_code == 0, result.output
        assert {claim["evidence"] for claim in json.loads(result.output)["claims"]} == {"", evidence}
    (tmp_path / "w.npz").write_text("")
    result = run("prove", spec, "--calibration", str(tmp_path / "w.npz"))
    assert result.exit_code == 2
    assert "SWZ705" in result.output


def test_kernels_that_do_not_compile(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(folder: Path, *_: object) -> None:
        (folder / "device.json").write_text(json.dumps(dataclasses.asdict(H100)))
        (folder / "0.problem").write_text("the compiler says:\nerror: expected a ';'")

    monkeypatch.setattr(gpu_crosscheck, "work", refusing)
    result = run("crosscheck", spec)
    assert result.exit_code == 2
    assert "SWZ702" in result.output
    assert "do not compile" in result.output


def test_a_claim_without_a_verdict_is_an_error(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has nothing to be compared with, and must not go missing either."""
    from swzverify.apps.run import one

    real = one.judge

    def judge(claim: object, **options: object) -> object:
        if type(claim).__name__ == "ConflictFree":
            raise SwzError("SWZ901", "on purpose")
        return real(claim, **options)  # type: ignore[arg-type]

    with_device(monkeypatch)
    monkeypatch.setattr(one, "judge", judge)
    result = run("crosscheck", spec)
    assert result.exit_code == 2
    assert "has no verdict" in " ".join(result.output.split())
    assert "1 agree" in result.output


def test_a_worker_that_ends_badly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The real `work`, with a program in place of Python that dies, or that says nothing of a
    device.
    """
    from swzverify.gpu.crosscheck import work

    program = tmp_path / "python"
    for body, word in (("kill -9 $$", "-9"), ("echo out of memory >&2; exit 1", "out of memory")):
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        with pytest.raises(SwzError, match=f"SWZ702.*{word}"):
            work(tmp_path, ["functions", str(tmp_path)], str(program))
    program.write_text("#!/bin/sh\nsleep 60\n")
    monkeypatch.setattr(gpu_crosscheck, "TIMEOUT_S", 0.2)
    with pytest.raises(SwzError, match="did not answer within"):
        work(tmp_path, ["functions", str(tmp_path)], str(program))


def test_a_bad_recording(spec: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("{}")
    result = run("prove", spec, "--recording", str(tmp_path / "r.json"))
    assert result.exit_code == 2
    assert "SWZ704" in result.output


def test_no_claim_writes_no_program(tmp_path: Path) -> None:
    none = tmp_path / "none.swz.yaml"
    none.write_text('swzverify: 1\ntiles: {A: {element: f16, layout: "(8,8):(8,1)"}}\n')
    result = run("crosscheck", str(none), "--emit", str(tmp_path / "out"), "-q")
    assert result.exit_code == 5
    assert "no claim found" in result.output
    assert not (tmp_path / "out").exists()

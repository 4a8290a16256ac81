"""`swzverify scan` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from swzverify.cli import main
from tests.kernel.texts import TOP
from tests.scan.texts import DATA, SKEWED, strided, text_of


def run(*words: str) -> Result:
    result = CliRunner().invoke(main, ["scan", *words], prog_name="swzverify")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def ptx(tmp_path: Path) -> str:
    path = tmp_path / "k.ptx"
    path.write_text(text_of(".loc 1 7 3\n" + strided(8) + SKEWED) + '\n.file 1 "k.cu"\n', encoding="utf-8")
    return str(path)


def test_json_has_the_fields(ptx: str) -> None:
    result = run(ptx, "--block", "64", "--format", "json")
    first, second = json.loads(result.stdout)["accesses"]
    assert result.exit_code == 0
    assert first["kernel"] == "k"
    assert first["source"] == {"file": "k.cu", "line": 7}
    assert first["instruction"] == "ld.shared.u32 %r30, [%r20]"
    assert (first["verdict"], first["ways"], first["wavefronts"], first["minimum"]) == ("conflict", 2, 2, 1)
    assert (first["address"], first["line"]) == ("s + tid.x*8", 7)
    assert (second["verdict"], second["parameters"]) == ("depends", ["n"])


def test_text_has_the_lanes_and_a_summary(ptx: str) -> None:
    lines = run(ptx, "--block", "64,1").stdout.splitlines()
    assert "  line 7 (k.cu:7): ld.shared.u32 %r30, [%r20]" in lines
    assert "    conflict: 2-way, 2 wavefronts of at least 1" in lines
    assert sum(line.endswith("  x") for line in lines) >= 2
    assert lines[-1] == "2 accesses: 1 conflict, 1 depends"


def test_the_exit_code(ptx: str, tmp_path: Path) -> None:
    assert run(ptx, "--block", "64", "--fail-on", "conflict").exit_code == 1
    assert run(ptx, "--block", "64", "--fail-on", "unknown").exit_code == 0
    assert run(ptx, "--fail-on", "unknown").exit_code == 1
    other = tmp_path / "free.ptx"
    other.write_text(text_of(strided(4)), encoding="utf-8")
    assert run(str(other), "--block", "64", "--fail-on", "conflict", "--fail-on", "unknown").exit_code == 0


def test_a_file_without_an_access_is_no_success(tmp_path: Path) -> None:
    for name, text in (("none.ptx", text_of("")), ("empty.ptx", TOP)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        for options in ((), ("--fail-on", "conflict", "--fail-on", "unknown")):
            assert run(str(tmp_path / name), *options).exit_code == 5


@pytest.mark.parametrize("block", ["0", "2048", "32,", "a", "1,1,65", "1,2,3,4", "-1", "٣"])
def test_a_block_that_is_none(ptx: str, block: str) -> None:
    result = run(ptx, f"--block={block}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--block" in result.stderr


def test_a_kernel_that_is_not_there(ptx: str) -> None:
    result = run(ptx, "--kernel", "kk")
    assert result.exit_code == 2
    assert "no kernel is called kk; there are k" in result.stderr or "did you mean 'k'" in result.stderr


def test_a_target_that_is_not_there(ptx: str) -> None:
    result = run(ptx, "--target", "sm_1")
    assert (result.exit_code, "SWZ402" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"no ptx", "SWZ531"), (b"\xff\xfe\x00", "SWZ531"), (b"", "SWZ531")],
)
def test_a_file_that_is_no_ptx(tmp_path: Path, content: bytes, code: str) -> None:
    path = tmp_path / "bad.ptx"
    path.write_bytes(content)
    result = run(str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert code in result.stderr


def test_a_file_that_is_not_there() -> None:
    result = run("nothing.ptx")
    assert result.exit_code == 2
    assert "nothing.ptx" in result.stderr


def test_what_cannot_be_read_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "half.ptx"
    path.write_text(text_of("ld.shared.u32 %r30, [%nothing];"), encoding="utf-8")
    result = run(str(path), "--block", "64", "--format", "json", "--fail-on", "unknown")
    (found,) = json.loads(result.stdout)["accesses"]
    assert (result.exit_code, found["verdict"]) == (1, "unknown")
    assert "%nothing" in found["reason"]


def test_data_are_named_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "data.ptx"
    body = "ld.param.u64 %d4, [q]; mul.wide.u32 %d5, %r1, 4; add.u64 %d1, %d4, %d5; " + DATA
    path.write_text(text_of(body), encoding="utf-8")
    assert "ld@6 (what global memory holds)" in run(str(path), "--block", "64").stdout

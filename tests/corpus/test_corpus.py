"""The tool that holds a corpus against the interpreter, on small kernels."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.corpus import measure as measuring
from tests.corpus import pool
from tests.corpus.__main__ import MANIFEST, main
from tests.corpus.figures import report
from tests.corpus.measure import Measured, measure
from tests.corpus.shapes import is_left
from tests.kernel.texts import HEAD, TOP
from tests.scan.texts import strided, text_of

JOB = ("k", (64, 1, 1), "launch", 300, 60)


def measured(folder: Path, body: str) -> Measured:
    path = folder / "k.ptx"
    path.write_text(text_of(body), encoding="utf-8")
    return measure(path, *JOB)


def test_a_conflict_is_met_by_the_interpreter(tmp_path: Path) -> None:
    (access,) = measured(tmp_path, strided(8)).accesses
    assert (access.verdict, access.ways, access.outcome, access.seen_ways) == ("conflict", 2, "same", 2)


def test_values_are_sought_that_lead_to_a_conflict(tmp_path: Path) -> None:
    guard = "setp.lt.u32 %p1, %r2, 4000; @%p1 bra OUT;"
    (access,) = measured(tmp_path, f"{guard} {strided(8)} OUT:").accesses
    assert (access.verdict, access.outcome) == ("conflict", "same")


def test_a_wrong_free_is_named_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = measuring._seen

    def lie(access: Any) -> Any:
        found = seen(access)
        found.verdict = "free"
        return found

    monkeypatch.setattr(measuring, "_seen", lie)
    text, is_right = report([measured(tmp_path, strided(8)).as_json()])
    assert not is_right
    assert "wrong free: k.ptx k block 64x1x1" in text


def test_too_few_ways_are_named_and_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = measuring._seen

    def lie(access: Any) -> Any:
        found = seen(access)
        found.ways = 3
        return found

    monkeypatch.setattr(measuring, "_seen", lie)
    text, is_right = report([measured(tmp_path, strided(16)).as_json()])
    assert not is_right
    assert "wrong ways" in text


def test_an_access_that_is_not_listed_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_scan", lambda *_: [])
    monkeypatch.setattr(measuring, "scan_module", lambda *_: [])
    found = measured(tmp_path, strided(8))
    assert found.missing
    assert not report([found.as_json()])[1]


def test_a_crash_is_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(measuring, "_scan", broken)
    text, is_right = report([measured(tmp_path, strided(8)).as_json()])
    assert "crashes: 1" in text
    assert not is_right


def test_a_bulk_copy_is_not_decided(tmp_path: Path) -> None:
    """It has no verdict on banks, so it is no part of the share that is decided."""
    found = measured(tmp_path, f"{strided(4)} cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 8192;")
    assert [each.kind for each in found.accesses] == ["visible", "hidden"]
    assert "decided: 1 of 1 visible (100.00 %)" in report([found.as_json()])[0]


def test_a_process_that_dies_is_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "measure", lambda *_: os._exit(3))
    (found,) = pool.measured([(tmp_path / "k.ptx", *JOB)], 1)
    assert found["crash"] == "the process died"


def test_the_command_measures_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one__two__k.cu.ptx").write_text(text_of(strided(8)), encoding="utf-8")
    kernels = [{"name": "k", "origin": "launch", "blocks": [[64, 1, 1]], "others": [[32, 2, 1]]}]
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"files": [{"repository": "one/two", "file": "k.cu", "kernels": kernels}]}))
    keep = tmp_path / "keep.jsonl"
    command = [str(tmp_path), "--manifest", str(manifest), "--keep", str(keep), "--steps", "300"]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "2 visible" in first
    assert "2 conflict: same" in first
    assert main(command) == 0
    assert capsys.readouterr().out == first
    assert len(keep.read_text().splitlines()) == 2


@pytest.mark.skipif(not MANIFEST.exists(), reason="there is no manifest")
def test_the_manifest_names_each_kernel_once_with_its_shapes() -> None:
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    names = [
        (each["repository"], each["file"], kernel["name"]) for each in manifest["files"] for kernel in each["kernels"]
    ]
    assert len(names) == len(set(names)) >= 200
    for each in manifest["files"]:
        assert each["repository"] in manifest["repositories"]
        for kernel in each["kernels"]:
            assert kernel["origin"] in ("launch", "required", "bound", "chosen")
            assert all(len(block) == 3 for block in kernel["blocks"])


def test_a_shape_at_which_all_launches_leave_the_array() -> None:
    body = "shl.b32 %r4, %r1, 7; add.u32 %r4, %r4, %r3; ld.shared.u32 %r5, [%r4];"
    text = f"{TOP}{HEAD}{body}\nret; }}"
    assert is_left(text, "k", (64, 1, 1)) is False
    assert is_left(text, "k", (128, 1, 1)) is True
    assert is_left(text, "other", (64, 1, 1)) is None
    assert is_left(f"{TOP}{HEAD}\nret; }}", "k", (64, 1, 1)) is None

"""Recordings: read as written, refused when damaged, and a label only for the very access that was
measured.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from swzverify.errors import SwzError
from swzverify.gpu.recording import (
    RecordedClaim,
    RecordedCost,
    RecordedSubject,
    Recording,
    digest,
    load_recording,
    save_recording,
)
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.subjects import Access

GOOD = RecordedCost(3, 3, 4, True)


def access(text: str = "tid*16", instruction: str = "ld.shared.v2.b64", target: str = "sm_90") -> Access:
    return Access("a", find_instruction(instruction), find_target(target), (64,), address=parse(text), bytes=1024)


def recording(subject: RecordedSubject | None = None, about: Access | None = None) -> Recording:
    found = subject or RecordedSubject("a", "x.swz.yaml", 64, 1024, True, True, GOOD)
    claim = RecordedClaim("x::a::conflict_free", "proved", True, "3 patterns", ("none",))
    key = digest(about or access())
    return Recording("A GPU", 90, "13.0", "2026-11-21", "counters", {"swzverify": "0.1.0"}, {key: found}, (claim,))


def test_read_as_written(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    save_recording(file, recording())
    assert load_recording(file) == recording()
    assert json.loads(file.read_text())["schema"] == "swzverify.recording/1"


def damaged() -> dict[str, str]:
    text = json.dumps({"schema": "swzverify.recording/1", **dataclasses.asdict(recording())})
    data = json.loads(text)
    key = next(iter(data["subjects"]))
    return {
        "cut": text[: len(text) // 2],
        "empty": "",
        "other": "[]",
        "schema": text.replace("recording/1", "recording/9"),
        "missing": text.replace('"driver"', '"drivel"'),
        "truth": text.replace('"agrees": true, "whole"', '"agrees": "yes", "whole"'),
        "cost truth": text.replace('"wavefronts": 4, "agrees": true', '"wavefronts": 4, "agrees": 1'),
        "capability": text.replace('"capability": 90', '"capability": "90"'),
        "subject": text.replace(f'"{key}": {{', f'"{key}": {{"more": 1, '),
        "list": text.replace('"claims": [', '"claims": [3, '),
        "deep": "[" * 100_000,
    }


@pytest.mark.parametrize("kind", list(damaged()))
def test_a_damaged_recording(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"{kind}.json"
    file.write_text(damaged()[kind])
    with pytest.raises(SwzError, match="SWZ704"):
        load_recording(file)


def test_files_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(SwzError, match="SWZ503"):
        load_recording(tmp_path / "none.json")
    (tmp_path / "b.json").write_bytes(b"\xff\xfe")
    with pytest.raises(SwzError, match="SWZ704"):
        load_recording(tmp_path / "b.json")
    with pytest.raises(SwzError, match="SWZ504"):
        save_recording(tmp_path / "no" / "r.json", recording())

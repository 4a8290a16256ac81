"""Frozen verdicts: what is written comes back, and each kind of difference is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swzverify.compiled.ptx import read_module_file
from tests.frozen.__main__ import compared, main, of_kernel
from tests.ptx.texts import HERE

SPEC = """swzverify: 1
target: sm_90
tiles: {A: {element: f32, layout: "(32,32):(32,1)"}}
accesses: {column: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [tid, 0]}}
claims: [{injective: A}, {conflict_free: column, expect: refuted, because: one bank}]
"""


def frozen(folder: Path, *more: str) -> dict[str, Any]:
    assert main(["write", str(folder / "v.json"), "--specs", str(folder / "a.swz.yaml"), "-j", "1", *more]) == 0
    found: dict[str, Any] = json.loads((folder / "v.json").read_text())
    return found


@pytest.mark.nightly
def test_claims_and_accesses_are_written(tmp_path: Path) -> None:
    (tmp_path / "a.swz.yaml").write_text(SPEC)
    (tmp_path / "ptx").mkdir()
    (tmp_path / "ptx" / "rows.ptx").write_text((HERE / "rows.ptx").read_text())
    (kernel,) = [each.name for each in read_module_file(HERE / "rows.ptx").functions if each.is_entry]
    kernels = {"kernels": [{"file": "rows", "mangled": kernel, "block": [64, 1, 1]}]}
    (tmp_path / "truth.json").write_text(json.dumps(kernels))
    found = frozen(tmp_path, "--truth", str(tmp_path))
    verdicts = [each["verdict"] for name, each in found.items() if "swz.yaml" in name]
    assert sorted(verdicts) == ["proved", "refuted"]
    accesses = {name: each for name, each in found.items() if name.startswith("rows.ptx")}
    assert accesses == of_kernel((tmp_path / "ptx" / "rows.ptx", kernel, (64, 1, 1)))
    assert f"rows.ptx::{kernel}::64x1x1::races" in accesses
    assert accesses
    assert main(["compare", str(tmp_path / "v.json"), str(tmp_path / "v.json")]) == 0


@pytest.mark.parametrize(
    ("old", "new", "kind", "code"),
    [
        ({"verdict": "free"}, {"verdict": "unknown"}, "less", 1),
        ({"verdict": "free"}, {"verdict": "conflict"}, "contradicts", 1),
        ({"verdict": "proved"}, None, "gone", 1),
        ({"verdict": "unknown"}, {"verdict": "free"}, "more", 0),
        ({"verdict": "free", "in_bounds": "proved"}, {"verdict": "free", "in_bounds": "unknown"}, "less", 1),
        ({"verdict": "conflict", "ways": 2}, {"verdict": "conflict", "ways": 4}, "figures", 0),
        (None, {"verdict": "free"}, "new", 0),
    ],
)
def test_differences(tmp_path: Path, old: Any, new: Any, kind: str, code: int) -> None:
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    texts = [{} if each is None else {"k": each} for each in (old, new)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(json.dumps(text))
    assert compared(*texts)[1] == {kind: 1}
    assert main(["compare", *map(str, files)]) == code

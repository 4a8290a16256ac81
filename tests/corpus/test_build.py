"""The tool that makes the corpus: what it fetches, and how it calls nvcc."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.corpus.build import MANIFEST, command, fetch, main
from tests.corpus.triton_kernels import text_of

KEYS = {"include", "flags", "source", "replace", "headers", "triton"}


def test_a_commit_is_fetched_once(tmp_path: Path) -> None:
    theirs = tmp_path / "owner" / "name"
    theirs.mkdir(parents=True)
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    (theirs / "a.cu").write_text("old", encoding="utf-8")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "c")):
        subprocess.run(["git", "-C", str(theirs), *words], check=True)
    commit = subprocess.run(["git", "-C", str(theirs), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    for _ in range(2):
        fetch(tmp_path / "src", "owner/name", commit.stdout.strip(), str(tmp_path / "{owner}" / "{name}"))
    assert (tmp_path / "src" / "owner__name" / "a.cu").read_text(encoding="utf-8") == "old"


def test_a_call_of_nvcc_has_what_the_manifest_says(tmp_path: Path) -> None:
    work, root = tmp_path / "work", tmp_path / "owner__name" / "csrc"
    work.mkdir()
    root.mkdir(parents=True)
    (root / "k.cu").write_text("int here;\n", encoding="utf-8")
    each = {"repository": "owner/name", "file": "csrc/k.cu"}
    plain = command(tmp_path, each, {}, work, tmp_path / "out.ptx")
    assert plain[-1] == str(root / "k.cu")
    assert "-arch=sm_90" in plain
    build = {
        "include": ["inc", "other/lib:include"],
        "flags": ["-arch=sm_90a"],
        "replace": {"here": "there"},
        "headers": ["torch/extension.h"],
    }
    words = command(tmp_path, {**each, "build": build}, {"include": ["all"]}, work, tmp_path / "out.ptx")
    assert [word for word in words if word.startswith("-arch")] == ["-arch=sm_90a"]
    for folder in ("owner__name/all", "owner__name/inc", "other__lib/include"):
        assert f"-I{tmp_path / folder}" in words
    assert Path(words[-1]).read_text(encoding="utf-8") == "int there;\n"
    assert (root / "k.cu").read_text(encoding="utf-8") == "int here;\n"
    assert (work / "torch" / "extension.h").exists()
    wrapped = command(tmp_path, {**each, "build": {"source": ["a", "b"]}}, {}, work, tmp_path / "out.ptx")
    assert Path(wrapped[-1]).read_text(encoding="utf-8") == "a\nb\n"


@pytest.mark.parametrize("path", [MANIFEST, MANIFEST.with_name("held_out.json")])
def test_the_manifest_says_what_the_tool_reads(path: Path) -> None:
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for each in manifest["files"]:
        assert set(each.get("build", ())) <= KEYS
        assert each["repository"] in manifest["repositories"]


def test_a_kernel_of_triton_is_taken_without_its_module(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("import torch\n@triton.autotune(1)\n@triton.jit\ndef k(x_ptr): pass\ndef other(): pass\n")
    text = text_of(path, "k", ["ONE = 1"])
    assert "torch" not in text
    assert "other" not in text
    assert text.endswith("ONE = 1\n@triton.jit\ndef k(x_ptr):\n    pass\n")


def test_what_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = tmp_path / "manifest.json"
    one = {"repository": "o/n", "file": "k.cu", "kernels": [{"name": "there"}, {"name": "gone"}]}
    manifest.write_text(json.dumps({"repositories": {"o/n": {"commit": "c"}}, "files": [one]}), encoding="utf-8")
    (tmp_path / "src" / "o__n" / ".git").mkdir(parents=True)
    (tmp_path / "src" / "o__n" / ".git" / "HEAD").write_text("", encoding="utf-8")
    (tmp_path / "ptx").mkdir()
    (tmp_path / "ptx" / "o__n__k.cu.ptx").write_text(".visible .entry there(\n", encoding="utf-8")
    assert main([str(tmp_path), "--manifest", str(manifest)]) == 1
    assert "o__n__k.cu.ptx: no kernel gone" in capsys.readouterr().out

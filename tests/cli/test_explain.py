"""`swzverify explain`: what is named, in which format, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_show import SPEC as SHOWN

SPEC = (
    SHOWN
    + """\
maps:
  turned: {over: {bid: 8}, value: [7 - bid], onto: [8]}
claims:
  - conflict_free: read_A
  - {conflict_free: column, expect: refuted}
  - bijective: A
  - covers: {access: column, tile: B}
    expect: refuted
  - permutation: turned
  - wavefronts: {access: raw, exactly: 2}
"""
)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["(32,32):(32,1)", "--coord", "lane,0"], "Lanes 0 and 8 differ in bit 3 only, which reaches no bank bit"),
        (["(32,32):(32,1)", "--coord", "lane,0"], "(32,32):(33,1), it takes 1 wavefront, no bank conflicts"),
        (["(32,32):(36,1)", "--coord", "lane,0"], "gcd(144, 128) = 16, so 128/16 = 8 steps in a row reach different"),
        (["Swizzle<3,0,3>"], "bank[2] = row[2] ^ col[2]"),
        (["Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"], "acts on the bits of the byte address, 0bYYYZZZxxxx"),
        (["(32,32):(32,1)", "--coord", "lane,k", "--for", "k=0:8:4", "--at", "k=4"], "lanes l and l ^ 1 of a group"),
        (["a.swz.yaml", "--access", "read_A"], "The case BK = 64"),
        (["a.swz.yaml", "--access", "read_A", "--at", "BK=32"], "The case BK = 32"),
        (["a.swz.yaml", "--tile", "A"], "has rank 12: it is one to one."),
        (
            ["a.swz.yaml", "--claim", "column::conflict_free", "--at", "BK=32"],
            "These costs break the claim conflict_free of column",
        ),
        (
            ["a.swz.yaml", "--claim", "read_A[BK=64]::conflict_free"],
            "These costs keep the claim conflict_free of read_A",
        ),
        (
            ["a.swz.yaml", "--claim", "a.swz.yaml::raw[BK=32]::wavefronts"],
            "These costs keep the claim wavefronts of raw: exactly 2 wavefronts.",
        ),
        (["a.swz.yaml", "--claim", "column,B::covers"], "B: (32,32):(32,1)"),
        (["one.swz.yaml"], "takes at most 2 wavefronts"),
        (["(32,32):(32,1)", "--coord", "lane,0", "--target", "sm_80"], "ld.shared.b32 on sm_80 (documented)"),
    ],
)
def test_what_may_be_explained(write, swzverify, arguments: list[str], said: str) -> None:
    one = "swzverify: 1\ntarget: sm_90\naccesses: {a: {instruction: ld.shared.b32, threads: 32, address: tid*8}}\n"
    write({"a.swz.yaml": SPEC, "one.swz.yaml": one})
    result = swzverify("explain", *arguments)
    assert result.exit_code == 0, result.output
    assert said in " ".join(result.output.split()), result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.swz.yaml", "--at", "k=16"], "SWZ591: --at names a warp instruction of one access --access read_A or"),
        (["empty.swz.yaml"], "SWZ591: empty.swz.yaml has no tile and no access"),
        (["a.swz.yaml", "--access", "read_a"], "did you mean 'read_A'?"),
        (["a.swz.yaml", "--claim", "read_A::conflict"], "SWZ591: a.swz.yaml has no claim 'read_A::conflict'"),
        (["a.swz.yaml", "--claim", "turned::permutation"], "SWZ591: permutation is claimed of the map turned"),
        (["a.swz.yaml", "--claim", "A::bijective", "--tile", "A"], "SWZ591: --tile goes without --claim"),
        (["a.swz.yaml", "--claim", "A::bijective", "--at", "BK=7"], "SWZ591: the claim A::bijective has no case"),
        (["a.swz.yaml", "--access", "read_A", "--at", "k=3"], "SWZ581: access read_A: k is never 3"),
        (["a.swz.yaml", "--tile", "A", "--at", "k=3"], "SWZ591: --at would do nothing"),
        (["(8,8)", "--for", "k=3"], "SWZ591: --for would do nothing"),
        (["(8,8)", "--claim", "A::bijective"], "SWZ591: --claim names a claim of a spec"),
        (["(8,64"], "SWZ200: this parenthesis is never closed"),
        (["missing.swz.yaml"], "SWZ101"),
        (["(8,8)", "--at", "warp"], "such as warp=1"),
        (["(8,8)", "-o", "nowhere/x.tex"], "there is no folder 'nowhere'"),
    ],
)
def test_what_cannot_be_explained_is_told_in_words(write, swzverify, arguments: list[str], said: str) -> None:
    write({"a.swz.yaml": SPEC, "empty.swz.yaml": "swzverify: 1\n"})
    result = swzverify("explain", *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split()), result.output
    assert "Traceback" not in result.output


def test_unasked_everything_is_explained(write, swzverify) -> None:
    spare = '  spare: {element: f32, layout: "(8,8):(8,1)"}\n'
    write({"a.swz.yaml": SPEC.replace("accesses:\n", f"{spare}accesses:\n", 1)})
    whole = swzverify("explain", "a.swz.yaml", "--at", "BK=32", "--format", "json")
    found = [(each["kind"], each["name"]) for each in json.loads(whole.output)["explanations"]]
    assert found == [("access", "read_A"), ("access", "column"), ("access", "raw"), ("tile", "spare")]
    text = swzverify("explain", "a.swz.yaml", "--at", "BK=32").output
    for name in ("read_A", "column", "raw"):
        alone = swzverify("explain", "a.swz.yaml", "--at", "BK=32", "--access", name).output
        assert alone.partition("\n\n")[2] in text


def test_json_has_every_statement_with_its_sentence(write, swzverify) -> None:
    write({"a.swz.yaml": SPEC})
    result = swzverify("explain", "a.swz.yaml", "--access", "column", "--format", "json")
    document = json.loads(result.output)
    assert (document["schema"], document["what"], document["case"]) == (
        "swzverify.explanation/1", "a.swz.yaml", {"BK": 64},
    )  # fmt: skip
    (explanation,) = document["explanations"]
    kernel = next(each for each in explanation["statements"] if each["kind"] == "kernel")
    assert (kernel["vector"], kernel["lanes"], kernel["words"]) == (1, [0, 1], [0, 32])
    assert kernel["text"].startswith("Lanes 0 and 1 differ in bit 0 only")
    bits = [each for each in explanation["statements"] if each["kind"] == "tile_bank_bit"]
    assert [each["terms"] for each in bits] == [[f"col[{bit}]"] for bit in range(5)]
    told = swzverify("explain", "a.swz.yaml", "--access", "column").output
    for each in explanation["statements"]:
        assert " ".join(each["text"].split()) in " ".join(told.split())


@pytest.mark.parametrize(
    ("name", "begins"), [("a.tex", r"\documentclass"), ("a.txt", "access: ld.shared.b32"), ("a.json", "{")]
)
def test_the_file_s_name_chooses_the_format(here: Path, swzverify, name: str, begins: str) -> None:
    assert swzverify("explain", "(8,8)", "--coord", "lane%8,0", "-o", name).exit_code == 0
    assert (here / name).read_text("utf-8").startswith(begins)


def test_latex_needs_sympy(here: Path, swzverify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    result = swzverify("explain", "(8,8)", "--format", "latex", "-o", "a.tex")
    assert result.exit_code == 2
    assert "SWZ592" in result.output
    assert not (here / "a.tex").exists()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_latex_compiles(here: Path, write, swzverify) -> None:
    write({"a.swz.yaml": SPEC})
    for arguments in (["--access", "read_A"], ["--access", "raw"], ["--tile", "A"]):
        result = swzverify("explain", "a.swz.yaml", *arguments, "-o", "a.tex")
        assert result.exit_code == 0, result.output
        program = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
        done = subprocess.run(program, cwd=here, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]

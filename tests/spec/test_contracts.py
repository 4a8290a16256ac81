"""Specs in kernel sources: the same claims as in a file of their own, at the source's lines, found
in folders.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from swzverify.apps.options.prove import Settings
from swzverify.apps.run.collect import collect_specs
from swzverify.apps.run.one import run_spec
from swzverify.claims.verdict import Outcome
from swzverify.spec import SpecError, load_spec
from swzverify.spec.load import parse_spec

KERNEL = """#include <cuda_fp16.h>
constexpr int BM = 64, BK = 64;
// swz:begin
// swzverify: 1
// from_source: [BM, BK]
// tiles:
//   A: {element: f16, layout: "(BM,BK):(BK,1)", swizzle: "Swizzle<3,3,3>"}
// swz:end
__global__ void kernel() {
  /* swz:begin
   * accesses:
   *   read_A:
   *     tile: A
   *     instruction: ldmatrix.x4
   *     threads: 128
   *     for: {k: {start: 0, stop: BK, step: 16}}
   *     coord: [warp*16 + lane%16, k + lane/16*8]
   * claims:
   *   - conflict_free: read_A
   *   - bijective: A
   * swz:end */
}
"""
YAML = """swzverify: 1
constants: {BM: 64, BK: 64}
tiles:
  A: {element: f16, layout: "(BM,BK):(BK,1)", swizzle: "Swizzle<3,3,3>"}
accesses:
  read_A:
    tile: A
    instruction: ldmatrix.x4
    threads: 128
    for: {k: {start: 0, stop: BK, step: 16}}
    coord: [warp*16 + lane%16, k + lane/16*8]
claims:
  - conflict_free: read_A
  - bijective: A
"""


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    file = Path("src/gemm.cu")
    file.write_text(KERNEL)
    return file


def problems_of(path: Path) -> list[tuple[str, int, str]]:
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    return [(problem.code, problem.line, problem.message) for problem in caught.value.problems]


def test_a_contract_claims_what_the_same_spec_does(kernel: Path) -> None:
    found, plain = load_spec(kernel), parse_spec(YAML, path="src/gemm.cu")
    assert [(claim.id, repr(claim.claim)) for claim in found.claims] == [
        (claim.id, repr(claim.claim)) for claim in plain.claims
    ]
    assert [claim.line for claim in found.claims] == [19, 20]
    assert found.claims[0].notes == ("read from src/gemm.cu: BM = 64 (line 2), BK = 64 (line 2)",)


def test_a_mistake_is_shown_in_the_source(kernel: Path) -> None:
    kernel.write_text(KERNEL.replace("lane%16, k", "lane%%16, k"))
    with pytest.raises(SpecError) as caught:
        load_spec(kernel)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("src/gemm.cu", 17)
    assert problem.source_line == "   *     coord: [warp*16 + lane%%16, k + lane/16*8]"
    assert problem.source_line[problem.column - 1 :].startswith("%16")


def test_a_claim_fails_when_the_constant_in_the_code_moves(kernel: Path) -> None:
    results = []
    assert run_spec(str(kernel), Settings(), results.append) == []
    assert [judged.result.verdict.outcome for judged in results] == [Outcome.PROVED, Outcome.PROVED]
    assert "read from src/gemm.cu: BM = 64 (line 2), BK = 64 (line 2)" in results[0].result.verdict.notes
    kernel.write_text(KERNEL.replace("BK = 64;", "BK = 40;"))
    results.clear()
    assert run_spec(str(kernel), Settings(), results.append) == []
    assert [judged.result.verdict.outcome for judged in results] == [Outcome.REFUTED, Outcome.PROVED]


def test_a_source_without_a_contract_has_no_claims(kernel: Path) -> None:
    kernel.write_text("int x; // nothing here\n")
    assert load_spec(kernel).claims == ()
    assert load_spec(kernel).text == ""


def test_a_pinned_constant_that_differs_is_an_error(kernel: Path) -> None:
    spec = Path("src/gemm.swz.yaml")
    spec.write_text("swzverify: 1\nconstants: {BK: 64}\nfrom_source: {BK: {file: gemm.cu}}\n")
    assert load_spec(spec).claims == ()
    kernel.write_text(KERNEL.replace("BK = 64;", "BK = 32;"))
    ((code, line, message),) = problems_of(spec)
    assert (code, line) == ("SWZ125", 2)
    assert message == "'BK' is 64 here and 32 in src/gemm.cu, line 2"
    spec.write_text("swzverify: 1\nconstants: {BK: [32, 64]}\nfrom_source: {BK: {file: gemm.cu}}\n")
    assert problems_of(spec)[0][0] == "SWZ125"


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    ("entries", "code", "words"),
    [
        ("[BK]", "SWZ124", "is no kernel source"),
        ("{BK: BM}", "SWZ124", "is no kernel source"),
        ("{BK: {file: gemm.txt}}", "SWZ124", "is no kernel source"),
        ("{BK: {file: none.cu}}", "SWZ124", "there is no such file"),
        ("{BK: {file: ../../secret.cu}}", "SWZ124", "outside of the repository"),
        ("{BK: {file: /etc/secret.h}}", "SWZ124", "outside of the repository"),
        ("{BK: {file: folder.cu}}", "SWZ124", "a directory"),
        ("{BK: {file: gemm.cu, name: BN}}", "SWZ122", "src/gemm.cu: it defines no constant 'BN'"),
        ("{BK: {file: open.cu}}", "SWZ123", "src/open.cu: 'BK' (line 1) is a variable"),
        ("{BK: {fil: gemm.cu}}", "SWZ104", "unknown key 'fil'"),
        ("{BK: 3}", "SWZ105", "expected a constant's name"),
        ("BK", "SWZ105", "expected constants with the places"),
        ("{2K: {file: gemm.cu}}", "SWZ105", "is not a name"),
        ("{tid: {file: gemm.cu, name: BK}}", "SWZ105", "has a meaning of its own"),
    ],
)
def test_from_source_refuses(entries: str, code: str, words: str) -> None:
    Path("src/folder.cu").mkdir()
    Path("src/open.cu").write_text("int BK = 3;\n")
    Path("../secret.cu").write_text("constexpr int BK = 3;\n")
    spec = Path("src/a.swz.yaml")
    spec.write_text(f"swzverify: 1\nfrom_source: {entries}\n")
    found = problems_of(spec)
    assert [code for code, _, _ in found] == [code], found
    assert words in found[0][2]


def test_the_repository_is_the_boundary_and_links_do_not_cross_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "secret.h"
    outside.write_text("constexpr int BK = 3;\n")
    repository = tmp_path / "repository"
    (repository / "specs").mkdir(parents=True)
    (repository / "src").mkdir()
    (repository / "src/a.cu").write_text("constexpr int BK = 64;\n")
    spec = repository / "specs/a.swz.yaml"
    spec.write_text("swzverify: 1\nfrom_source: {BK: {file: ../src/a.cu}}\n")
    assert problems_of(spec)[0][0] == "SWZ124"
    monkeypatch.chdir(repository)
    assert load_spec(spec).claims == ()
    monkeypatch.chdir(repository / "src")
    assert problems_of(spec)[0][0] == "SWZ124"
    (repository / ".git").mkdir()
    assert load_spec(spec).claims == ()
    (repository / "src/link.cu").symlink_to(outside)
    spec.write_text("swzverify: 1\nfrom_source: {BK: {file: ../src/link.cu}}\n")
    assert problems_of(spec)[0][:2] == ("SWZ124", 2)
    (repository / "src/secret.txt").write_text("constexpr int BK = 3;\n")
    (repository / "src/link.cu").unlink()
    (repository / "src/link.cu").symlink_to("secret.txt")
    assert "a link to something that is no kernel source" in problems_of(spec)[0][2]


@pytest.mark.usefixtures("kernel")
def test_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("src/pipe.cu")
    assert problems_of(Path("src/pipe.cu"))[0][0] == "SWZ101"
    assert collect_specs(["src"]).files == ["src/gemm.cu"]


@pytest.mark.usefixtures("kernel")
def test_a_link_to_another_kind_of_file_is_not_read() -> None:
    Path("src/link.cu").symlink_to("/etc/hostname")
    assert problems_of(Path("src/link.cu"))[0][0] == "SWZ101"
    assert collect_specs(["src"]).files == ["src/gemm.cu"]


def test_a_source_of_many_megabytes_is_refused(kernel: Path) -> None:
    kernel.write_text(KERNEL + "// x\n" * 2**20)
    assert problems_of(kernel)[0][0] == "SWZ107"
    assert collect_specs(["src"]).files == ["src/gemm.cu"]


@pytest.mark.usefixtures("kernel")
def test_a_large_source_without_a_contract_is_no_error() -> None:
    Path("src/table.h").write_text("// x\n" * 2**20)
    assert load_spec("src/table.h").claims == ()


@pytest.mark.usefixtures("kernel")
@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_source_that_cannot_be_opened_is_told() -> None:
    Path("src/gemm.cu").chmod(0)
    assert collect_specs(["src"]).files == ["src/gemm.cu"]
    assert problems_of(Path("src/gemm.cu"))[0][0] == "SWZ101"


@pytest.mark.usefixtures("kernel")
def test_a_source_that_breaks_off_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> object:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("builtins.open", broken)
    assert collect_specs(["src"]).files == ["src/gemm.cu"]


@pytest.mark.usefixtures("kernel")
def test_folders_give_specs_and_contracts() -> None:
    for name, text in {
        "src/plain.cu": "int x;\n",
        "src/near.h": "// swz begin\n",
        "src/late.cpp": "x" * (2**20 - 5) + "\n// swz:begin\n",
        "src/notes.txt": KERNEL,
        "src/a.swz.yaml": YAML,
        "src/deep/tile.py": "# swz:begin\n# swz:end\n",
        ".hidden/gemm.cu": KERNEL,
        "env/pyvenv.cfg": "",
        "env/lib/gemm.cu": KERNEL,
        "env/lib/x.swz.yaml": YAML,
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    found = ["src/a.swz.yaml", "src/deep/tile.py", "src/gemm.cu", "src/late.cpp", "src/near.h"]
    assert collect_specs(["src"]).files == found
    assert collect_specs(["src/**"]).files == found
    assert collect_specs(["."]).files == ["env/lib/x.swz.yaml", *found]
    assert collect_specs(["src/plain.cu", ".hidden/gemm.cu"]).files == ["src/plain.cu", ".hidden/gemm.cu"]


def test_a_source_in_utf16_with_a_contract_is_an_error(kernel: Path) -> None:
    kernel.write_bytes(KERNEL.encode("utf-16"))
    assert collect_specs(["src"]).files == ["src/gemm.cu"]
    assert problems_of(kernel)[0][0] == "SWZ101"


@pytest.mark.usefixtures("kernel")
def test_other_spellings_of_a_spec_s_name_and_links_in_other_folders_are_specs() -> None:
    Path("a/b").mkdir(parents=True)
    for name in ("a/x.swz.yml", "a/Y.SWZ.YAML"):
        Path(name).write_text(YAML)
    Path("a/b/z.swz.yaml").symlink_to("../x.swz.yml")
    assert collect_specs(["a"]).files == ["a/Y.SWZ.YAML", "a/b/z.swz.yaml", "a/x.swz.yml"]

"""The package of docs/extend.md: its claim, its format and its reader do what the page says."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import Result

from swzverify.apps.diff.compare import differences
from swzverify.claims import Claim, Outcome
from swzverify.claims.form import Direction
from swzverify.prover import judge, prove
from swzverify.spec import load_spec, parse_spec
from swzverify.testing import cases
from tests.docs.blocks import ROOT, blocks_of
from tests.gpu.specs import checked
from tests.outside.conftest import Run
from tests.outside.installed import EXAMPLE, PAGE, install, page_code, page_spec
from tests.run.test_case_tests import functions_of

TTGIR = """\
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module {
  tt.func public @gemm() {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #ttg.shared_memory, mutable>
    %b = ttg.local_alloc %x : (tensor<8x8xf32>) -> !ttg.memdesc<8x8xf32, #flat, #ttg.shared_memory>
  }
}
"""


def claims() -> list[Claim]:
    return [each.claim for each in parse_spec(page_spec()).claims]


def test_the_page_names_what_the_tests_install() -> None:
    (project,) = [tomllib.loads(block.text) for block in blocks_of(PAGE) if block.language == "toml"]
    assert project["project"]["entry-points"] == EXAMPLE


@pytest.mark.usefixtures("example")
def test_a_claim_is_proved_by_two_engines_and_refuted_by_a_replayed_point() -> None:
    good, bad = claims()
    verdict = prove(good)
    assert verdict.outcome is Outcome.PROVED
    assert len(verdict.engines) >= 2
    assert "z3" in verdict.engines
    verdict = prove(bad)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.engines[-1] == "replay"
    assert verdict.counterexample is not None
    assert "which is no multiple of 16" in verdict.reason


def told(found: Result) -> list[tuple[str, str]]:
    return [(each["kind"], each["verdict"]) for each in json.loads(found.stdout)["claims"]]


def test_the_command_proves_selects_and_reports_it(example: Path, swzverify: Run) -> None:
    text = page_spec() + "  - bijective: odd\n    expect: refuted\n    because: gaps\n"
    (example / "a.swz.yaml").write_text(text, encoding="utf-8")
    found = swzverify("prove", "a.swz.yaml", "--select", "rows_aligned", "--format", "json")
    assert found.exit_code == 0, found.output
    assert told(found) == [("rows_aligned", "proved"), ("rows_aligned", "refuted")]
    for form in ("text", "jsonl", "junit", "github", "markdown", "html", "sarif"):
        found = swzverify("prove", "a.swz.yaml", "--format", form)
        assert (found.exit_code, found.exception) == (0, None), form
        assert "rows_aligned" in found.stdout


def test_its_finding_has_a_rule_in_sarif(example: Path, swzverify: Run) -> None:
    (example / "a.swz.yaml").write_text(page_spec().replace(", expect: refuted, because", ", because"), "utf-8")
    run = json.loads(swzverify("prove", "a.swz.yaml", "--format", "sarif").stdout)["runs"][0]
    (result,) = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert (rule["id"], rule["shortDescription"]["text"]) == (
        "rows_aligned",
        "Every row begins at a multiple of so many bytes.",
    )


def test_its_counterexample_becomes_a_test(example: Path, swzverify: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = example / "a.swz.yaml"
    spec.write_text(page_spec().replace(", expect: refuted, because", ", because"), "utf-8")
    swzverify("prove", "a.swz.yaml", "--write-test", "test_a.py")
    (test,) = functions_of(example / "test_a.py").values()
    with pytest.raises(AssertionError, match="Every row begins at a multiple"):
        test()
    spec.write_text(page_spec().replace("(68,1)", "(72,1)"), "utf-8")
    monkeypatch.setattr(cases, "load_spec", load_spec)
    test()


@pytest.mark.usefixtures("example")
def test_a_device_is_asked_for_it() -> None:
    pairs = [(claim, prove(claim)) for claim in claims()]
    assert [result.agrees for result in checked(pairs).results["t"]] == [True, True]
    turned = [(claim, dataclasses.replace(verdict, outcome=other)) for (claim, verdict), other in zip(
        pairs, (Outcome.REFUTED, Outcome.PROVED), strict=True
    )]  # fmt: skip
    assert [result.agrees for result in checked(turned).results["t"]] == [False, False]


def test_no_certificate_states_it(example: Path, swzverify: Run) -> None:
    (example / "a.swz.yaml").write_text(page_spec(), encoding="utf-8")
    found = swzverify("prove", "a.swz.yaml", "--certificates", "out")
    assert found.exit_code == 2
    assert "SWZ607" in found.output


def test_mistakes_in_its_keys_have_their_places(example: Path, swzverify: Run) -> None:
    text = page_spec().replace("{tile: padded, bytes: 16}", "{tile: padded, byte: 16}")
    (example / "a.swz.yaml").write_text(text, encoding="utf-8")
    found = swzverify("prove", "a.swz.yaml")
    assert found.exit_code == 2
    assert "a.swz.yaml:6:34: SWZ104 unknown key 'byte'" in found.stderr
    assert "did you mean 'bytes'?" in found.stderr
    text = page_spec().replace("rows_aligned: {tile: padded", "rows_alignd: {tile: padded")
    (example / "a.swz.yaml").write_text(text, encoding="utf-8")
    found = swzverify("prove", "a.swz.yaml")
    assert "did you mean 'rows_aligned'?" in found.stderr
    assert "reads_what_was_written, rows_aligned" in " ".join(found.stderr.split())


def test_a_report_format(example: Path, swzverify: Run) -> None:
    (example / "a.swz.yaml").write_text(page_spec(), encoding="utf-8")
    found = swzverify("prove", "a.swz.yaml", "--format", "csv", "--report", "csv=out.csv")
    assert found.exit_code == 0
    lines = ["claim,outcome", '"a.swz.yaml::padded::rows_aligned",proved', '"a.swz.yaml::odd::rows_aligned",refuted']
    assert found.stdout.splitlines() == lines
    assert (example / "out.csv").read_text("utf-8").splitlines() == lines
    found = swzverify("prove", "a.swz.yaml", "--format", "cvs")
    assert found.exit_code == 2
    assert "'html', 'csv'" in found.stderr


def test_a_scan_has_the_format_too(example: Path, swzverify: Run) -> None:
    kernel = Path(__file__).parents[1] / "ptx" / "rows.ptx"
    (example / "k.ptx").write_bytes(kernel.read_bytes())
    found = swzverify("scan", "k.ptx", "--trials", "0", "--no-suggest", "--format", "csv")
    assert found.exit_code in (0, 1, 3), found.output
    assert found.stdout.startswith("claim,outcome\n")


def test_a_reader(example: Path, swzverify: Run) -> None:
    (example / "k.ttgir").write_text(TTGIR, encoding="utf-8")
    spec = load_spec("k.ttgir")
    assert [(claim.id, claim.line) for claim in spec.claims] == [
        ("k.ttgir::alloc_a::bijective", 5),
        ("k.ttgir::alloc_a::contiguous", 5),
        ("k.ttgir::alloc_b::bijective", 6),
        ("k.ttgir::alloc_b::contiguous", 6),
    ]
    tile = spec.cases[0].tiles["alloc_a"]
    triton = [r * 32 + (((c // 8) ^ (r // 2 % 4)) * 8 + c % 8) for c in range(32) for r in range(64)]
    assert [int(tile.offset((r, c))) for c in range(32) for r in range(64)] == triton
    found = swzverify("prove", "k.ttgir", "--format", "json")
    assert (found.exit_code, {outcome for _, outcome in told(found)}) == (0, {"proved"})
    found = swzverify("prove", "*.ttgir", "--quiet")
    assert found.exit_code == 0


def test_a_search_does_not_write_into_a_file_that_a_reader_reads(example: Path, swzverify: Run) -> None:
    text = TTGIR.replace("}>", "}>", 1)
    (example / "k.ttgir").write_text(text, encoding="utf-8")
    found = swzverify("synth", "k.ttgir", "--tile", "alloc_a", "--write")
    assert found.exit_code == 2
    assert (example / "k.ttgir").read_text("utf-8") == text


@pytest.mark.usefixtures("example")
def test_what_is_installed_is_no_part_of_the_judgement_of_other_claims() -> None:
    text = page_spec().partition("claims:")[0] + "claims:\n  - contiguous: {tile: padded, elements: 8}\n"
    (each,) = parse_spec(text).claims
    assert judge(each.claim).verdict.outcome is Outcome.PROVED


def test_a_larger_allocation_weakens_a_claim_on_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = page_code().replace('    kind = "rows_aligned"\n', '    kind = "rows_aligned"\n    counts_room = True\n')
    install(monkeypatch, tmp_path, "swz-room", code, {"swzverify.claims": {"rows_aligned": "swz_room:RowsAligned"}})
    text = page_spec().replace('(72,1)"', '(72,1)", bytes: 1152')
    before, after = (parse_spec(each).claims[0] for each in (text, text.replace("1152", "2048")))
    assert Direction.WEAKER in {each.direction for each in differences(before, after)}


def test_processes_find_it_too(example: Path) -> None:
    for name in "ab":
        (example / f"{name}.swz.yaml").write_text(page_spec(), encoding="utf-8")
    command = [sys.executable, "-m", "swzverify", "prove", ".", "-j", "2", "--format", "csv"]
    paths = [str(example.parent / "swz-example"), str(ROOT)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        check=False,
    )
    assert (done.returncode, done.stdout.count("rows_aligned")) == (0, 4), done.stderr

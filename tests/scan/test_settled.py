"""Which verdict counts where machine code was scanned, from the command to the findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import scan_function
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_claims import KIND, report_of
from tests.profiler.fake_ncu import ncu
from tests.profiler.recorded import DATA, MIXED, cubin
from tests.scan.test_command import run
from tests.scan.test_on_chip import listing
from tests.scan.texts import WHOLE, text_of

MERGED = {443, 446, 449, 452}


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    ncu(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.ptx").write_text((DATA / "checked.ptx").read_text(), encoding="utf-8")
    (tmp_path / "k.cubin").write_bytes(cubin())
    return "k.ptx", "--block", "64", "--kernel", MIXED


def lines_of(*words: str) -> set[int]:
    """The lines of the PTX whose accesses are findings."""
    results = json.loads(run(*words, "--format", "sarif").stdout)["runs"][0]["results"]
    shown = [json.dumps(each) for each in results if each["ruleId"] == KIND and each["level"] == "error"]
    return {line for line in range(400, 640) if any(f"k.ptx, line {line}" in each for each in shown)}


def test_what_was_merged_free_is_no_finding(words: tuple[str, ...]) -> None:
    assert lines_of(*words) == {*MERGED, 539, 564, 571, 579}
    assert lines_of(*words, "--cubin", "k.cubin") == {539, 564, 571, 579}


def test_the_exit_code_and_the_baseline(words: tuple[str, ...]) -> None:
    assert run(*words, "--write-baseline", "known.yaml", "--cubin", "k.cubin").exit_code == 0
    assert run(*words, "--baseline", "known.yaml", "--cubin", "k.cubin").exit_code == 0
    # What is no finding with machine code is a new one without.
    assert run(*words, "--baseline", "known.yaml").exit_code == 1


def test_the_last_line(words: tuple[str, ...]) -> None:
    text = run(*words, "--cubin", "k.cubin").stdout
    assert text.splitlines()[-1] == "with the machine code: 11 free, 3 conflict, 1 depends, 1 unknown"
    assert "with the machine code" not in run(*words).stdout


def test_an_atomic_that_costs_more_on_the_chip_is_a_finding() -> None:
    """PTX adds 1, which merges equal words; the machine instruction is another one, which counts them."""
    body = "and.b32 %r20, %r1, 15; mad.lo.u32 %r20, %r20, 4, %r3; red.shared.add.u32 [%r20], 1;\n"
    module = read_module(text_of(body), "k.ptx")
    function = module.function("k")
    assert function is not None
    (line,) = {each.line for each in scan_function(module, function, WHOLE)}
    for name, refuted in (("ATOMS.POPC.INC.32 RZ, [R2]", False), ("ATOMS.ADD RZ, [R2], R3", True)):
        found = scan_function(module, function, WHOLE, machine=listing([(line, name)]))
        (result,) = [each for each in report_of([ScannedFile("k.ptx", tuple(found), {})]).results if each.kind == KIND]
        assert result.failing is refuted, name

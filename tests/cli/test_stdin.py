"""`swzverify prove -`: the spec on standard input, called `<stdin>` in every report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from swzverify.apps.cli import main
from swzverify.spec.guard import MAX_BYTES

SPEC = """\
swzverify: 1
tiles: {A: {element: f32, layout: "(4,8):(8,1)"}}
claims: [{bijective: A}, {injective: A}]
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, text: str | bytes = SPEC) -> Result:
    return CliRunner().invoke(main, ["prove", *arguments], input=text)


def test_the_claims_of_standard_input() -> None:
    found = run("-", "--format", "json")
    report = json.loads(found.stdout)
    assert [claim["id"] for claim in report["claims"]] == ["<stdin>::A::bijective", "<stdin>::A::injective"]
    assert {claim["spec"] for claim in report["claims"]} == {"<stdin>"}
    assert report["claims"][0]["verdict"] == "proved"


def test_beside_files_and_once() -> None:
    Path("a.swz.yaml").write_text(SPEC)
    report = json.loads(run("-", "a.swz.yaml", "-", "-j", "2", "--format", "json").stdout)
    assert [claim["spec"] for claim in report["claims"]] == ["<stdin>"] * 2 + ["a.swz.yaml"] * 2


def test_mistakes_are_placed_in_it() -> None:
    found = run("-", text=SPEC.replace("bijective", "bijectiv"))
    assert found.exit_code == 2
    assert "<stdin>:3:11: SWZ104 unknown claim 'bijectiv'" in found.stderr + found.stdout


@pytest.mark.parametrize(
    ("text", "code"),
    [(b"", "SWZ101"), (b"\xff\xfe\xfa", "SWZ101"), (b"# " + b"x" * MAX_BYTES, "SWZ107"), (b"a: \x1b[2J", "SWZ102")],
)
def test_what_no_file_may_hold_it_may_not(text: bytes, code: str) -> None:
    found = run("-", text=text)
    assert found.exit_code == 2
    assert f"{code} " in found.stderr + found.stdout


def test_files_of_the_code_lie_in_the_current_folder() -> None:
    Path("k.cu").write_text("constexpr int K = 8;\n")
    text = SPEC.replace('"(4,8):(8,1)"', '"(4,K):(K,1)"').replace("tiles", "from_source: {K: {file: k.cu}}\ntiles")
    assert "2 proved" in run("-", text=text).stdout


def test_known_failures_and_certificates() -> None:
    refuted = SPEC.replace("(8,1)", "(7,1)").replace(", {injective: A}", "")
    assert run("-", "--write-baseline", "known.json", text=refuted).exit_code == 1
    accepted = run("-", "--baseline", "known.json", text=refuted)
    assert "known failure" in accepted.stdout
    assert run("-", "--certificates", "certs").exit_code == 0
    rechecked = CliRunner().invoke(main, ["recheck", "certs"])
    assert rechecked.exit_code == 0
    assert "<stdin>::A::bijective" in Path("certs/certificates.json").read_text()


def test_what_needs_a_file_says_so() -> None:
    found = run("-", "--write-test", "test_a.py")
    assert found.exit_code == 2
    assert "save standard input to one" in found.stderr
    Path("<stdin>").write_text(SPEC)
    assert "give it another name" in run("-", "<stdin>").stderr
    assert run("<stdin>").exit_code == 0
    Path("-").write_text("swzverify: 2")
    assert run("-").exit_code == 0
    assert run("./-").exit_code == 2

"""Packages that cannot be used: an error says which, what was found, the rule and the next step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from swzverify.claims import KINDS, Injective, Outcome, claim_type, outside_kinds
from swzverify.core import outside
from swzverify.engines.exhaust import Exhaustion
from swzverify.errors import SpecError, SwzError
from swzverify.prover import panel, prove
from swzverify.report.formats import outside_format
from swzverify.spec import load_spec, parse_spec
from tests.docs.blocks import ROOT
from tests.outside.conftest import Run
from tests.outside.installed import install, page_code, page_spec

CLAIMS, FORMATS, READERS = (group.value for group in outside.Group)
Patch = pytest.MonkeyPatch


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("", "AttributeError: module 'swz_bad' has no attribute 'Bad'"),
        ("Bad = 3", "it is 3"),
        ("class Bad: kind = 'bad'", "it is <class 'swz_bad.Bad'>"),
        (page_code() + "\nBad = RowsAligned\n", "its kind is 'rows_aligned'"),
        (page_code().replace('"rows_aligned"', '"bad"').replace("def broken", "def unbroken")
         + "\nBad = RowsAligned\n", "it has no broken"),
    ],
)  # fmt: skip
def test_a_claim_that_cannot_be_used(
    here: Path, tmp_path: Path, monkeypatch: Patch, swzverify: Run, code: str, found: str
) -> None:
    install(monkeypatch, tmp_path, "swz-bad", code, {CLAIMS: {"bad": "swz_bad:Bad"}})
    with pytest.raises(SwzError) as error:
        claim_type("bad")
    assert error.value.code == "SWZ821"
    assert error.value.message == f"the claim 'bad' (swz-bad, swz_bad:Bad) cannot be used: {found}"
    assert error.value.hint.endswith("\nmend or uninstall the package swz-bad")
    (here / "a.swz.yaml").write_text(page_spec().replace("rows_aligned", "bad"), encoding="utf-8")
    shown = swzverify("prove", "a.swz.yaml")
    assert shown.exit_code == 2
    assert "a.swz.yaml:6:5: SWZ821 the claim 'bad' (swz-bad, swz_bad:Bad) cannot be used" in shown.stderr
    assert "Traceback" not in shown.output + shown.stderr
    shown = swzverify("prove", "a.swz.yaml", "--select", "bad")
    assert (shown.exit_code, "SWZ821" in shown.stderr) == (2, True)


def test_a_name_of_swzverify_is_not_replaced(tmp_path: Path, monkeypatch: Patch) -> None:
    """Nothing of the package is imported: it would end the test."""
    points = {
        CLAIMS: dict.fromkeys(KINDS, "swz_bad:Bad"),
        FORMATS: dict.fromkeys(("json", "text"), "swz_bad:Bad"),
        READERS: dict.fromkeys(("yaml", "cu", "py"), "swz_bad:Bad"),
    }
    install(monkeypatch, tmp_path, "swz-bad", "raise SystemExit('imported')", points)
    assert claim_type("injective") is Injective
    assert outside_kinds() == []
    (tmp_path / "a.yaml").write_text(page_spec().partition("claims:")[0] + "claims: [{injective: odd}]\n", "utf-8")
    (each,) = load_spec(tmp_path / "a.yaml").claims
    assert prove(each.claim).outcome is Outcome.PROVED
    (tmp_path / "a.cu").write_text("int a;\n", "utf-8")
    assert load_spec(tmp_path / "a.cu").claims == ()


def test_two_packages_with_one_name(tmp_path: Path, monkeypatch: Patch) -> None:
    for name in ("swz-one", "swz-two"):
        install(monkeypatch, tmp_path, name, page_code(), {CLAIMS: {"rows_aligned": "swz_one:RowsAligned"}})
    with pytest.raises(SwzError, match="the claim 'rows_aligned' is added by swz-one and swz-two") as error:
        claim_type("rows_aligned")
    assert error.value.hint == "uninstall all but one of them"


def test_a_package_that_is_found_twice_is_one(tmp_path: Path, monkeypatch: Patch) -> None:
    where = install(monkeypatch, tmp_path, "swz-one", page_code(), {CLAIMS: {"rows_aligned": "swz_one:RowsAligned"}})
    (tmp_path / "link").symlink_to(where)
    monkeypatch.syspath_prepend(str(tmp_path / "link"))
    assert claim_type("rows_aligned") is not None


@pytest.mark.parametrize("method", ["plan", "scope", "replay", "__init__"])
def test_a_claim_that_fails_at_work(
    here: Path, tmp_path: Path, monkeypatch: Patch, swzverify: Run, method: str
) -> None:
    code = page_code() + f"\ndef fail(*_, **__):\n    raise ValueError('at work')\nRowsAligned.{method} = fail\n"
    install(monkeypatch, tmp_path, "swz-bad", code, {CLAIMS: {"rows_aligned": "swz_bad:RowsAligned"}})
    (here / "a.swz.yaml").write_text(page_spec(), encoding="utf-8")
    shown = swzverify("prove", "a.swz.yaml")
    assert shown.exit_code == 2
    text = " ".join((shown.output + shown.stderr).split())
    assert "SWZ821" in text
    assert "the claim 'rows_aligned' (swz-bad, swz_bad:RowsAligned) cannot be used: ValueError: at work" in text
    assert "Traceback" not in text
    assert "fault of swzverify" not in text


FORMULA = "multiple(self.tile.lower_position(coord, points.stage_value()), units)"
TWICE = "multiple(ints.multiply(self.tile.lower_position(coord, points.stage_value()), ints.integer(2)), units)"
WRONG = {
    "an expression that always holds": (FORMULA, "TRUE"),
    "an expression that holds for more": (FORMULA, TWICE),
    "a definition that always holds": ("place % units == 0", "place == place"),
}


@pytest.mark.parametrize("what", WRONG)
def test_one_wrong_reading_proves_nothing(tmp_path: Path, monkeypatch: Patch, what: str) -> None:
    old, new = WRONG[what]
    code = "from swzverify.ir.expr import TRUE\n" + page_code()
    assert code.count(old) == 1
    monkeypatch.setattr(panel, "NATIVE", (Exhaustion(),))  # beside Z3
    install(monkeypatch, tmp_path, "swz-bad", code.replace(old, new), {CLAIMS: {"rows_aligned": "swz_bad:RowsAligned"}})
    bad = parse_spec(page_spec()).claims[1].claim
    assert prove(bad).outcome is not Outcome.PROVED


def test_a_fact_of_another_package_proves_nothing(tmp_path: Path, monkeypatch: Patch) -> None:
    code = page_code().replace("return Plan((Goal(Always(domain, holds, definition)),))",
                               "return Plan((), (Fact(True, 'because I say so', decides=True),))")  # fmt: skip
    code = code.replace("import Goal, Plan", "import Fact, Goal, Plan")
    install(monkeypatch, tmp_path, "swz-bad", code, {CLAIMS: {"rows_aligned": "swz_bad:RowsAligned"}})
    for each in parse_spec(page_spec()).claims:
        verdict = prove(each.claim)
        assert verdict.outcome is Outcome.UNKNOWN
        assert "proved by goals and not by facts" in verdict.reason


def test_a_replay_that_denies_the_point_is_an_error(tmp_path: Path, monkeypatch: Patch) -> None:
    code = page_code().replace("if not self.broken(begin):", "if True:")
    install(monkeypatch, tmp_path, "swz-bad", code, {CLAIMS: {"rows_aligned": "swz_bad:RowsAligned"}})
    verdict = prove(parse_spec(page_spec()).claims[1].claim)
    assert verdict.outcome is Outcome.ERROR
    assert "does not replay" in verdict.reason


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("bad = 3", "it is 3"),
        ("def bad(report, exit_code): return None", "it returned None"),
        ("def bad(report): return ''", "TypeError: bad() takes 1 positional argument but 2 were given"),
    ],
)
def test_a_format_that_cannot_be_used(
    here: Path, tmp_path: Path, monkeypatch: Patch, swzverify: Run, code: str, found: str
) -> None:
    install(monkeypatch, tmp_path, "swz-bad", code, {FORMATS: {"bad": "swz_bad:bad"}})
    (here / "a.swz.yaml").write_text(page_spec().partition("claims:")[0] + "claims: [{injective: odd}]\n", "utf-8")
    shown = swzverify("prove", "a.swz.yaml", "--format", "bad")
    assert shown.exit_code == 2
    text = " ".join(shown.stderr.split())
    assert f"SWZ821: the report format 'bad' (swz-bad, swz_bad:bad) cannot be used: {found}" in text
    assert "mend or uninstall the package swz-bad" in text
    assert "Traceback" not in text
    shown = swzverify("prove", "a.swz.yaml", "--report", "bad=a.bad")
    assert (shown.exit_code, "SWZ821" in shown.stderr) == (2, True)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("bad = 3", "it is 3"),
        ("def bad(text, path): return 7", "it returned 7"),
        ("def bad(text, path): return text.no_such", "AttributeError: 'str' object has no attribute 'no_such'"),
    ],
)
def test_a_reader_that_cannot_be_used(
    here: Path, tmp_path: Path, monkeypatch: Patch, swzverify: Run, code: str, found: str
) -> None:
    install(monkeypatch, tmp_path, "swz-bad", code, {READERS: {"bad": "swz_bad:bad"}})
    (here / "k.bad").write_text("anything", "utf-8")
    shown = swzverify("prove", "k.bad")
    assert shown.exit_code == 2
    assert f"k.bad: SWZ821 the reader 'bad' (swz-bad, swz_bad:bad) cannot be used: {found}" in " ".join(
        shown.stderr.split()
    )


def test_a_reader_may_refuse_a_file(here: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    code = "from swzverify.errors import SwzError\n"
    code += "def bad(text, path):\n    raise SwzError('SWZ101', 'no module', hint='write one')\n"
    install(monkeypatch, tmp_path, "swz-bad", code, {READERS: {"bad": "swz_bad:bad"}})
    (here / "k.bad").write_text("anything", "utf-8")
    with pytest.raises(SpecError, match=r"k\.bad: SWZ101 no module"):
        load_spec("k.bad")


def test_what_a_reader_writes_is_checked_as_any_spec(here: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    install(monkeypatch, tmp_path, "swz-bad", "def bad(text, path): return text", {READERS: {"bad": "swz_bad:bad"}})
    (here / "k.bad").write_text("swzverify: 1\nclaims:\n  - injective: A\n", "utf-8")
    with pytest.raises(SpecError, match=r"k\.bad:3:16: SWZ106"):
        load_spec("k.bad")


def test_an_ordinary_run_looks_for_no_entry_point(tmp_path: Path) -> None:
    """`importlib.metadata` has other users; the groups of swzverify are asked for by nobody."""
    (tmp_path / "a.swz.yaml").write_text(page_spec().partition("claims:")[0] + "claims: [{injective: odd}]\n", "utf-8")
    code = (
        "import sys\nfrom swzverify.core import outside\nfrom swzverify.apps.cli import main\n"
        "def asked(*_): raise SystemExit(77)\n"
        "outside._found_on = asked\n"
        f"main(['prove', {str(tmp_path / 'a.swz.yaml')!r}, '--format', 'json'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    code = code.replace("['prove'", "['--help', 'prove'")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=False).returncode == 0


def test_a_package_in_the_working_folder_is_a_strangers(here: Path, monkeypatch: Patch) -> None:
    """A checkout of a pull request may hold what looks like an installed package."""
    where = install(monkeypatch, here, "swz-bad", "raise SystemExit(77)", {FORMATS: {"bad": "swz_bad:bad"}})
    environment = {**os.environ, "PYTHONPATH": f"{where}:{ROOT}"}
    command = [sys.executable, "-m", "swzverify", "prove", "a.swz.yaml", "--format", "bad"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=where, env=environment, check=False)
    assert done.returncode == 2
    assert "'bad' is not one of" in done.stderr
    done = subprocess.run(command, capture_output=True, text=True, cwd=here, env=environment, check=False)
    assert done.returncode == 77  # elsewhere it is one that was installed


def test_a_format_is_loaded_before_the_work(tmp_path: Path, monkeypatch: Patch) -> None:
    install(
        monkeypatch, tmp_path, "swz-bad", "def good(report, exit_code): return 'x'", {FORMATS: {"good": "swz_bad:good"}}
    )
    assert outside_format("good")(None, 0) == "x"  # pyright: ignore[reportArgumentType]  # it reads no report

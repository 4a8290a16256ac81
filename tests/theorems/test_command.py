"""`swzverify theorems`: arguments, exit codes, forms; and the page docs/theorems.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from swzverify.apps.cli import main
from swzverify.apps.theorems import Outcome
from swzverify.apps.theorems.discover import find_theorems
from swzverify.apps.theorems.listing import Entry
from swzverify.apps.theorems.page import render_page
from swzverify.apps.theorems.pool import judge_all
from swzverify.apps.theorems.solve import Judgement

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["theorems", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def verdict(monkeypatch: pytest.MonkeyPatch):
    """Give every theorem this outcome instead of proving it; `None` for the one that is expected."""

    def install(outcome: Outcome | None) -> None:
        def instead(theorems, processes):
            assert processes is None or processes >= 1
            return iter([Judgement(t.name, outcome or t.expected, (), "a reason") for t in theorems])

        monkeypatch.setattr("swzverify.apps.commands.theorems.judge_all", instead)

    return install


def test_the_table():
    result = run("-k", "xor-interval", "-j", "1")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["name", "verdict", "time", "statement"]
    assert any("xor-interval-published" in line and "refuted" in line for line in lines)
    assert "3 theorems: 2 proved, 1 refuted, 0 unexpected" in lines[-1]


def test_verbose_has_all_of_the_record():
    text = run("-v", "-k", "xor-interval-published").stdout
    for part in ("LaTeX", r"\forall k \ge 1", "Offset Bijection", "m = 1, k = 1, c = 1, x = 1", "instead", "closed"):
        assert part in text


def test_json():
    document = json.loads(run("--format", "json", "-k", "xor-interval-published").stdout)
    assert document["schema"] == "swzverify.theorems/1"
    assert document["summary"]["refuted"] == 1
    assert document["summary"]["unexpected"] == 0
    (theorem,) = document["theorems"]
    assert theorem["ok"]
    assert theorem["verdict"] == theorem["expected"] == "refuted"
    assert theorem["counterexample"] == {"obligation": "closed", "values": {"m": 1, "k": 1, "c": 1, "x": 1}}
    assert theorem["mended_by"] == "xor-interval"
    assert theorem["obligations"][0]["time_ms"] > 0


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_exit_codes_whatever_the_form(verdict, form):
    verdict(None)
    assert run("--format", form).exit_code == 0
    for outcome in (Outcome.UNKNOWN, Outcome.VACUOUS, Outcome.ERROR):
        verdict(outcome)
        assert run("--format", form).exit_code == 1, outcome
    verdict(Outcome.REFUTED)
    assert run("--format", form, "-k", "swizzle-involution").exit_code == 1
    verdict(Outcome.PROVED)
    assert run("--format", form, "-k", "xor-interval-published").exit_code == 1


def test_an_unexpected_verdict_comes_with_its_reason(verdict):
    verdict(Outcome.UNKNOWN)
    text = run("-k", "swizzle-involution").stdout
    assert "unknown, expected proved" in text
    assert "a reason" in text


@pytest.mark.parametrize("arguments", [["-k", "no such"], ["-j", "0"], ["--format", "xml"], ["swizzle"], ["--bad"]])
def test_usage(verdict, arguments):
    verdict(None)
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr


def test_the_page_is_what_the_theorems_say():
    """Write it again with `swzverify theorems --format markdown > docs/theorems.md`."""
    found = find_theorems()
    wrong = [theorem for theorem in found if theorem.expected is Outcome.REFUTED]
    judged = {judgement.name: judgement for judgement in judge_all(wrong, 1)}
    entries = [Entry(t, judged.get(t.name) or Judgement(t.name, t.expected, ())) for t in found]
    assert (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8") == render_page(entries)


def test_proofs_are_packaged():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["force-include"]["proofs"] == "swzverify/proofs"
    assert "proofs" in build["sdist"]["include"]


def test_from_another_folder_as_a_process(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "swzverify", "theorems", "-k", "tma-modes", "--format", "json"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    assert json.loads(done.stdout)["summary"]["proved"] == 1

"""Proofs by CaDiCaL: checked where the tools are installed, and never believed on a tool's mere
word.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from swzrecheck.drat import missing_tools, prove_unsatisfiable
from swzrecheck.encode import parts
from swzrecheck.program import Operation, Program, evaluate
from swzverify.ir.expr import var
from tests.certificates.conftest import COUNTED, PROVED, Folder
from tests.certificates.export import state
from tests.certificates.judge import all_points, random_program
from tests.engines import obligations as ob
from tests.engines.obligations import leaf

X, Y = var("x", 8), var("y", 6)


def question(stride: int) -> Program:
    """Whether two points of a padded map meet: not for strides from 8 on."""
    (part,) = parts(state(ob.injective((X, Y), (), ob.plus(leaf(X), ob.times(leaf(Y), stride)))))
    return part.program


def stand_in(place: Path, monkeypatch: pytest.MonkeyPatch, programs: dict[str, str]) -> None:
    """Only these programs, and the shell's own, are on PATH."""
    place.mkdir(exist_ok=True)
    for name, body in programs.items():
        (place / name).write_text(f"#!/bin/sh\n{body}\n")
        (place / name).chmod(0o755)
    shell = os.path.dirname(shutil.which("sh") or "/bin/sh")
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{shell}")


CHECKED = "for last; do :; done; echo 's VERIFIED'; echo > \"$last\""
SAYS_UNSAT = "echo 's UNSATISFIABLE'; exit 20"


@pytest.mark.skipif(bool(missing_tools()), reason="CaDiCaL and drat-trim are not both installed")
def test_proofs_are_made_and_checked() -> None:
    for stride in (8, 9, 13):
        outcome = prove_unsatisfiable(question(stride), 60)
        assert outcome.checked[:1] == ("drat-trim",), outcome.problem
        assert ("cake_lpr" in outcome.checked) == (shutil.which("cake_lpr") is not None)
    assert prove_unsatisfiable(question(7), 60).refuted


@pytest.mark.skipif(shutil.which("cadical") is None, reason="CaDiCaL is not installed")
def test_cadical_agrees_with_the_values_of_random_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clauses have a solution exactly when the last line is 1 at some point."""
    real = shutil.which("cadical")
    stand_in(tmp_path / "bin", monkeypatch, {"cadical": f'exec {real} "$@"', "drat-trim": CHECKED})
    seen = set[bool]()
    for seed in range(60):
        program = random_program(random.Random(seed))
        program = (*program, Operation("extract", 1, (len(program) - 1,), 0))
        possible = any(evaluate(program, point)[-1] for point in all_points(program))
        outcome = prove_unsatisfiable(program, 30)
        assert outcome.refuted is possible, seed
        assert bool(outcome.checked) is not possible
        seen.add(possible)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("cadical", "trim", "why"),
    [
        ("exit 20", CHECKED, "ends with code 20"),
        ("echo 's UNSATISFIABLE'", CHECKED, "ends with code 0"),
        ("exit 0", CHECKED, "ends with code 0"),
        (SAYS_UNSAT, "echo 's NOT VERIFIED'; exit 1", "drat-trim does not verify the proof: s NOT VERIFIED"),
        (SAYS_UNSAT, "exit 0", "it says nothing"),
        (SAYS_UNSAT, "echo 'c s VERIFIED'", "drat-trim does not verify"),
        ("sleep 60", CHECKED, "took more than"),
        (SAYS_UNSAT, "sleep 60", "took more than"),
    ],
)
def test_tools_are_not_believed(
    cadical: str, trim: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path / "bin", monkeypatch, {"cadical": cadical, "drat-trim": trim})
    outcome = prove_unsatisfiable(question(9), 0.5 if "sleep" in cadical + trim else 20)
    assert not outcome.checked
    assert why in outcome.problem


def test_cake_lpr_has_the_last_word_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = {"cadical": SAYS_UNSAT, "drat-trim": CHECKED + "; : > proof"}
    tools["drat-trim"] = 'echo "s VERIFIED"; while [ "$1" != -L ]; do shift; done; echo > "$2"'
    stand_in(tmp_path / "bin", monkeypatch, {**tools, "cake_lpr": "echo 's VERIFIED UNSAT'"})
    assert prove_unsatisfiable(question(9), 20).checked == ("drat-trim", "cake_lpr")
    stand_in(tmp_path / "bin", monkeypatch, {"cake_lpr": "echo 's VERIFIED RANGE 1-2'"})
    assert not prove_unsatisfiable(question(9), 20).checked


def test_what_is_missing_is_said(folder: Folder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("bitwuzla")
    stand_in(tmp_path / "bin", monkeypatch, {"lrat-check": "echo 's VERIFIED'"})
    # /bin may hold what is installed: only the folder of the stand-ins is looked through.
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    result = folder.recheck("--drat")
    assert result.exit_code == 3, result.output
    assert "CaDiCaL (`cadical` on PATH; Debian: apt-get install cadical)" in result.output
    assert "drat-trim" in result.output
    assert f"{COUNTED} rechecked, {PROVED - COUNTED} not rechecked" in result.output
    assert "0 proofs" in result.output


def test_lrat_check_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "ran"
    stand_in(
        tmp_path / "bin",
        monkeypatch,
        {"cadical": SAYS_UNSAT, "drat-trim": "echo 's NOT VERIFIED'", "lrat-check": f"touch {trap}; echo 's VERIFIED'"},
    )
    assert not prove_unsatisfiable(question(9), 20).checked
    assert not trap.exists()


@pytest.mark.skipif(bool(missing_tools()), reason="CaDiCaL and drat-trim are not both installed")
def test_the_command_counts_checked_proofs(folder: Folder) -> None:
    pytest.importorskip("bitwuzla")
    result = folder.recheck("--drat")
    assert result.exit_code == 0, result.output
    formulas = sum(len(goal["formulas"]) for entry in folder.entries() for goal in goals_of(folder, entry["id"]))
    assert f"{formulas} proofs" in result.output


def goals_of(folder: Folder, identity: str) -> list[dict[str, list[object]]]:
    return folder.certificate(identity.rsplit("::", 1)[1])["goals"]

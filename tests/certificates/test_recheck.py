"""`swzverify recheck`: what is right passes, and no forged, edited or damaged certificate does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from swzverify.certificates.folder import load_list
from swzverify.certificates.recheck import Limits, Outcome, Recheck, Status
from swzverify.certificates.solvers import NAMES
from swzverify.cli import main
from swzverify.cli.recheck import SOLVERS
from tests.certificates.conftest import PROVED, SPEC, Folder

pytest.importorskip("bitwuzla")
ROOT = Path(__file__).resolve().parents[2]


def goal_lines(data: dict[str, Any], index: int) -> list[str]:
    return data["goals"][index]["obligation"]


def judged(folder: Folder, kind: str) -> Outcome:
    """One certificate in this process, without a solver."""
    entry = next(entry for entry in load_list(str(folder.path)) if entry.id.endswith(f"::{kind}"))
    return Recheck(str(folder.path), Limits(()), lambda _: None).claim(entry)


# --- what is right -------------------------------------------------------------------------------------------------


def test_everything_proved_is_rechecked(folder: Folder) -> None:
    result = folder.recheck("-v")
    assert result.exit_code == 0, result.output
    assert f"{PROVED} rechecked of {PROVED} claims" in result.output
    assert result.output.count("rechecked  ") == PROVED


def test_the_command_knows_the_solvers() -> None:
    assert SOLVERS == NAMES


@pytest.mark.parametrize("solver", NAMES)
def test_every_solver_and_both_together(folder: Folder, solver: str) -> None:
    pytest.importorskip(solver)
    assert folder.recheck("--solver", solver).exit_code == 0
    if solver == "cvc5":
        result = folder.recheck("--solver", "bitwuzla", "--solver", "cvc5")
        assert result.exit_code == 0
        assert "bitwuzla" in result.output
        assert "cvc5" in result.output


def test_every_goal_has_a_witness_and_a_point(folder: Folder) -> None:
    for entry in folder.entries():
        data = json.loads((folder.path / entry["file"]).read_text())
        assert data["verdict"] == "proved"
        assert data["versions"]["z3-solver"]
        assert data["scope"]
        for goal in data["goals"]:
            assert len(goal["witnesses"]) == 1
            assert goal["formulas"]
            assert goal["point"]


def test_the_spec_is_kept_word_for_word(folder: Folder) -> None:
    digest = folder.certificate("permutation")["spec"]["sha256"]
    assert (folder.path / "specs" / f"{digest}.yaml").read_text() == SPEC


def test_the_same_spec_gives_the_same_bytes(tmp_path: Path) -> None:
    spec = tmp_path / "small.swz.yaml"
    texts: list[dict[str, bytes]] = []
    for ends in ("\n", "\r\n"):
        spec.write_bytes(SPEC.replace("\n", ends).encode())
        certs = tmp_path / "certs"
        assert CliRunner().invoke(main, ["prove", str(spec), "--certificates", str(certs)]).exit_code == 0
        texts.append(
            {path.relative_to(certs).as_posix(): path.read_bytes() for path in certs.rglob("*") if path.is_file()}
        )
    assert texts[0] == texts[1]


def test_neither_z3_nor_the_front_end_is_loaded(folder: Folder) -> None:
    """In the command's process and, by an import hook that its workers have too, nowhere else."""
    guard = folder.path.parent / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(
        "import sys\n"
        "FORBIDDEN = ('z3', 'swzverify.spec', 'swzverify.engines', 'swzverify.ir', 'swzverify.claims', "
        "'swzverify.prove', 'numpy')\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if any(name == one or name.startswith(one + '.') for one in FORBIDDEN):\n"
        "            raise ImportError('a recheck must not load ' + name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
    )
    code = (
        "import sys\n"
        "from swzverify.cli import main\n"
        "try:\n"
        "    import z3\n"
        "except ImportError as error:\n"
        "    assert 'must not load z3' in str(error)\n"
        "else:\n"
        "    sys.exit(99)\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        f"        main(['recheck', {str(folder.path)!r}, '-j', '2'])\n"
        "    except SystemExit as end:\n"
        "        print('loaded', sorted(n for n in sys.modules if n == 'z3' or n.startswith('swzverify.spec')))\n"
        "        sys.exit(end.code)\n"
    )
    script = folder.path.parent / "run.py"
    script.write_text(code)
    path = os.pathsep.join([str(guard), str(ROOT)])
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "loaded []" in done.stdout
    assert f"{PROVED} rechecked" in done.stdout


# --- damaged -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 0.999])
def test_files_cut_short_are_broken(folder: Folder, share: float) -> None:
    for path in (folder.file("injective"), folder.path / "certificates.json"):
        whole = path.read_text()
        path.write_text(whole[: int(len(whole) * share)])
        result = folder.recheck()
        assert result.exit_code == 2, result.output
        assert "Traceback" not in result.output
        assert str(path.name) in result.output
        path.write_text(whole)


def test_a_cut_certificate_is_placed_by_line_and_column(folder: Folder) -> None:
    path = folder.file("injective")
    path.write_text(path.read_text()[:500])
    folder.sign()
    result = folder.recheck()
    assert result.exit_code == 2
    assert f"SWZ602 {folder.path}/claims/{path.name}:" in result.output
    line = result.output.split(path.name + ":")[1].split(":")
    assert int(line[0]) > 1
    assert int(line[1]) >= 1


@pytest.mark.parametrize("name", ["claims", "formulas", "specs"])
def test_a_changed_or_missing_file_is_broken(folder: Folder, name: str) -> None:
    for path in sorted((folder.path / name).iterdir())[:2]:
        whole = path.read_bytes()
        path.write_bytes(whole + b" ")
        result = folder.recheck()
        assert result.exit_code == 2, result.output
        assert "SWZ603" in result.output
        path.unlink()
        result = folder.recheck()
        assert result.exit_code == 2
        assert "SWZ602" in result.output
        path.write_bytes(whole)
    assert folder.recheck().exit_code == 0


def test_a_changed_list_is_broken(folder: Folder) -> None:
    path = folder.path / "certificates.json"
    listed = json.loads(path.read_text())
    del listed["claims"][0]
    path.write_text(json.dumps(listed))
    result = folder.recheck()
    assert result.exit_code == 2
    assert "SWZ603" in result.output


def test_a_claim_left_out_of_the_list_is_noticed(folder: Folder) -> None:
    path = folder.path / "certificates.json"
    listed = json.loads(path.read_text())
    gone = listed["claims"].pop()
    path.write_text(json.dumps(listed))
    folder.sign()
    result = folder.recheck()
    assert result.exit_code == 2
    assert Path(gone["file"]).name in result.output


def test_folders_that_are_none(tmp_path: Path, folder: Folder) -> None:
    runner = CliRunner()
    assert runner.invoke(main, ["recheck", str(tmp_path / "nowhere")]).exit_code == 2
    (tmp_path / "empty").mkdir()
    result = runner.invoke(main, ["recheck", str(tmp_path / "empty")])
    assert result.exit_code == 2
    assert "SWZ601" in result.output
    (folder.path / "certificates.json").unlink()
    assert "of a run that did not end" in folder.recheck().output


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", "{", '{"schema": 1}', '{"a": 1, "a": 2}', "[" * 100_000, "\ufeff{}", "NaN", '"\\ud800"'],
)
def test_lists_and_certificates_that_are_nonsense(folder: Folder, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    path = folder.file("injective")
    path.write_bytes(data)
    folder.sign()
    result = folder.recheck()
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    (folder.path / "certificates.json").write_bytes(data)
    result = folder.recheck()
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output


def test_bytes_that_are_no_text(folder: Folder) -> None:
    folder.file("injective").write_bytes(b"\xff\xfe")
    folder.sign()
    result = folder.recheck()
    assert result.exit_code == 2
    assert "not UTF-8" in result.output


def test_every_field_is_needed_and_no_other(folder: Folder) -> None:
    whole = folder.certificate("permutation")
    for name in whole:
        folder.file("permutation").write_text(json.dumps({k: v for k, v in whole.items() if k != name}))
        folder.sign()
        outcome = judged(folder, "permutation")
        assert outcome.status is Status.BROKEN, name
        assert name in outcome.why[0]
    for bad in ({**whole, "extra": 1}, {**whole, "goals": []}, {**whole, "goals": {}}, {**whole, "kind": 7}):
        folder.file("permutation").write_text(json.dumps(bad))
        folder.sign()
        assert judged(folder, "permutation").status is Status.BROKEN


# --- forged, with every hash made good -----------------------------------------------------------------------------


def test_an_edited_verdict(folder: Folder) -> None:
    folder.forge("injective", lambda data: data.update(verdict="refuted"))
    result = folder.recheck()
    assert result.exit_code == 2
    assert "'proved'" in result.output


def test_an_edited_id(folder: Folder) -> None:
    folder.forge("injective", lambda data: data.update(id="other::A::injective"))
    assert folder.recheck().exit_code == 2


def test_a_swapped_formula(folder: Folder) -> None:
    """The formula of another claim, itself unsatisfiable, in the place of this one's."""
    other = folder.certificate("permutation")["goals"][0]["formulas"]

    def swap(data: dict[str, Any]) -> None:
        data["goals"][0]["formulas"] = other

    folder.forge("injective", swap)
    result = folder.recheck()
    assert result.exit_code == 2
    assert "the formulas are not those of the obligation" in result.output


@pytest.mark.parametrize(
    "text",
    [
        "(set-logic QF_BV)\n(assert false)\n(check-sat)\n(exit)\n",
        "(set-logic QF_BV)\n(check-sat)\n(exit)\n",
        "(set-logic QF_BV)\n(assert (distinct #b1 #b1))\n(check-sat)\n",
        "",
    ],
)
def test_a_trivial_formula(folder: Folder, text: str) -> None:
    digest = folder.add_formula(text)

    def replace(data: dict[str, Any]) -> None:
        data["goals"][0]["formulas"][0]["sha256"] = digest

    folder.forge("injective", replace)
    assert folder.recheck().exit_code == 2


def test_formulas_left_out(folder: Folder) -> None:
    folder.forge("injective", lambda data: data["goals"][0].update(formulas=[]))
    assert folder.recheck().exit_code == 2
    folder.forge("injective", lambda data: data["goals"][0].update(unwritten="too hard"))
    assert folder.recheck().exit_code == 2


def falsified(lines: list[str], field: str) -> list[str]:
    """The obligation with a condition replaced by the constant 0, the lines numbered as they must be."""
    blank = lines.index("")
    found = [*lines[:blank], f"{blank - 1} const 1 0", *lines[blank:]]
    return [f"{field} {blank - 1}" if line.startswith(f"{field} ") else line for line in found]


def refit(data: dict[str, Any], folder: Folder, index: int = 0) -> None:
    """Write the formulas anew, as a careful forger would."""
    from swzverify.certificates.encode import parts
    from swzverify.certificates.smtlib import script
    from swzverify.certificates.statement import read_statement

    goal = data["goals"][index]
    statement = read_statement("\n".join(goal["obligation"]))
    goal["formulas"] = [{"part": part.name, "sha256": folder.add_formula(script(part))} for part in parts(statement)]


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("injective", "assumption"),
        ("conflict_free", "assumption"),
        ("conflict_free", "active"),
        ("wavefronts", "active"),
        ("covers", "active"),
        ("disjoint", "condition"),
    ],
)
def test_an_assumption_that_is_false(folder: Folder, kind: str, field: str) -> None:
    """The formulas follow from the obligation, and all are unsatisfiable: over no case at all."""

    def empty(data: dict[str, Any]) -> None:
        index = next(i for i, goal in enumerate(data["goals"]) if any(x.startswith(field) for x in goal["obligation"]))
        goal = data["goals"][index]
        if field == "active" and kind != "covers":
            index = 1
            goal = data["goals"][1]
        goal["obligation"] = falsified(goal["obligation"], field)
        refit(data, folder, index)
        goal["witnesses"] = {}

    folder.forge(kind, empty)
    result = folder.recheck()
    assert result.exit_code == 1, result.output
    assert "the assumption is false" in result.output


def test_a_domain_without_points(folder: Folder) -> None:
    """A variable without a value is no variable."""

    def empty(data: dict[str, Any]) -> None:
        lines = goal_lines(data, 0)
        place = next(i for i, line in enumerate(lines) if " var " in line)
        words = lines[place].split(" ")
        words[3] = "0"
        lines[place] = " ".join(words)

    folder.forge("injective", empty)
    assert folder.recheck().exit_code == 2


def test_a_claim_that_is_about_no_case(folder: Folder) -> None:
    def empty(data: dict[str, Any]) -> None:
        data["exists"]["obligation"] = falsified(data["exists"]["obligation"], "assumption")

    folder.forge("conflict_free", empty)
    result = folder.recheck()
    assert result.exit_code == 1, result.output


def test_a_wrong_claim_with_formulas_to_match(folder: Folder) -> None:
    """At most 1 wavefront: everything fits together but the truth. Witness and solver each notice."""

    def claim(data: dict[str, Any]) -> None:
        lines = goal_lines(data, 1)
        lines[lines.index("at_most 2")] = "at_most 1"
        refit(data, folder, 1)

    folder.forge("wavefronts", claim)
    result = folder.recheck("--no-solver")
    assert result.exit_code == 1
    assert "witness shows nothing" in result.output
    folder.forge("wavefronts", lambda data: data["goals"][1].update(witnesses={}))
    result = folder.recheck()
    assert result.exit_code == 1
    assert "bitwuzla finds a case in which more than 1 wavefronts" in result.output


@pytest.mark.parametrize("kind", ["bijective", "injective", "disjoint", "covers", "permutation"])
def test_a_map_changed_under_its_proof(folder: Folder, kind: str) -> None:
    """Every constant of every obligation, changed by one bit: what is left standing is still true."""
    whole = folder.certificate(kind)
    caught = 0
    for index, goal in enumerate(whole["goals"]):
        for place, line in enumerate(goal["obligation"]):
            words = line.split(" ")
            if len(words) < 4 or words[1] != "const":
                continue
            data = json.loads(json.dumps(whole))
            words[3] = str(int(words[3]) ^ 1)
            data["goals"][index]["obligation"][place] = " ".join(words)
            refit(data, folder, index)
            folder.file(kind).write_text(json.dumps(data))
            folder.sign()
            caught += judged(folder, kind).status is Status.CONTRADICTED
    if kind != "disjoint":
        assert caught >= 1


def test_a_count_that_does_not_fill(folder: Folder) -> None:
    def fewer(data: dict[str, Any]) -> None:
        data["facts"][0]["room"] += 16

    folder.forge("bijective", fewer)
    result = folder.recheck()
    assert result.exit_code == 1
    assert "do not fill" in result.output


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("bijective", lambda data: data.update(facts=[])),
        ("bijective", lambda data: data["goals"].pop()),
        ("bijective", lambda data: data.update(goals=data["goals"][1:], facts=[])),
        ("permutation", lambda data: data.update(facts=[])),
        ("permutation", lambda data: data["goals"].reverse()),
        ("conflict_free", lambda data: data["goals"].pop()),
        ("wavefronts", lambda data: data["goals"].pop(0)),
        ("injective", lambda data: data.update(kind="bijective")),
        ("injective", lambda data: data.update(kind="perfect")),
        ("covers", lambda data: data.update(kind="disjoint")),
    ],
)
def test_a_claim_with_a_part_left_out(folder: Folder, kind: str, change: Callable[[dict[str, Any]], None]) -> None:
    folder.forge(kind, change)
    result = folder.recheck()
    assert result.exit_code == 2, result.output


def test_the_shapes_are_those_of_the_claims() -> None:
    from swzverify.certificates.recheck import SHAPES
    from swzverify.cli.prove import KINDS

    assert set(SHAPES) == set(KINDS)


def test_facts_about_goals_that_are_none(folder: Folder) -> None:
    for goal in (1, 7):
        folder.forge("bijective", lambda data, goal=goal: data["facts"][0].update(goal=goal))
        assert folder.recheck().exit_code == 2


def test_a_witness_of_no_known_engine(folder: Folder) -> None:
    folder.forge("injective", lambda data: data["goals"][0].update(witnesses={"oracle": {}}))
    assert folder.recheck().exit_code == 2


def test_a_point_outside(folder: Folder) -> None:
    def move(data: dict[str, Any]) -> None:
        point = data["goals"][0]["point"]
        point[min(point)] = 1 << 40

    folder.forge("injective", move)
    result = folder.recheck()
    assert result.exit_code == 1
    assert "outside" in result.output


def test_text_from_a_certificate_cannot_steer_the_terminal(folder: Folder) -> None:
    folder.forge("injective", lambda data: data.update(verdict="\x1b[2Jproved"))
    folder.forge("permutation", lambda data: data["goals"][0]["witnesses"].update({"\x1b]0;x\x07": {}}))
    result = folder.recheck()
    assert result.exit_code == 2
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


# --- solvers that fail ---------------------------------------------------------------------------------------------


def stand_in(folder: Folder, monkeypatch: pytest.MonkeyPatch, body: str, name: str = "bitwuzla") -> None:
    """A program in the place of the solver's Python package."""
    place = folder.path.parent / "bin"
    place.mkdir(exist_ok=True)
    program = place / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    hidden = folder.path.parent / "hidden"
    hidden.mkdir(exist_ok=True)
    (hidden / "sitecustomize.py").write_text(
        "import importlib.util as u\n"
        "found = u.find_spec\n"
        f"u.find_spec = lambda name, *rest: None if name == {name!r} else found(name, *rest)\n"
    )
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(hidden), str(ROOT)]))
    monkeypatch.setattr("swzverify.certificates.solvers.find_spec", lambda _: None)


def test_a_solver_that_is_a_program(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(folder, monkeypatch, "echo unsat")
    result = folder.recheck("--solver", "bitwuzla")
    assert result.exit_code == 0, result.output
    assert "bitwuzla (program)" in result.output


@pytest.mark.parametrize(
    "body",
    [
        "echo sat; echo unsat",
        "echo 'unsat?'",
        "exit 0",
        "echo error; exit 1",
        "kill -9 $$",
        "echo unsatisfiable",
        "echo",
    ],
)
def test_a_solver_that_gives_no_clear_answer(folder: Folder, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    stand_in(folder, monkeypatch, body)
    result = folder.recheck("--solver", "bitwuzla")
    assert result.exit_code == 3, result.output
    assert "the solver answers" in result.output
    assert f"0 rechecked, {PROVED} not rechecked" in result.output


def test_a_solver_that_says_sat(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(folder, monkeypatch, "echo sat")
    result = folder.recheck("--solver", "bitwuzla")
    assert result.exit_code == 1
    assert "contradicted" in result.output


def test_a_solver_that_hangs(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(folder, monkeypatch, "sleep 300")
    keep_one(folder)
    started = time.monotonic()
    result = folder.recheck("--solver", "bitwuzla", "--timeout", "0.5")
    assert result.exit_code == 3, result.output
    assert "cannot decide within 0.5 s" in result.output
    assert time.monotonic() - started < 60


def keep_one(folder: Folder, kind: str = "injective") -> None:
    """Leave one claim only."""
    path = folder.path / "certificates.json"
    listed = json.loads(path.read_text())
    gone = [entry for entry in listed["claims"] if not entry["id"].endswith(f"::{kind}")]
    listed["claims"] = [entry for entry in listed["claims"] if entry not in gone]
    for entry in gone:
        (folder.path / entry["file"]).unlink()
    path.write_text(json.dumps(listed))
    folder.sign()


def test_no_solver_at_all(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swzverify.certificates.solvers.find_spec", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda _: None)
    result = folder.recheck()
    assert result.exit_code == 2
    assert "pip install 'swzverify[recheck]'" in result.output


def test_without_a_solver_nothing_counts_as_rechecked(folder: Folder) -> None:
    result = folder.recheck("--no-solver")
    assert result.exit_code == 3
    assert f"0 rechecked, {PROVED} not rechecked" in result.output
    assert "no solver was asked" in result.output


def test_contradictory_options(folder: Folder) -> None:
    assert folder.recheck("--no-solver", "--solver", "cvc5").exit_code == 2


# --- writing -------------------------------------------------------------------------------------------------------


def test_nothing_but_certificates_is_ever_replaced(tmp_path: Path, folder: Folder) -> None:
    spec = tmp_path / "small.swz.yaml"
    spec.write_text(SPEC)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    result = CliRunner().invoke(main, ["prove", str(spec), "--certificates", str(mine)])
    assert result.exit_code == 2
    assert "thesis.tex" in result.output
    assert [path.name for path in mine.iterdir()] == ["thesis.tex"]
    stray = folder.path / "claims" / "notes.txt"
    stray.write_text("mine too")
    assert CliRunner().invoke(main, ["prove", str(spec), "--certificates", str(folder.path)]).exit_code == 2
    assert stray.exists()
    stray.unlink()
    assert CliRunner().invoke(main, ["prove", str(spec), "--certificates", str(folder.path)]).exit_code == 0


def test_a_second_run_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    spec, certs = tmp_path / "small.swz.yaml", tmp_path / "certs"
    spec.write_text(SPEC)
    runner = CliRunner()
    assert runner.invoke(main, ["prove", str(spec), "--certificates", str(certs)]).exit_code == 0
    (certs / "claims" / "x.json.123.part").write_text("half a file")
    assert (
        runner.invoke(main, ["prove", str(spec), "--certificates", str(certs), "--select", "injective"]).exit_code == 0
    )
    assert len(list((certs / "claims").iterdir())) == 1
    assert Folder(certs).recheck().exit_code == 0


def test_processes_write_the_same_as_one(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    for name in "ab":
        (tmp_path / "specs" / f"{name}.swz.yaml").write_text(SPEC)
    runner = CliRunner()
    found: list[dict[str, bytes]] = []
    for jobs in ("1", "2"):
        certs = tmp_path / "certs"
        shutil.rmtree(certs, ignore_errors=True)
        result = runner.invoke(main, ["prove", str(tmp_path / "specs"), "--certificates", str(certs), "-j", jobs])
        assert result.exit_code == 0, result.output
        found.append({str(path): path.read_bytes() for path in certs.rglob("*") if path.is_file()})
    assert found[0] == found[1]
    assert len(Folder(tmp_path / "certs").entries()) == 2 * PROVED

"""`swzverify recheck`: what is right passes, and no forged, edited or damaged certificate does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from swzrecheck.recheck import Status
from swzrecheck.solvers import NAMES
from swzverify.apps.cli import main
from swzverify.apps.options.recheck import SOLVERS
from tests.certificates.conftest import FEW, FEW_COUNTED, PROVED, SPEC, Folder

pytest.importorskip("bitwuzla")
ROOT = Path(__file__).resolve().parents[2]


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
        assert data["said"]["versions"]["z3-solver"]
        assert data["said"]["scope"]
        for goal in data["goals"]:
            if data["claim"].get("listings"):
                assert (goal["shown"], goal["witnesses"], goal["point"]) == ("folded", {}, {})
                continue
            assert goal["shown"] == "twice"
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
        "FORBIDDEN = ('z3', 'numpy', *('swzverify.' + name for name in ('spec', 'compiled', 'search', 'prover', "
        "'claims', 'subjects', 'engines', 'hardware', 'layout', 'ir')))\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if any(name == one or name.startswith(one + '.') for one in FORBIDDEN):\n"
        "            raise ImportError('a recheck must not load ' + name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
    )
    code = (
        "import sys\n"
        "from swzverify.apps.cli import main\n"
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


def test_a_point_that_no_trial_finds(tmp_path: Path) -> None:
    """One thread in one iteration of very many: the solver is asked for it, and the recheck
    evaluates it.
    """
    spec = tmp_path / "rare.swz.yaml"
    spec.write_text(
        "swzverify: 1\ntarget: sm_90\naccesses:\n"
        "  X: {instruction: st.shared.b32, threads: 64, for: {k: any, j: 1000}, "
        "if: tid*7 + k == 99991 && j == 777, address: 4*tid}\nclaims:\n  - aligned: X\n"
    )
    certs = tmp_path / "certs"
    result = CliRunner().invoke(main, ["prove", str(spec), "--certificates", str(certs), "-j", "1"])
    assert result.exit_code == 0, result.output
    point = Folder(certs).certificate("aligned")["exists"]["point"]
    assert 7 * (32 * point["warp"] + point["lane"]) + point["k"] == 99991
    assert point["j"] == 777
    assert Folder(certs).recheck().exit_code == 0


# --- damaged -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 0.999])
def test_files_cut_short_are_broken(few: Folder, share: float) -> None:
    for path in (few.file("injective"), few.path / "certificates.json"):
        whole = path.read_text()
        path.write_text(whole[: int(len(whole) * share)])
        result = few.recheck()
        assert result.exit_code == 2, result.output
        assert "Traceback" not in result.output
        assert str(path.name) in result.output
        path.write_text(whole)


def test_a_cut_certificate_is_placed_by_line_and_column(few: Folder) -> None:
    path = few.file("injective")
    path.write_text(path.read_text()[:500])
    few.sign()
    result = few.recheck()
    assert result.exit_code == 2
    assert f"SWZ602 {few.path}/claims/{path.name}:" in result.output
    line = result.output.split(path.name + ":")[1].split(":")
    assert int(line[0]) > 1
    assert int(line[1]) >= 1


@pytest.mark.parametrize("name", ["claims", "formulas", "specs"])
def test_a_changed_or_missing_file_is_broken(few: Folder, name: str) -> None:
    for path in sorted((few.path / name).iterdir())[:2]:
        whole = path.read_bytes()
        path.write_bytes(whole + b" ")
        result = few.recheck()
        assert result.exit_code == 2, result.output
        assert "SWZ603" in result.output
        path.unlink()
        result = few.recheck()
        assert result.exit_code == 2
        assert "SWZ603" in result.output
        assert path.name in result.output
        path.write_bytes(whole)
    assert few.recheck().exit_code == 0


def test_a_changed_list_is_broken(few: Folder) -> None:
    path = few.path / "certificates.json"
    listed = json.loads(path.read_text())
    del listed["claims"][0]
    path.write_text(json.dumps(listed))
    result = few.recheck()
    assert result.exit_code == 2
    assert "SWZ603" in result.output


def test_a_claim_left_out_of_the_list_is_noticed(few: Folder) -> None:
    path = few.path / "certificates.json"
    listed = json.loads(path.read_text())
    gone = listed["claims"].pop()
    path.write_text(json.dumps(listed))
    few.sign()
    result = few.recheck()
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
    assert "its run did not end" in folder.recheck().output


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", "{", '{"schema": 1}', '{"a": 1, "a": 2}', "[" * 100_000, "\ufeff{}", "NaN", '"\\ud800"'],
)
def test_lists_and_certificates_that_are_nonsense(few: Folder, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    path = few.file("injective")
    path.write_bytes(data)
    few.sign()
    result = few.recheck()
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    (few.path / "certificates.json").write_bytes(data)
    result = few.recheck()
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output


def test_bytes_that_are_no_text(few: Folder) -> None:
    few.file("injective").write_bytes(b"\xff\xfe")
    few.sign()
    result = few.recheck()
    assert result.exit_code == 2
    assert "not UTF-8" in result.output


def test_every_field_is_needed_and_no_other(folder: Folder) -> None:
    whole = folder.certificate("permutation")
    for name in whole:
        folder.file("permutation").write_text(json.dumps({k: v for k, v in whole.items() if k != name}))
        folder.sign()
        outcome = folder.judged("permutation")
        assert outcome.status is Status.BROKEN, name
        assert name in outcome.why[0]
    for bad in ({**whole, "extra": 1}, {**whole, "goals": []}, {**whole, "goals": {}}, {**whole, "claim": 7}):
        folder.file("permutation").write_text(json.dumps(bad))
        folder.sign()
        assert folder.judged("permutation").status is Status.BROKEN


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
    monkeypatch.setattr("swzrecheck.solvers.find_spec", lambda _: None)


def test_a_solver_that_is_a_program(few: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(few, monkeypatch, "echo unsat")
    result = few.recheck("--solver", "bitwuzla")
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
def test_a_solver_that_gives_no_clear_answer(few: Folder, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    stand_in(few, monkeypatch, body)
    result = few.recheck("--solver", "bitwuzla")
    assert result.exit_code == 3, result.output
    assert "the solver answers" in result.output
    assert f"{FEW_COUNTED} rechecked, {len(FEW) - FEW_COUNTED} not rechecked" in result.output


def test_a_solver_that_says_sat(few: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(few, monkeypatch, "echo sat")
    result = few.recheck("--solver", "bitwuzla")
    assert result.exit_code == 1
    assert "contradicted" in result.output


def test_a_solver_that_hangs(few: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(few, monkeypatch, "sleep 300")
    keep_one(few)
    result = few.recheck("--solver", "bitwuzla", "--timeout", "0.5")
    assert result.exit_code == 3, result.output
    assert "cannot decide within 0.5 s" in result.output


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
    monkeypatch.setattr("swzrecheck.solvers.find_spec", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda _: None)
    result = folder.recheck()
    assert result.exit_code == 2
    assert "pip install 'swzverify[recheck]'" in result.output


def test_without_a_solver_nothing_counts_as_rechecked(few: Folder) -> None:
    result = few.recheck("--no-solver")
    assert result.exit_code == 3
    assert f"{FEW_COUNTED} rechecked, {len(FEW) - FEW_COUNTED} not rechecked" in result.output
    assert "no solver was asked" in result.output


def test_contradictory_options(folder: Folder) -> None:
    assert folder.recheck("--no-solver", "--solver", "cvc5").exit_code == 2


# --- writing -------------------------------------------------------------------------------------------------------


def test_nothing_but_certificates_is_ever_replaced(tmp_path: Path, few: Folder) -> None:
    spec = tmp_path / "small.swz.yaml"
    spec.write_text(SPEC)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    result = CliRunner().invoke(main, ["prove", str(spec), "--certificates", str(mine)])
    assert result.exit_code == 2
    assert "thesis.tex" in result.output
    assert [path.name for path in mine.iterdir()] == ["thesis.tex"]
    stray = few.path / "claims" / "notes.txt"
    stray.write_text("mine too")
    assert CliRunner().invoke(main, ["prove", str(spec), "--certificates", str(few.path)]).exit_code == 2
    assert stray.exists()
    stray.unlink()
    assert CliRunner().invoke(main, ["prove", str(spec), "--certificates", str(few.path)]).exit_code == 0


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


@pytest.mark.nightly
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


def test_one_solver_is_not_two(folder: Folder) -> None:
    result = CliRunner().invoke(main, ["recheck", str(folder.path), "--solver", "cvc5", "--solver", "cvc5"])
    assert result.exit_code == 2
    assert "names one solver twice" in result.output

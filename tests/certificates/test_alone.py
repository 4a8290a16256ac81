"""`python -m swzrecheck` needs nothing of the prover, and says what `swzverify recheck` says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from swzrecheck.folder import Entry, save_list
from swzrecheck.recheck import Limits, Recheck, Status
from swzverify.apps.cli import main
from tests.certificates.test_recheck import SPEC

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of a spec, beside a copy of the package `swzrecheck` and nothing else."""
    home = tmp_path_factory.mktemp("alone")
    (home / "small.swz.yaml").write_text(SPEC)
    arguments = ["prove", str(home / "small.swz.yaml"), "--certificates", str(home / "certs")]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    shutil.copytree(ROOT / "swzrecheck", home / "packages" / "swzrecheck")
    return home / "certs"


def alone(certs: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The program in a process that has no swzverify to import."""
    guard = "import sys; sys.modules['swzverify'] = sys.modules['z3'] = sys.modules['numpy'] = None; import runpy; "
    start = "runpy.run_module('swzrecheck', run_name='__main__', alter_sys=True)"
    environment = os.environ | {"PYTHONPATH": str(certs.parent / "packages")}
    command = [sys.executable, "-c", guard + start, str(certs), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=cwd)


def without_seconds(text: str) -> list[str]:
    return [line.split(" claims in ")[0] for line in text.splitlines()]


def test_it_says_what_the_command_says(certs: Path) -> None:
    found = alone(certs, "-v")
    said = CliRunner().invoke(main, ["recheck", str(certs), "-j", "1", "-v"])
    assert (found.returncode, said.exit_code, found.stderr) == (0, 0, "")
    assert without_seconds(found.stdout) == without_seconds(said.output)
    assert "rechecked of" in found.stdout


def test_a_certificate_that_was_changed_is_broken(certs: Path, tmp_path: Path) -> None:
    copy = tmp_path / "alone" / "certs"
    shutil.copytree(certs.parent, copy.parent)
    changed = next((copy / "claims").iterdir())
    changed.write_text(changed.read_text().replace("}", " }", 1))
    found = alone(copy)
    assert found.returncode == 2
    assert "SWZ603" in found.stdout


def test_what_is_no_folder_is_told_in_a_line(certs: Path, tmp_path: Path) -> None:
    (tmp_path / "packages").symlink_to(certs.parent / "packages")
    found = alone(tmp_path / "no\x1bthing")
    assert (found.returncode, found.stderr) == (2, "")
    assert found.stdout.startswith("Error: SWZ601: ")
    assert "\x1b" not in found.stdout


def test_without_solvers_nothing_is_rechecked(certs: Path) -> None:
    assert alone(certs, "--no-solver").returncode == 3


def test_nothing_of_the_working_folder_is_imported(certs: Path, tmp_path: Path) -> None:
    for name in ("json", "argparse", "bitwuzla"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(99)\n")
    environment = os.environ | {"PYTHONPATH": str(certs.parent / "packages")}
    command = [sys.executable, "-m", "swzrecheck", str(certs)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, "")


def test_a_false_statement_is_contradicted(certs: Path, tmp_path: Path) -> None:
    """A box of twice the points cannot fill the other one. The hashes are right, as an attacker makes them."""
    copy = tmp_path / "alone" / "certs"
    shutil.copytree(certs.parent, copy.parent)
    files = {json.loads(file.read_text())["id"]: file for file in (copy / "claims").iterdir()}
    (file,) = (file for name, file in files.items() if "permutation" in name)
    text = json.loads(file.read_text())
    text["claim"]["maps"][0]["over"][0][1] *= 2
    file.write_text(json.dumps(text))
    save_list(str(copy), list(files), {})
    found = alone(copy)
    assert found.returncode == 1, found.stdout
    assert "1 contradicted of" in found.stdout.replace(",", "")


@pytest.mark.parametrize(
    ("error", "status"), [(MemoryError(), Status.NOT_RECHECKED), (KeyError("a bug"), Status.BROKEN)]
)
def test_a_fault_costs_one_certificate_and_confirms_none(
    error: Exception, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(Recheck, "claim", fails)
    found = Recheck("certs", Limits(()), lambda _: None).entry(Entry("A::bijective", "claims/a.json", "0" * 64))
    assert (found.status, found.formulas, found.witnesses) == (status, 0, 0)


@pytest.mark.parametrize("arguments", [("--timeout", "0"), ("--memory", "-1"), ("--solver", "cvc5", "--no-solver")])
def test_options_that_mean_nothing(certs: Path, arguments: tuple[str, ...]) -> None:
    found = alone(certs, *arguments)
    assert found.returncode == 2
    assert "Traceback" not in found.stderr

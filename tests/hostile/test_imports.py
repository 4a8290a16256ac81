"""The command never imports from the folder that it runs in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parents[2])
INSTALLED = ("click", "numpy", "pydantic", "rich", "yaml", "z3", "bitwuzla", "cvc5")
OF_PYTHON = ("__future__", "ast", "difflib", "fnmatch", "glob", "importlib", "inspect", "json", "multiprocessing")
OF_PYTHON += ("pickle", "random", "re", "signal", "socket", "stat", "subprocess", "tempfile", "threading", "typing")
OWN = ("swzverify", "swzverify_helper", "conftest", "sitecustomize", "usercustomize")

SPEC = """\
swzverify: 1
tiles: {A: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>"}}
claims: [{bijective: A}]
"""

TRAP = """\
open({marker!r}, "a").close()
raise SystemExit("the trap was sprung")
"""


def trapped(folder: Path, names: tuple[str, ...]) -> list[str]:
    """Six specs, enough for worker processes, beside modules that leave a mark when they are
    imported.
    """
    for name in names:
        (folder / f"{name}.py").write_text(TRAP.format(marker=str(folder / f"{name}.sprung")))
    (folder / "evil-1.dist-info").mkdir()
    (folder / "evil-1.dist-info" / "METADATA").write_text("Name: evil\nVersion: 1\n")
    (folder / "evil-1.dist-info" / "entry_points.txt").write_text("[pydantic]\nevil = z3:plugin\n")
    for index in range(6):
        (folder / f"{index}.swz.yaml").write_text(SPEC)
    return ["prove", "-j", "2", "."]


def check(folder: Path, command: list[str], environment: dict[str, str]) -> None:
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120)
    sprung = sorted(path.name for path in folder.glob("*.sprung"))
    assert sprung == [], run.stderr
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    assert "6 proved" in run.stdout


@pytest.fixture
def script(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What pip makes of the entry point."""
    path = tmp_path_factory.mktemp("bin") / "swzverify"
    path.write_text(
        "import sys\nfrom swzverify.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    return [sys.executable, str(path)]


def test_the_console_script(tmp_path, script):
    arguments = trapped(tmp_path, INSTALLED + OF_PYTHON + OWN)
    check(tmp_path, [*script, *arguments], {"PYTHONPATH": ROOT, "PATH": ""})


@pytest.mark.parametrize("path", [":{root}", "{here}:{root}"])
def test_the_console_script_with_the_folder_in_pythonpath(tmp_path, script, path):
    # Python itself reads its own library from there before any of our code runs; the other packages
    # it must not.
    arguments = trapped(tmp_path, INSTALLED)
    check(tmp_path, [*script, *arguments], {"PYTHONPATH": path.format(root=ROOT, here=tmp_path), "PATH": ""})


def test_as_a_module(tmp_path):
    arguments = trapped(tmp_path, (*INSTALLED, "multiprocessing", "difflib", "pickle", "subprocess", "tempfile"))
    check(tmp_path, [sys.executable, "-m", "swzverify", *arguments], {"PYTHONPATH": ROOT, "PATH": ""})


def test_as_a_module_with_a_safe_path(tmp_path):
    arguments = trapped(tmp_path, INSTALLED + OF_PYTHON + OWN)
    check(tmp_path, [sys.executable, "-P", "-m", "swzverify", *arguments], {"PYTHONPATH": ROOT, "PATH": ""})


def test_the_entry_point_is_the_safe_one():
    assert 'swzverify = "swzverify.__main__:main"' in (Path(ROOT) / "pyproject.toml").read_text(encoding="utf-8")


def test_without_the_fix_the_trap_works(tmp_path):
    """The same trap with the command imported as it is: what the tests above look for does happen."""
    trapped(tmp_path, ("z3",))
    command = [sys.executable, "-c", "from swzverify.apps.cli import main; main(['prove', '0.swz.yaml'])"]
    subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": ROOT}, capture_output=True, check=False, timeout=120)
    assert (tmp_path / "z3.sprung").exists()

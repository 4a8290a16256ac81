"""What `import swzverify` gives, whatever was imported before it, and what the package says of
itself.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest

import swzverify

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    "before", ["", "import swzverify.prover", "import swzverify.prover.judgement", "import swzverify.run"]
)
def test_prove_is_the_function_and_not_the_folder_of_that_name(before: str) -> None:
    lines = [before, "from swzverify import prove", "assert prove.__name__ == 'prove' and callable(prove), prove"]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    source = ROOT / PROJECT["tool"]["hatch"]["version"]["path"]
    assert source == ROOT / "swzverify" / "__init__.py"
    literal = f'"{swzverify.__version__}"'
    assert source.read_text("utf-8").count(literal) == 1
    others = [*(ROOT / "swzverify").rglob("*.py"), ROOT / "pyproject.toml", ROOT / "docs" / "conf.py"]
    assert [path for path in others if path != source and literal in path.read_text("utf-8")] == []


def test_the_site_has_that_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    names = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    assert names["release"] == names["version"] == swzverify.__version__


def test_type_checkers_read_the_package() -> None:
    assert files(swzverify).joinpath("py.typed").is_file()
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["swzverify"]
    assert "Typing :: Typed" in PROJECT["project"]["classifiers"]


def test_the_wheel_has_the_marker_and_the_version(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling builds the wheel; pip installs it where it builds")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env={**os.environ, "PYTHONWARNINGS": ""})
    (wheel,) = tmp_path.glob("*.whl")
    assert re.match(rf"swzverify-{re.escape(swzverify.__version__)}-", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        assert "swzverify/py.typed" in archive.namelist()
        pages = (
            "report/html/page.css",
            "report/html/page.js",
            *(f"explorer/page/page.{end}" for end in ("html", "css", "js")),
        )
        assert {f"swzverify/{page}" for page in pages} <= set(archive.namelist())


PACKAGES = sorted(
    ".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "swzverify").rglob("__init__.py") if path.parent
)


@pytest.mark.parametrize("name", PACKAGES)
def test_dir_and_completion_show_the_public_names(name: str) -> None:
    lines = [
        f"import {name} as package",
        "import rlcompleter",
        "names = getattr(package, '__all__', ())",
        "missing = [each for each in names if each not in dir(package)]",
        "assert not missing, missing",
        "found = rlcompleter.Completer({'package': package})",
        "offered, at = set(), 0",
        "while (text := found.complete('package.', at)) is not None:",
        "    offered.add(text.split('.', 1)[1].rstrip('()'))",
        "    at += 1",
        "assert set(names) <= offered, set(names) - offered",
        "assert all(hasattr(package, each) for each in names)",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


@pytest.mark.parametrize("name", ["swzverify", "swzverify.claims", "swzverify.spec", "swzverify.testing"])
def test_dir_shows_nothing_that_is_not_public(name: str) -> None:
    lines = [
        f"import {name} as package",
        "from types import ModuleType",
        "others = [each for each in dir(package) if each not in package.__all__ and not each.startswith('__')]",
        "assert all(isinstance(getattr(package, each), ModuleType) for each in others), others",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)

"""What `import swzverify` gives, whatever was imported before it, and what the package says of
itself.
"""

from __future__ import annotations

import ast
import os
import re
import runpy
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from importlib.resources import files
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import swzverify

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    "before", ["", "import swzverify.prover", "import swzverify.prover.judgement", "import swzverify.apps.run"]
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
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["swzverify", "swzrecheck"]
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
            *(f"apps/explorer/page/page.{end}" for end in ("html", "css", "js")),
        )
        assert {f"swzverify/{page}" for page in pages} | {"swzrecheck/__main__.py"} <= set(archive.namelist())


PACKAGES = sorted(
    ".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "swzverify").rglob("__init__.py") if path.parent
)


COMPLETED = """\
import importlib, os, rlcompleter, sys, traceback
import click, numpy, pydantic, rich, yaml, z3

def check(name):
    package = importlib.import_module(name)
    names = getattr(package, "__all__", ())
    missing = [each for each in names if each not in dir(package)]
    assert not missing, missing
    found = rlcompleter.Completer({"package": package})
    offered, at = set(), 0
    while (text := found.complete("package.", at)) is not None:
        offered.add(text.split(".", 1)[1].rstrip("()"))
        at += 1
    assert set(names) <= offered, set(names) - offered
    assert all(hasattr(package, each) for each in names)

wrong = []
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            check(name)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        wrong.append(name)
sys.exit(f"wrong: {wrong}" if wrong else 0)
"""
"""Each package is imported in a process that has no module of swzverify yet, but the libraries."""


def test_dir_and_completion_show_the_public_names() -> None:
    done = subprocess.run([sys.executable, "-c", COMPLETED, *PACKAGES], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["swzverify", "swzverify.claims", "swzverify.spec", "swzverify.testing"])
def test_dir_shows_nothing_that_is_not_public(name: str) -> None:
    lines = [
        f"import {name} as package",
        "from types import ModuleType",
        "others = [each for each in dir(package) if each not in package.__all__ and not each.startswith('__')]",
        "assert all(isinstance(getattr(package, each), ModuleType) for each in others), others",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_tests_are_collected_with_the_extra_test_alone() -> None:
    """A test that needs more skips itself with a reason: an import at its head would end the whole run."""
    brought = _brought_by("test")
    providers = packages_distributions()
    lacking = {
        f"{path.relative_to(ROOT)}: {module}"
        for path in (ROOT / "tests").rglob("*.py")
        for module in _imported(path)
        if module in providers and not brought & {canonicalize_name(each) for each in providers[module]}
    }
    assert lacking == set()


def _imported(path: Path) -> set[str]:
    """The packages that a file imports as it is read."""
    found: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {each.name.split(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.split(".")[0])
    return found


def _brought_by(extra: str) -> set[str]:
    """The distributions that an extra installs, those that these need included."""
    found: set[str] = set()
    texts = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"][extra]]
    wanted = [Requirement(text) for text in texts]
    while wanted:
        each = wanted.pop()
        name = canonicalize_name(each.name)
        if name == "swzverify":
            found.add(name)
            for more in each.extras:
                wanted += map(Requirement, PROJECT["project"]["optional-dependencies"][more])
        elif name not in found:
            found.add(name)
            try:
                needed = [Requirement(text) for text in requires(name) or ()]
            except PackageNotFoundError:
                continue  # tests of what is not installed skip themselves
            wanted += [one for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found

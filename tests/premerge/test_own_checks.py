"""The checks of this repository itself: its workflow, its hooks, and what CONTRIBUTING.md says of
both.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib

from ruamel.yaml import YAML

from tests.docs.blocks import ROOT, blocks_of
from tests.docs.unrun import check_command

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CI_RUN = (ROOT / ".ci" / "run").read_text("utf-8")
PACKAGES = (ROOT / ".ci" / "packages").read_text("utf-8")
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
WORKFLOW = YAML(typ="safe").load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
HOOKS = YAML(typ="safe").load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]


def test_the_workflow_runs_the_checks_and_nothing_else() -> None:
    steps = WORKFLOW["jobs"]["checks"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert {"push", "pull_request"} == set(WORKFLOW["on"])


def test_it_runs_on_the_oldest_python_and_the_newest() -> None:
    known = [match[1] for each in PROJECT["project"]["classifiers"] if (match := re.search(r":: (3\.\d+)$", each))]
    assert WORKFLOW["jobs"]["checks"]["strategy"]["matrix"]["python"] == [known[0], known[-1]]
    assert PROJECT["project"]["requires-python"] == f">={known[0]}"


def test_the_hooks_run_what_the_checks_run() -> None:
    for hook in HOOKS:
        program, *arguments = hook["entry"].split()
        assert program.startswith(".venv/bin/")
        name = program.removeprefix(".venv/bin/")
        assert f".venv/bin/{name}" in CI_RUN or name == "swzverify"
        check_command(" ".join([name, *arguments]))
    path = ROOT / ".pre-commit-config.yaml"
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(path)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0


def test_the_spec_hook_takes_the_librarys_specs() -> None:
    pattern = re.compile(HOOKS[-1]["files"])
    specs = [path.relative_to(ROOT).as_posix() for path in (ROOT / "specs").rglob("*.swz.yaml")]
    assert specs
    assert all(pattern.search(name) for name in specs)
    assert not pattern.search("specs/README.md")


def test_contributing_shows_the_commands_of_the_checks() -> None:
    (shown,) = [block for block in blocks_of(PAGE) if block.mark("not run here") == ".ci/run runs them"]
    readme = (ROOT / "README.md").read_text("utf-8")
    for line in shown.text.splitlines():
        assert line in CI_RUN or line in readme, line
    for line in map(str.strip, CI_RUN.splitlines()):
        if line.startswith(".venv/bin/") and "pip install" not in line:
            assert line in shown.text, line


def test_the_checks_install_the_packages_as_the_page_says() -> None:
    assert any(line.startswith(".ci/packages ") for line in CI_RUN.splitlines())
    assert os.access(ROOT / ".ci" / "packages", os.X_OK)
    page = blocks_of((ROOT / "docs" / "ci.md").read_text("utf-8"))
    installing = [block for block in page if block.mark("not run here") == ".ci/packages runs it"]
    assert len(installing) == 4
    for block in installing:
        (mark,) = [mark for mark in block.marks if not mark.startswith("not run here")]
        taken = re.search(rf"(\w+)=\$\(page_command {mark}\)", PACKAGES)
        assert taken is not None, mark
        assert f'"${taken[1]}"' in PACKAGES, f"{taken[1]} is not run"


def test_coverage_has_a_floor_and_is_no_part_of_the_checks() -> None:
    settings = PROJECT["tool"]["coverage"]
    assert settings["run"]["branch"] is True
    assert settings["run"]["source"] == ["swzverify", "swzrecheck"]
    assert 0 < settings["report"]["fail_under"] <= 100
    assert "coverage" not in CI_RUN

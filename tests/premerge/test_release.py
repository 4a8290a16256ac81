"""A tag is released only if tag, version and changelog agree, and after the built files were tried."""

from __future__ import annotations

import os
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from ruamel.yaml import YAML

import swzverify
from tests.docs.blocks import ROOT, blocks_of

FAULTS = cast("Callable[[Path, str], list[str]]", runpy.run_path(str(ROOT / ".ci" / "release.py"))["faults"])
DOORS = (ROOT / ".ci" / "doors").read_text("utf-8")
WORKFLOW: dict[str, Any] = YAML(typ="safe").load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
JOBS: dict[str, Any] = WORKFLOW["jobs"]


def test_this_tree_lacks_at_most_the_changes_since_the_last_release() -> None:
    found = FAULTS(ROOT, f"v{swzverify.__version__}")
    assert [fault for fault in found if not fault.startswith("changelog.d has ")] == []


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "swzverify").mkdir()
    (tmp_path / "swzverify/__init__.py").write_text('"""Text."""\n\n__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 1.2.3 (2026-01-02)\n\n- A line.\n\n## 1.2.2 (2025-01-02)\n"
    )
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d/README.md").write_text("How.\n")
    return tmp_path


def test_a_tree_that_agrees_is_released(tree: Path) -> None:
    assert FAULTS(tree, "v1.2.3") == []


@pytest.mark.parametrize(
    ("path", "text", "tag", "fault"),
    [
        ("README.md", "", "v1.2.4", "swzverify/__init__.py has version 1.2.3, the tag is v1.2.4"),
        ("README.md", "", "1.2.3", "the tag 1.2.3 is not of the form v1.2.3"),
        ("README.md", "", "v1.2.3rc1", "the tag v1.2.3rc1 is not of the form v1.2.3"),
        ("swzverify/__init__.py", "", "v1.2.3", "swzverify/__init__.py has version None, the tag is v1.2.3"),
        ("CHANGELOG.md", "## Unreleased\n\n## 1.2.3 (2026-01-02)\n", "v1.2.3", "the first section of CHANGELOG.md"),
        ("CHANGELOG.md", "## 1.2.3\n", "v1.2.3", "the first section of CHANGELOG.md"),
        ("changelog.d/+more.added.md", "More.\n", "v1.2.3", "changelog.d has 1 changes that are not in CHANGELOG.md"),
    ],
)
def test_what_does_not_agree_is_named(tree: Path, path: str, text: str, tag: str, fault: str) -> None:
    (tree / path).write_text(text)
    assert any(each.startswith(fault) for each in FAULTS(tree, tag))


def test_a_tag_builds_tries_and_publishes_the_same_files() -> None:
    assert WORKFLOW["on"] == {"push": {"tags": ["v*"]}}
    assert list(JOBS) == ["build", "doors", "publish"]
    assert (JOBS["doors"]["needs"], JOBS["publish"]["needs"]) == ("build", "doors")
    runs = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in JOBS.items()}
    assert runs["build"][0] == 'python .ci/release.py "$TAG"'
    assert runs["doors"] == [".ci/doors dist"]
    # what was tried is published: the last job builds nothing
    assert runs["publish"] == []
    uses = [step["uses"].split("@")[0] for step in JOBS["publish"]["steps"]]
    assert uses == ["actions/download-artifact", "pypa/gh-action-pypi-publish"]


def test_only_the_publishing_job_may_ask_for_a_token_and_no_secret_is_read() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert {name: job.get("permissions") for name, job in JOBS.items()} == {
        "build": None,
        "doors": None,
        "publish": {"id-token": "write"},
    }
    assert JOBS["publish"]["environment"] == "pypi"
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")


def test_the_doors_are_the_readme_s_command_lines() -> None:
    assert os.access(ROOT / ".ci" / "doors", os.X_OK)
    names = re.search(r"doors=\((\w+) (\w+)\)$", DOORS, re.MULTILINE)
    assert names is not None
    marks = {mark for block in blocks_of((ROOT / "README.md").read_text("utf-8")) for mark in block.marks}
    assert set(names.groups()) == {"prove", "tests"} <= marks
    assert 'swzverify" prove --quiet "$work/sdist/specs"' in DOORS
    assert "-m swzrecheck certificates" in DOORS

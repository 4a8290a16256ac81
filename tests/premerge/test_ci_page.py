"""What docs/ci.md and the GitLab template show is valid, and names hooks, inputs and files that
exist.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

from tests.docs.blocks import ROOT, Block, blocks_of
from tests.premerge.action import ACTION

GITLAB = Draft7Validator(json.loads((ROOT / "tests/data/schemas/gitlab-ci.json").read_text(encoding="utf-8")))
TEMPLATE = ROOT / "ci-templates" / "swzverify.gitlab-ci.yml"


def blocks() -> list[Block]:
    return [block for block in blocks_of((ROOT / "docs/ci.md").read_text(encoding="utf-8")) if block.language == "yaml"]


def shown(key: str) -> dict:
    """The one block of the page with this key at its top."""
    found = [value for block in blocks() if key in (value := YAML(typ="safe").load(block.text))]
    assert len(found) == 1
    return found[0]


def test_each_takes_about_ten_lines():
    assert len(blocks()) == 3
    assert all(len(block.text.splitlines()) <= 11 for block in blocks())


def test_the_hooks_exist():
    hooks = {hook["id"] for hook in YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    (repo,) = shown("repos")["repos"]
    assert {hook["id"] for hook in repo["hooks"]} == hooks


def test_pre_commit_takes_the_configuration(tmp_path):
    path = tmp_path / ".pre-commit-config.yaml"
    text = next(block.text for block in blocks() if block.text.startswith("repos:"))
    path.write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-config", str(path)], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (0, "")


def test_the_action_has_the_inputs_and_the_page_names_them_all():
    steps = shown("jobs")["jobs"]["layouts"]["steps"]
    assert set(steps[-1]["with"]) <= set(ACTION["inputs"])
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    for name in ACTION["inputs"]:
        assert f"`{name}`" in page, name


@pytest.mark.parametrize("where", ["the page", "the template"])
def test_gitlab_s_schema_takes_the_job(where):
    job = shown("swzverify") if where == "the page" else YAML(typ="safe").load(TEMPLATE.read_text(encoding="utf-8"))
    assert [error.message for error in GITLAB.iter_errors(job)] == []
    assert job["swzverify"]["artifacts"] == {"when": "always", "reports": {"junit": "swzverify.xml"}}
    assert not GITLAB.is_valid({"swzverify": {**job["swzverify"], "artifacts": {"when": "sometimes"}}})


def test_the_template_s_last_command_writes_the_report_and_fails(tmp_path):
    job = YAML(typ="safe").load(TEMPLATE.read_text(encoding="utf-8"))["swzverify"]
    (tmp_path / "a.swz.yaml").write_text("swzverify: 1\n", encoding="utf-8")
    command = job["script"][-1].replace("/tmp/swzverify/bin/swzverify", f'"{sys.executable}" -m swzverify')  # noqa: S108
    environment = {**os.environ, **job["variables"], "PYTHONPATH": str(ROOT)}
    run = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert run.returncode in {2, 5}
    report = ET.fromstring((tmp_path / "swzverify.xml").read_text(encoding="ascii"))  # noqa: S314 - our own
    assert len(list(report.iter("error"))) >= 1

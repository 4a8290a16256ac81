"""What docs/ci.md and the GitLab template show is valid, and names hooks, inputs and files that
exist.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

from swzverify.apps.cli import main
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
    assert len(blocks()) == 4
    assert all(len(block.text.splitlines()) <= 11 for block in blocks())


def test_the_step_that_scans_kernels(tmp_path):
    """The known conflict passes, and a new one fails with SARIF for the upload."""
    (steps,) = [value for block in blocks() if isinstance(value := YAML(typ="safe").load(block.text), list)]
    (_, *words) = shlex.split(steps[1]["run"].replace("build/*.ptx", "gemm.ptx"))
    kernel = ".version 8.3 .target sm_90 .address_size 64 .shared .b8 s[4096]; .entry gemm() { .reg .b32 %r<4>;\n"
    kernel += "mov.u32 %r1, %tid.x; mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 8, %r2; ld.shared.u32 %r3, [%r2]; ret; }"
    (tmp_path / "gemm.ptx").write_text(kernel, encoding="utf-8")
    with contextlib.chdir(tmp_path):
        write = ["scan", "gemm.ptx", "--block", "gemm*=128", "--write-baseline", "known.json"]
        assert CliRunner().invoke(main, write).exit_code == 0
        assert CliRunner().invoke(main, words).exit_code == 0
        (tmp_path / "gemm.ptx").write_text(kernel.replace(" 8, %r2", " 16, %r2"), encoding="utf-8")
        found = CliRunner().invoke(main, words)
        assert (found.exit_code, found.stdout.startswith("::error ")) == (1, True)
        assert (tmp_path / steps[2]["with"]["sarif_file"]).exists()


def hooks_from_git(folder: Path) -> Path:
    """What the page's command writes, for this checkout."""
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    (block,) = [block for block in blocks_of(page) if "hooks from git" in block.marks]
    names = {"SWZVERIFY_URL": "file:///srv/swzverify", "SWZVERIFY_REV": "v0.1.0"}
    subprocess.run(["bash", "-euc", block.text], cwd=folder, env={**os.environ, **names}, check=True)
    return folder / ".pre-commit-config.yaml"


def test_the_hooks_from_git_exist_and_are_all(tmp_path):
    known = {hook["id"] for hook in YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    (repo,) = YAML(typ="safe").load(hooks_from_git(tmp_path).read_text("utf-8"))["repos"]
    assert {hook["id"] for hook in repo["hooks"]} == known
    on_commit = {hook["id"] for hook in repo["hooks"] if "stages" not in hook}
    assert on_commit == {"swzverify", "swzverify-sources"}  # two hooks that read no file twice
    assert (repo["repo"], repo["rev"]) == ("file:///srv/swzverify", "v0.1.0")


def test_pre_commit_takes_the_configuration_from_git(tmp_path):
    run = pre_commit(tmp_path, "validate-config", str(hooks_from_git(tmp_path)))
    assert (run.returncode, run.stdout) == (0, "")


def pre_commit(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """pre-commit in a folder, which finds this Python's `swzverify` first and no settings of this machine."""
    programs = folder / ".git" / "programs"
    programs.mkdir(parents=True, exist_ok=True)
    (programs / "swzverify").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m swzverify "$@"\n', encoding="utf-8")
    (programs / "swzverify").chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PRE_COMMIT_HOME": str(folder / ".git" / "pre-commit"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_local_hook_lets_a_true_claim_in_and_a_false_one_not(tmp_path):
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    text = next(block.text for block in blocks() if block.text.startswith("repos:"))
    (tmp_path / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    spec = (
        "swzverify: 1\ntiles: {A: {element: f16, layout: '(8,64):(64,1)'}}\n"
        "claims: [{contiguous: {tile: A, elements: 8}}]\n"
    )
    for swizzle, code in (("Swizzle<3,3,3>", 0), ("Swizzle<3,2,3>", 1)):
        (tmp_path / "a.swz.yaml").write_text(spec.replace(")'}", f")', swizzle: '{swizzle}'}}"), encoding="utf-8")
        subprocess.run(["git", "add", "--all"], cwd=tmp_path, check=True)
        done = pre_commit(tmp_path, "run")
        assert done.returncode == code, done.stdout + done.stderr
        assert ("a.swz.yaml:3" in done.stdout) == bool(code), done.stdout


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

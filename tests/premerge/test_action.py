"""The GitHub Action: valid, its scripts run as they stand, and no input or file name ever becomes a
command.
"""

from __future__ import annotations

import json
import re
import stat
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from tests.premerge.action import ACTION, ROOT, STEPS, Runner

SCHEMA = ROOT / "tests" / "data" / "schemas" / "github-action.json"
GOOD = """\
swzverify: 1
tiles: {A: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>"}}
claims: [{bijective: A}]
"""
BAD = GOOD.replace("bijective: A", "contiguous: {tile: A, elements: 16}")
UNDECIDED = GOOD.replace("{bijective: A}", "{bijective: A, expect: unknown}")


@pytest.fixture
def runner(tmp_path: Path):
    """A job with swzverify installed: `runner({"a.swz.yaml": text}, paths="...")`."""

    def make(files: dict[str, str], **inputs: str) -> Runner:
        job = Runner(tmp_path / "job", {name.replace("_", "-"): value for name, value in inputs.items()})
        for name, text in files.items():
            path = job.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        job.install()
        return job

    return make


def test_the_schema_takes_it():
    validator = Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert [error.message for error in validator.iter_errors(ACTION)] == []
    broken = {**ACTION, "runs": {**ACTION["runs"], "steps": [{"run": "true"}]}}
    assert not validator.is_valid(broken)


def test_no_script_has_an_expression_and_every_input_is_used():
    text = json.dumps(ACTION["runs"])
    for name, step in STEPS.items():
        assert "${{" not in step.get("run", ""), name
    for name in ACTION["inputs"]:
        assert f"inputs.{name}" in text, name
    uses = [step["uses"] for step in STEPS.values() if "uses" in step]
    assert all(re.fullmatch(r"[\w.-]+/[\w./-]+@v\d+", each) for each in uses)


def test_the_verdict_and_the_upload_come_whatever_happened_before():
    names = list(STEPS)
    assert names[-1] == "Verdict"
    assert STEPS["Verdict"]["if"] == "${{ !cancelled() }}"
    assert STEPS["Upload the findings"]["if"].startswith("${{ !cancelled() && inputs.upload-sarif == 'true' && ")
    assert STEPS["Upload the findings"]["with"]["sarif_file"] == "${{ steps.prove.outputs.sarif }}"


@pytest.mark.parametrize(
    ("text", "code"),
    [(GOOD, 0), (BAD, 1), (GOOD.replace("bijective", "bijektive"), 2), (UNDECIDED, 1), ("", 2)],
)
def test_the_exit_code_is_kept_until_the_end(runner, text, code):
    job = runner({"specs/a.swz.yaml": text})
    assert job.run("Prove") == 0, job.log
    assert job.outputs["exit-code"] == str(code)
    assert job.run("Verdict") == code


def test_a_run_that_never_came_to_a_verdict_fails(runner):
    job = runner({})
    assert job.run("Verdict") == 2
    (job.temp / "swzverify-venv" / "bin" / "swzverify").write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    assert job.run("Prove") == 0
    assert "sarif" not in job.outputs
    assert job.run("Verdict") == 2
    (job.temp / "swzverify-venv" / "bin" / "swzverify").unlink()
    assert job.run("Prove") == 0
    assert job.run("Verdict") == 127


def test_one_run_gives_the_log_the_summary_and_both_files(runner):
    job = runner({"specs/a.swz.yaml": BAD, "specs/b.swz.yaml": GOOD})
    job.run("Prove")
    assert "::error title=contiguous A refuted,file=specs/a.swz.yaml,line=3::" in job.log
    assert "1 proved, 1 unexpected (1 refuted)" in job.log
    summary = job.summary.read_text(encoding="utf-8")
    assert summary.startswith("## \u274c swzverify: 1 proved")
    (run,) = json.loads(Path(job.outputs["sarif"]).read_text(encoding="utf-8"))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["contiguous"]
    root = ET.fromstring(Path(job.outputs["junit"]).read_text(encoding="utf-8"))  # noqa: S314 - our own
    assert len(list(root.iter("failure"))) == 1
    assert not [path for path in job.workspace.rglob("*") if path.suffix in {".sarif", ".xml", ".md"}]


def test_a_summary_that_stands_there_is_kept(runner):
    job = runner({"a.swz.yaml": GOOD})
    job.summary.write_text("before\n", encoding="utf-8")
    job.run("Prove")
    assert job.summary.read_text(encoding="utf-8").startswith("before\n## \u2705 swzverify: 1 proved")


def test_inputs_are_one_item_a_line(runner):
    job = runner(
        {"x y/a.swz.yaml": GOOD, "b.swz.yaml": BAD, "c.swz.yaml": BAD},
        paths="  x y \r\n\n b.swz.yaml\n",
        args="--select=contiguous\n",
        target="sm_80",
    )
    job.run("Prove")
    (run,) = json.loads(Path(job.outputs["sarif"]).read_text(encoding="utf-8"))["runs"]
    assert run["properties"]["claims"]["refuted"] == 1
    assert job.outputs["exit-code"] == "1"
    job.inputs["target"] = "sm_19"
    job.run("Prove")
    assert job.outputs["exit-code"] == "2"
    assert "sm_19" in job.log


@pytest.mark.parametrize(
    "evil",
    [
        "$(touch pwned)",
        "`touch pwned`",
        '"; touch pwned; "',
        "a\n; touch pwned",
        "${IFS}$PATH",
        "*",
        "--output=pwned",
        "::error::x",
    ],
)
def test_no_input_becomes_a_command_or_an_option(runner, evil):
    job = runner({"a.swz.yaml": GOOD}, paths=evil, target=evil if "\n" not in evil else "")
    job.run("Prove")
    assert job.outputs["exit-code"] == "2"
    assert job.run("Verdict") == 2
    assert [path.name for path in job.workspace.iterdir()] == ["a.swz.yaml"]
    assert not re.search(r"^\s*::error::x", job.log, re.MULTILINE)


def test_no_path_at_all_is_an_error(runner):
    job = runner({"a.swz.yaml": GOOD}, paths="\n")
    job.run("Prove")
    assert job.outputs["exit-code"] == "2"


@pytest.mark.parametrize(
    ("version", "wanted"),
    [("", str(ROOT)), ("1.2.3", "swzverify==1.2.3"), ("1; touch pwned #", "swzverify==1; touch pwned #")],
)
def test_the_installation_takes_the_version_as_one_word(tmp_path, version, wanted):
    job = Runner(tmp_path / "job", {"version": version})
    shims = tmp_path / "shims"
    shims.mkdir()
    python = shims / "python"
    python.write_text(
        "#!/bin/bash\n"
        'printf "%s\\n" "$@" --- >> "$HOME/calls"\n'
        'if [ "$3" = venv ]; then mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; fi\n',
        encoding="utf-8",
    )
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    assert job.run("Install swzverify", path=f"{shims}:/usr/bin:/bin") == 0, job.log
    calls = (job.folder / "calls").read_text(encoding="utf-8").split("---\n")
    assert calls[0].splitlines() == ["-I", "-m", "venv", f"{job.temp}/swzverify-venv"]
    assert calls[1].splitlines()[:4] == ["-I", "-m", "pip", "install"]
    assert calls[1].splitlines()[-1] == wanted
    assert not list(tmp_path.rglob("pwned"))

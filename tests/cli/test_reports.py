"""`swzverify prove --format` and `--report`: every format says what happened, and none changes the
exit code.
"""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from swzverify.report.formats import Format

FORMATS = [form.value for form in Format]


class TestFormats:
    @pytest.mark.parametrize("form", FORMATS)
    def test_no_format_changes_the_exit_code(self, swzverify, write, specs, answers, form):
        write({"a.swz.yaml": specs.bad})
        for outcome, code in {"proved": 0, "refuted": 1, "unknown": 3, "vacuous": 3, "error": 2}.items():
            answers(contiguous=outcome)
            assert swzverify("prove", "--format", form, "a.swz.yaml").exit_code == code, outcome
            assert swzverify("prove", "--report", f"{form}=out", "a.swz.yaml").exit_code == code, outcome

    @pytest.mark.parametrize("form", FORMATS)
    def test_problems_are_in_every_format(self, swzverify, write, specs, answers, form):
        write({"a.swz.yaml": specs.good, "b.swz.yaml": specs.broken})
        answers()
        result = swzverify("prove", "--format", form, "--report", f"{form}=out", ".")
        assert result.exit_code == 2
        for text in (result.output, Path("out").read_text(encoding="utf-8")):
            assert "SWZ104" in text
            assert "bijektive" in text.replace("\\", "")
            assert "b.swz.yaml" in text

    @pytest.mark.parametrize("form", FORMATS)
    def test_an_undecided_claim_is_in_every_format(self, swzverify, write, specs, answers, form):
        write({"a.swz.yaml": specs.bad})
        answers(contiguous="unknown", reason="out of resources")
        text = swzverify("prove", "--format", form, "a.swz.yaml").stdout
        assert "contiguous" in text
        assert "unknown" in text
        assert "out of resources" in text

    @pytest.mark.parametrize("form", FORMATS)
    def test_no_claim(self, swzverify, here, answers, form):
        answers()
        assert swzverify("prove", "--format", form, str(here)).exit_code == 5
        allowed = swzverify("prove", "--allow-no-claims", "--format", form, str(here))
        assert allowed.exit_code == 0
        assert "::error" not in allowed.stdout

    def test_allowing_no_claims_allows_nothing_else(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.bad, "b.swz.yaml": specs.broken})
        for outcome, code in {"refuted": 1, "unknown": 3}.items():
            answers(contiguous=outcome)
            assert swzverify("prove", "--allow-no-claims", "a.swz.yaml").exit_code == code
        assert swzverify("prove", "--allow-no-claims", "b.swz.yaml").exit_code == 2
        assert swzverify("prove", "--allow-no-claims", "no.swz.yaml").exit_code == 2

    def test_the_exit_code_in_the_reports_is_the_command_s(self, swzverify, here, answers):
        answers()
        for options, code in (((), 5), (("--allow-no-claims",), 0)):
            swzverify("prove", *options, "--report", "jsonl=o.jsonl", "--report", "sarif=o.sarif", str(here))
            last = json.loads(Path("o.jsonl").read_text(encoding="utf-8").splitlines()[-1])
            (run,) = json.loads(Path("o.sarif").read_text(encoding="utf-8"))["runs"]
            assert (last["exit_code"], run["invocations"][0]["exitCode"]) == (code, code)


class TestReportFiles:
    def test_one_run_writes_many(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.bad})
        seen = answers(contiguous="refuted")
        options = [option for form in FORMATS for option in ("--report", f"{form}=out/x.{form}")]
        write({"out/keep": ""})
        result = swzverify("prove", *options, "a.swz.yaml")
        assert (result.exit_code, len(seen)) == (1, 2)
        assert "two lanes in one bank" in result.stdout
        places = ", ".join(f"out/x.{form}" for form in FORMATS)
        assert result.stderr.endswith(f"; report in {places}\n")
        assert json.loads(Path("out/x.sarif").read_text("ascii"))["version"] == "2.1.0"
        assert ET.parse("out/x.junit").getroot().tag == "testsuites"  # noqa: S314 - our own
        assert Path("out/x.text").read_text("utf-8").startswith("a.swz.yaml\n")
        for form in FORMATS:
            assert "two lanes in one bank" in Path(f"out/x.{form}").read_text("utf-8")

    def test_beside_output_and_quietly(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.good})
        answers()
        result = swzverify("prove", "-q", "--output", "o.txt", "--report", "json=o.json", "a.swz.yaml")
        assert (result.exit_code, result.output) == (0, "")
        assert json.loads(Path("o.json").read_text("utf-8"))["summary"]["proved"] == 1
        assert Path("o.txt").read_text("utf-8").startswith("1 proved")

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--report", "o.sarif"], "FORMAT=FILE"),
            (["--report", "sarif="], "FORMAT=FILE"),
            (["--report", "sarrif=o"], "formats: text, json"),
            (["--report", "sarif=no/such/o"], "there is no folder"),
            (["--report", "sarif=."], "is a folder"),
            (["--report", "sarif=./a.swz.yaml"], "one of the files"),
            (["--report", "sarif=o", "--report", "junit=./o"], "another --report"),
            (["--output", "o", "--report", "junit=x/../o"], "--output"),
            (["--write-baseline", "o", "--report", "junit=o"], "--write-baseline"),
            (["--baseline", "known.json", "--report", "json=known.json"], "--baseline"),
            (["--recording", "r.json", "--report", "json=r.json"], "--recording"),
            (["--calibration", "c.json", "--report", "json=c.json"], "--calibration"),
        ],
    )
    def test_what_cannot_be_written_is_refused_before_anything_runs(
        self, swzverify, write, specs, answers, options, words
    ):
        write({"a.swz.yaml": specs.good, "x/y": "", "known.json": "keep"})
        seen = answers()
        result = swzverify("prove", *options, "a.swz.yaml")
        assert (result.exit_code, seen, result.stdout) == (2, [], "")
        assert words in " ".join(result.stderr.split())
        assert Path("a.swz.yaml").read_text("utf-8") == specs.good
        assert Path("known.json").read_text("utf-8") == "keep"

    def test_one_that_fails_costs_none_of_the_others(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.good})
        Path("bad").symlink_to("no/such/folder/x")
        answers()
        result = swzverify("prove", "--report", "json=bad", "--report", "sarif=good.sarif", "a.swz.yaml")
        assert result.exit_code == 2
        assert "SWZ504 cannot write the report 'bad'" in result.stderr
        assert "1 proved" in result.stdout
        assert json.loads(Path("good.sarif").read_text("utf-8"))["runs"][0]["results"] == []

    def test_nor_does_a_renderer_s_fault(self, swzverify, write, specs, answers, monkeypatch):
        write({"a.swz.yaml": specs.good})
        answers()

        def failing(*_, **__):
            raise ValueError("no")

        monkeypatch.setattr("swzverify.report.sarif.render_sarif", failing)
        result = swzverify("prove", "--report", "sarif=o.sarif", "--report", "jsonl=o.jsonl", "a.swz.yaml")
        assert result.exit_code == 2
        assert "SWZ901" in result.stderr
        assert not Path("o.sarif").exists()
        assert json.loads(Path("o.jsonl").read_text("utf-8").splitlines()[-1])["type"] == "summary"

    def test_the_version_is_the_installed_one(self, swzverify, write, specs, answers):
        from swzverify.apps.run.version import installed_version

        write({"a.swz.yaml": specs.good})
        answers()
        (run,) = json.loads(swzverify("prove", "--format", "sarif", "a.swz.yaml").stdout)["runs"]
        assert run["tool"]["driver"]["version"] == installed_version()

    @pytest.mark.skipif(os.name == "nt", reason="names of POSIX")
    def test_a_file_that_looks_like_a_command_comes_out_inert(self, swzverify, write, specs, answers):
        name = "::error::x,y%0A.swz.yaml"
        write({name: specs.bad})
        answers(contiguous="refuted")
        lines = swzverify("prove", "--format", "github", "--", name).stdout.splitlines()
        commands = [line for line in lines if line.lstrip().startswith("::")]
        assert len(commands) == 1
        assert "file=%3A%3Aerror%3A%3Ax%2Cy%250A.swz.yaml," in commands[0]

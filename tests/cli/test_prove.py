"""`swzverify prove`: arguments, exit codes, where the report goes. The prover is replaced, the
specs are real.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swzverify.errors import SwzError
from swzverify.prover import judge


class TestExitCodes:
    @pytest.mark.parametrize("form", ["text", "json"])
    def test_the_outcome_decides_and_the_format_never(self, swzverify, write, specs, answers, form):
        write({"a.swz.yaml": specs.bad})
        for outcome, code in {"proved": 0, "refuted": 1, "unknown": 3, "vacuous": 3, "error": 2}.items():
            answers(contiguous=outcome)
            assert swzverify("prove", "--format", form, "a.swz.yaml").exit_code == code, outcome

    def test_a_documented_failure_is_fine_and_its_success_is_not(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.documented})
        answers(contiguous="refuted")
        result = swzverify("prove", "a.swz.yaml")
        assert (result.exit_code, result.stderr) == (0, "")
        assert "the swizzle keeps 8 elements together" in result.stdout
        assert "1 proved, 1 refuted as expected, 0 unexpected" in result.stdout
        answers(contiguous="proved")
        assert swzverify("prove", "a.swz.yaml").exit_code == 1

    def test_no_claim(self, swzverify, here, write, specs, answers):
        answers()
        assert swzverify("prove", str(here)).exit_code == 5
        write({"a.swz.yaml": specs.good})
        result = swzverify("prove", "--select", "permutation", "a.swz.yaml")
        assert result.exit_code == 5
        assert result.stdout.startswith("no claim found in a.swz.yaml in ")
        (here / "empty").mkdir()
        assert swzverify("prove", "empty").stdout.startswith("no claim found in empty in ")

    def test_without_a_path_the_current_folder_is_proved(self, swzverify, write, specs, answers):
        answers()
        result = swzverify("prove")
        assert (result.exit_code, result.stdout[:20]) == (5, "no claim found in . ")
        write({"a.swz.yaml": specs.good, "below/b.swz.yaml": specs.good, ".hidden/c.cu": "// swz:begin\n"})
        result = swzverify("prove")
        assert result.exit_code == 0
        assert "2 proved" in result.stdout

    def test_a_path_without_a_claim_beside_others(self, swzverify, here, write, specs, answers):
        answers()
        (here / "empty").mkdir()
        write({"a.swz.yaml": specs.good, "b/a.swz.yaml": specs.good, "b/none.swz.yaml": "swzverify: 1\n"})
        for path in ("b/none.swz.yaml", "empty", "b/none*"):
            result = swzverify("prove", "a.swz.yaml", path)
            assert result.exit_code == 5
            assert f"{path}: SWZ507 no claim found here" in result.stderr
            assert "1 problem" in result.stdout
            allowed = swzverify("prove", "a.swz.yaml", path, "--allow-no-claims")
            assert (allowed.exit_code, allowed.stderr) == (0, "")
            told = json.loads(swzverify("prove", "a.swz.yaml", path, "--format", "json").stdout)
            assert [(each["code"], each["file"]) for each in told["problems"]] == [("SWZ507", path)]
        # A folder is one path, and a file that another path has reached has its claims.
        for paths in (["a.swz.yaml", "b"], ["b", "b/a.swz.yaml"], ["b/*.yaml", "b/a.swz.yaml"], ["./a.swz.yaml", "b"]):
            assert swzverify("prove", *paths).exit_code == 0
        assert swzverify("prove", "a.swz.yaml", "b/none.swz.yaml", "--select", "bijective").exit_code == 5

    def test_claims_are_selected_by_kind_by_name_and_by_id(self, swzverify, write):
        tile = '{element: f16, layout: "(8,64):(64,1)"}'
        write(
            {
                "a.swz.yaml": f"swzverify: 1\ntiles: {{A: {tile}, B: {tile}}}\n"
                "claims: [bijective: A, injective: A, injective: B, equivalent: [A, B]]\n"
            }
        )

        def proved(*words):
            arguments = [each for word in words for each in ("--select", word)]
            told = swzverify("prove", "a.swz.yaml", *arguments, "--format", "json")
            return [result["id"].partition("::")[2] for result in json.loads(told.stdout)["claims"]]

        assert proved("injective") == ["A::injective", "B::injective"]
        assert proved("B") == ["B::injective", "A,B::equivalent"]
        assert proved("A::injective") == ["A::injective"]
        assert proved("A,B") == ["A,B::equivalent"]
        assert proved("a.swz.yaml::A::bijective") == ["A::bijective"]
        assert proved("bijective", "B::injective") == ["A::bijective", "B::injective"]
        for words, problem in (
            (["bijektive"], "SWZ508 --select bijektive: no claim has this kind or is about this name"),
            (["A", "C"], "SWZ508 --select C"),
        ):
            result = swzverify("prove", "a.swz.yaml", *(each for word in words for each in ("--select", word)))
            assert (result.exit_code, problem in result.stderr) == (2, True)
        allowed = swzverify("prove", "a.swz.yaml", "--select", "C", "--allow-no-claims")
        assert (allowed.exit_code, allowed.stderr) == (0, "")
        assert "is not one of" in swzverify("prove", "a.swz.yaml", "--select", "two words").stderr

    def test_what_is_worse_than_a_path_without_a_claim(self, swzverify, here, write, specs, answers):
        (here / "empty").mkdir()
        write({"a.swz.yaml": specs.good, "broken.swz.yaml": "swzverify: 1\nclaims: [{a: 1}]\n"})
        for outcome, code in (("refuted", 1), ("unknown", 3)):
            answers(bijective=outcome)
            assert swzverify("prove", "a.swz.yaml", "empty").exit_code == code
        answers()
        broken = swzverify("prove", "a.swz.yaml", "broken.swz.yaml", "missing.swz.yaml")
        assert broken.exit_code == 2
        assert "SWZ507" not in broken.stderr
        assert swzverify("prove", "a.swz.yaml", "broken.swz.yaml", "empty").exit_code == 2
        known = swzverify("prove", "a.swz.yaml", "empty", "--write-baseline", "known.json")
        assert known.exit_code == 5
        assert (here / "known.json").exists()

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--select", "bijektive", "a.swz.yaml"],
            ["-j", "0", "a.swz.yaml"],
            ["--rlimit", "many", "a.swz.yaml"],
            ["--format", "xml", "a.swz.yaml"],
            ["-v", "-q", "a.swz.yaml"],
            ["--output", "no/such/folder.json", "a.swz.yaml"],
            ["--output", ".", "a.swz.yaml"],
            ["--output", "./a.swz.yaml", "a.swz.yaml"],
            ["missing.swz.yaml"],
        ],
    )
    def test_usage(self, swzverify, write, specs, answers, arguments):
        write({"a.swz.yaml": specs.good})
        answers()
        result = swzverify("prove", *arguments)
        assert result.exit_code == 2
        assert result.stderr
        assert Path("a.swz.yaml").read_text(encoding="utf-8") == specs.good


class TestBadSpecs:
    def test_one_bad_file_does_not_stop_the_others(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.good, "b.swz.yaml": specs.broken, "c.swz.yaml": specs.good})
        answers()
        result = swzverify("prove", ".")
        assert result.exit_code == 2
        assert result.stderr.startswith("b.swz.yaml:9:")
        assert "bijective" in result.stderr
        assert result.stdout.index("a.swz.yaml") < result.stdout.index("c.swz.yaml")
        assert result.stdout.splitlines()[-1].startswith("2 proved, 0 unexpected, 1 problem in")

    def test_in_json_the_problems_are_in_the_document(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.good, "b.swz.yaml": specs.broken})
        answers()
        result = swzverify("prove", "--format", "json", "no.swz.yaml", ".")
        assert (result.exit_code, result.stderr) == (2, "")
        report = json.loads(result.stdout)
        assert [problem["file"] for problem in report["problems"]] == ["no.swz.yaml", "b.swz.yaml"]
        assert report["problems"][1]["line"] == 9
        assert [claim["id"] for claim in report["claims"]] == ["a.swz.yaml::A::bijective"]

    def test_an_unknown_target_is_told(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.good})
        answers()
        result = swzverify("prove", "--target", "sm_19", "a.swz.yaml")
        assert result.exit_code == 2
        assert "sm_19" in result.stderr


class TestFaults:
    def test_an_exception_in_one_claim_is_that_claim_s_error(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.bad, "b.swz.yaml": specs.good})
        answers(contiguous=ZeroDivisionError("division by zero"))
        result = swzverify("prove", ".")
        assert result.exit_code == 2
        assert "ZeroDivisionError: division by zero (conftest.py:" in result.stdout
        assert "please report it with the spec file, swzverify" in " ".join(result.stdout.split())
        assert "Traceback" not in result.output
        assert result.stdout.splitlines()[-1].startswith("2 proved, 1 unexpected (1 error)")

    def test_the_traceback_comes_when_asked_for(self, swzverify, write, specs, answers, monkeypatch):
        write({"a.swz.yaml": specs.good})
        answers(bijective=ZeroDivisionError("division by zero"))
        monkeypatch.setenv("SWZVERIFY_DEBUG", "1")
        assert "Traceback (most recent call last)" in swzverify("prove", "a.swz.yaml").stdout

    def test_a_mistake_found_while_proving_is_told_as_such(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.good})
        answers(bijective=SwzError("SWZ303", "too big", text="a<<40", span=(0, 5)))
        result = swzverify("prove", "a.swz.yaml")
        assert result.exit_code == 2
        assert "SWZ303: too big" in result.stdout
        assert "report it" not in result.stdout

    def test_running_out_of_memory_is_unknown(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.good})
        answers(bijective=MemoryError())
        result = swzverify("prove", "a.swz.yaml")
        assert result.exit_code == 3
        assert "out of memory" in result.stdout

    def test_a_reader_that_fails_costs_only_its_spec(self, swzverify, write, specs, answers, monkeypatch):
        write({"a.swz.yaml": specs.good, "b.swz.yaml": specs.good})
        answers()
        from swzverify.apps.run import reading

        load = reading.load_spec

        def failing(path, **more):
            if path == "a.swz.yaml":
                raise KeyError("\x1b[2J")
            return load(path, **more)

        monkeypatch.setattr(reading, "load_spec", failing)
        result = swzverify("prove", ".")
        assert result.exit_code == 2
        assert "a.swz.yaml: SWZ901 reading this spec failed: KeyError" in result.stderr
        assert "\x1b" not in result.stderr
        assert "1 proved" in result.stdout

    def test_a_renderer_that_fails_ends_with_2(self, swzverify, write, specs, answers, monkeypatch):
        write({"a.swz.yaml": specs.good})
        answers()

        def failing(_):
            raise ValueError("[x]\x1b")

        monkeypatch.setattr("swzverify.report.json.render_json", failing)
        result = swzverify("prove", "--format", "json", "a.swz.yaml")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "SWZ901" in result.stderr
        assert "ValueError: [x]\\x1b" in result.stderr

    def test_an_interrupt_ends_the_run_without_a_report(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.good})
        answers(bijective=KeyboardInterrupt())
        result = swzverify("prove", "--output", "report.txt", "a.swz.yaml")
        assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted: no report\n")
        assert not Path("report.txt").exists()


class TestOptions:
    def test_options_reach_the_prover(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.good})
        seen = answers()
        swzverify("prove", "--rlimit", "1234", "--single-engine", "a.swz.yaml")
        swzverify("prove", "a.swz.yaml")
        assert (seen[0].rlimit, seen[0].single_engine) == (1234, True)
        assert seen[1] == type(seen[1])()

    def test_select_keeps_the_kinds_that_are_named(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.bad, "b.swz.yaml": specs.good})
        answers()
        result = swzverify("prove", "--format=json", "--select", "injective", "--select", "bijective", ".")
        assert [claim["kind"] for claim in json.loads(result.stdout)["claims"]] == ["injective", "bijective"]

    def test_the_target_overrides_the_spec_s(self, swzverify, write, specs, answers, monkeypatch):
        write({"a.swz.yaml": specs.good})
        answers()
        from swzverify.apps.run import reading

        seen = []
        load = reading.load_spec
        monkeypatch.setattr(
            reading, "load_spec", lambda path, **more: seen.append(more["target"]) or load(path, **more)
        )
        swzverify("prove", "--target", "sm_80", "a.swz.yaml")
        assert seen == ["sm_80"]

    def test_the_kinds_are_those_of_the_claims(self):
        from swzverify.claims import KINDS, claim_types

        assert [claim.kind for claim in claim_types().values()] == list(KINDS)

    def test_every_path_and_pattern_once_in_order(self, swzverify, write, specs, answers, here):
        write({"x/b.swz.yaml": specs.good, "x/a.swz.yaml": specs.good, "other.yaml": specs.good})
        answers()
        result = swzverify("prove", "--format=json", "other.yaml", "x/*", str(here / "x"))
        names = [claim["spec"] for claim in json.loads(result.stdout)["claims"]]
        assert names == ["other.yaml", "x/a.swz.yaml", "x/b.swz.yaml"]


class TestOutput:
    def test_to_a_file(self, swzverify, write, specs, answers, here):
        write({"a.swz.yaml": specs.bad})
        answers(contiguous="refuted")
        result = swzverify("prove", "--format=json", "--output", "out.json", "a.swz.yaml")
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith("1 proved, 1 unexpected (1 refuted) in")
        assert result.stderr.endswith("report in out.json\n")
        assert json.loads((here / "out.json").read_text(encoding="utf-8"))["summary"]["unexpected"] == 1

    def test_quietly_to_a_file(self, swzverify, write, specs, answers, here):
        write({"a.swz.yaml": specs.good})
        answers()
        result = swzverify("prove", "-q", "--output", "out.txt", "a.swz.yaml")
        assert (result.exit_code, result.output) == (0, "")
        assert (here / "out.txt").read_text(encoding="utf-8").startswith("1 proved")

    def test_a_file_that_cannot_be_written(self, swzverify, write, specs, answers, here):
        write({"a.swz.yaml": specs.good})
        (here / "out.txt").symlink_to("no/such/folder/x")
        answers()
        result = swzverify("prove", "--output", "out.txt", "a.swz.yaml")
        assert result.exit_code == 2
        assert "SWZ504" in result.stderr

    def test_verbose_and_quiet(self, swzverify, write, specs, answers):
        write({"a.swz.yaml": specs.good})
        answers()
        assert "at       a.swz.yaml:" in swzverify("prove", "-v", "a.swz.yaml").stdout
        assert len(swzverify("prove", "-q", "a.swz.yaml").stdout.splitlines()) == 1

    def test_a_pipe_gets_no_colour_unless_forced_and_no_color_wins(self, swzverify, write, specs, answers, monkeypatch):
        write({"a.swz.yaml": specs.good})
        answers()
        assert "\x1b[" not in swzverify("prove", "a.swz.yaml").stdout
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert "\x1b[" in swzverify("prove", "a.swz.yaml").stdout
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b[" not in swzverify("prove", "a.swz.yaml").stdout

    def test_the_width_is_that_of_columns(self, swzverify, write, specs, answers, monkeypatch):
        write({"a.swz.yaml": specs.bad})
        answers(contiguous="refuted")
        monkeypatch.setenv("COLUMNS", "50")
        assert max(map(len, swzverify("prove", "-v", "a.swz.yaml").stdout.splitlines())) <= 50


def test_a_claim_is_judged_once_for_the_cases_that_it_does_not_read(write, swzverify, monkeypatch):
    text = """\
swzverify: 1
target: sm_90
constants: {MB: [1, 2, 3, 4], BK: [32, 64]}
tiles: {A: {element: f16, layout: "(8,BK):(BK,1)"}, B: {element: f16, layout: "(8,MB):(MB,1)"}}
claims: [{bijective: A}, {bijective: B}]
"""
    judged = []

    def counting(claim, *, options):
        judged.append(claim)
        return judge(claim, options=options)

    monkeypatch.setattr("swzverify.apps.run.one.judge", counting)
    write({"a.swz.yaml": text})
    document = json.loads(swzverify("prove", "a.swz.yaml", "--format", "json").stdout)
    assert [claim.subject for claim in judged] == ["A"] * 2 + ["B"] * 4
    assert document["summary"]["proved"] == 16, "every id has its verdict"
    assert len({claim["id"] for claim in document["claims"]}) == 16
    for claim in document["claims"]:
        assert f"{8 * claim['case']['BK' if claim['subject'] == 'A' else 'MB']} elements" in claim["scope"]
    lines = swzverify("prove", "a.swz.yaml").stdout.splitlines()
    assert any("A [BK = 32; MB = 1..4: the same]" in line for line in lines)


def test_several_files_have_a_line_each(write, swzverify):
    text = 'swzverify: 1\ntiles: {A: {element: f16, layout: "(8,64):(64,1)"}}\nclaims: [bijective: A]\n'
    write({"a.swz.yaml": text, "b.swz.yaml": text})
    lines = swzverify("prove", ".").stdout.splitlines()
    assert lines[:2] == ["✓ a.swz.yaml  1 proved", "✓ b.swz.yaml  1 proved"]
    assert "scope" in swzverify("prove", ".", "-v").stdout
    assert swzverify("prove", ".", "--format", "github").stdout.count("bijective") == 2


COLUMN = """\
swzverify: 1
target: sm_90
constants:
  PAD: 0
tiles:
  A: {element: f32, layout: {shape: [32, 32], pad: PAD}}
accesses:
  column: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}
claims:
  - conflict_free: column
"""


def test_a_refuted_cost_says_what_would_help(write, swzverify):
    write({"a.swz.yaml": COLUMN})
    text = swzverify("prove", "a.swz.yaml").stdout
    assert "cure      A: pad 1 after every 32 elements" in text
    assert "decides   PAD = 0 at line 4, in the layout of A" in text
    document = json.loads(swzverify("prove", "a.swz.yaml", "--format", "json").stdout)
    assert [cure["change"].split()[0] for cure in document["claims"][0]["cures"]] == ["pad", "Swizzle<5,0,5>"]


def test_no_cures_are_looked_for_where_nobody_asks(write, swzverify, monkeypatch):
    write({"a.swz.yaml": COLUMN, "b.swz.yaml": COLUMN + "    expect: refuted\n"})
    monkeypatch.setattr("swzverify.apps.run.cures.find_cures", lambda *_: pytest.fail("asked for"))
    assert "cure " not in swzverify("prove", "a.swz.yaml", "--no-cures").stdout
    assert swzverify("prove", "b.swz.yaml").exit_code == 0


def test_a_fault_of_the_search_costs_no_verdict(write, swzverify, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("so it is")

    write({"a.swz.yaml": COLUMN})
    monkeypatch.setattr("swzverify.apps.run.cures.find_cures", broken)
    result = swzverify("prove", "a.swz.yaml")
    assert result.exit_code == 1
    assert "looking for changes that would help failed" in result.stdout

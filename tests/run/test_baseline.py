"""Known failures: what is accepted, what is not, and which files are refused."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.apps.run.baseline import (
    KnownFailure,
    accept_known,
    known_failures,
    load_baseline,
    parse_baseline,
    render_baseline,
    save_baseline,
)
from swzverify.claims.verdict import Measure, Outcome, Verdict, WarpMeasure
from swzverify.errors import Problem, SwzError
from swzverify.report.json import document
from swzverify.report.result import ClaimResult, ExitCode, Report
from swzverify.report.style import TextStyle
from swzverify.report.text import render_text


def result(name="a", outcome="refuted", wavefronts=None, *, expected="proved", exact=True, scope="every base"):
    measure = None if wavefronts is None else Measure.of_one(WarpMeasure(wavefronts, 4, {}), exact=exact)
    verdict = Verdict(Outcome(outcome), scope, ("z3", "gf2"), measure=measure, reason="eight lanes in one bank")
    return ClaimResult(
        f"s.swz.yaml::{name}::conflict_free", "s.swz.yaml", 3, "conflict_free", name, Outcome(expected), verdict
    )


def after(known, *results):
    return accept_known(Report(tuple(results)), tuple(known))


def recorded(*results):
    return known_failures(Report(tuple(results)))


class TestAccepting:
    @pytest.mark.parametrize("outcome", ["refuted", "unknown", "vacuous"])
    def test_a_failure_that_stays_as_it_was(self, outcome):
        report = after(recorded(result(outcome=outcome)), result(outcome=outcome))
        assert report.exit_code is ExitCode.AS_EXPECTED
        (claim,) = report.results
        assert (claim.accepted, claim.ok, claim.failing) == (True, False, False)
        assert (report.summary.unexpected, report.summary.accepted) == (0, 1)
        assert report.summary.as_expected[Outcome(outcome)] == 0

    def test_a_proof_where_a_refutation_is_expected(self):
        known = recorded(result(outcome="proved", expected="refuted"))
        assert after(known, result(outcome="proved", expected="refuted")).exit_code is ExitCode.AS_EXPECTED

    def test_a_new_failure_beside_it(self):
        report = after(recorded(result("a")), result("a"), result("b"))
        assert report.exit_code is ExitCode.UNEXPECTED
        assert [each.failing for each in report.results] == [False, True]

    @pytest.mark.parametrize(
        ("before", "now", "accepted"),
        [
            ((8, True), (8, True), True),
            ((8, True), (6, True), True),
            ((8, True), (9, True), False),
            ((8, True), None, False),
            (None, (8, True), False),
            (None, None, True),
            ((8, False), (8, False), True),
            ((8, False), (6, False), False),  # a bound that falls says nothing of the cost
            ((8, True), (6, False), False),
        ],
    )
    def test_a_cost_may_not_be_worse(self, before, now, accepted):
        def of(cost):
            return result(wavefronts=cost and cost[0], exact=cost is None or cost[1])

        report = after(recorded(of(before)), of(now))
        assert report.results[0].accepted is accepted
        assert report.baseline.changed == (() if accepted else (result().id,))
        assert report.exit_code is (ExitCode.AS_EXPECTED if accepted else ExitCode.UNEXPECTED)

    @pytest.mark.parametrize(("conflicts", "accepted"), [(0, True), (1, True), (2, False)])
    def test_more_conflicts_are_worse_at_the_same_wavefronts(self, conflicts, accepted):
        def of(count):
            found = result(wavefronts=4)
            partial = WarpMeasure(1 + count, 1, {"warp": 1})
            measure = Measure(found.verdict.measure.most_wavefronts, partial)
            return dataclasses.replace(found, verdict=dataclasses.replace(found.verdict, measure=measure))

        assert after(recorded(of(1)), of(conflicts)).results[0].accepted is accepted

    @pytest.mark.parametrize("now", ["unknown", "vacuous"])
    def test_another_verdict_is_another_failure(self, now):
        report = after(recorded(result()), result(outcome=now))
        assert report.exit_code is ExitCode.UNDECIDED
        assert report.baseline.changed == (result().id,)

    @pytest.mark.parametrize("now", [result(scope="every other base"), result(expected="vacuous")])
    def test_another_claim_under_its_id_is_another_failure(self, now):
        report = after(recorded(result()), now)
        assert report.exit_code is ExitCode.UNEXPECTED
        assert report.baseline.changed == (result().id,)

    def test_what_is_mended_or_gone_is_told_and_fails_nothing(self):
        report = after(recorded(result("a"), result("b")), result("a", "proved"))
        assert report.exit_code is ExitCode.AS_EXPECTED
        assert (report.baseline.fixed, report.baseline.unseen) == ((result("a").id,), (result("b").id,))
        assert report.results[0].accepted is False

    def test_faults_and_problems_are_never_known(self):
        error = result(outcome="error")
        with pytest.raises(SwzError, match="SWZ513"):
            recorded(error)
        with pytest.raises(SwzError, match="SWZ513"):
            known_failures(Report((result(),), (Problem("SWZ104", "x"),)))
        entry = KnownFailure(error.id, Outcome.ERROR, error.expected, error.verdict.scope)
        assert after([entry], error).exit_code is ExitCode.ERROR
        assert dataclasses.replace(error, accepted=True).failing
        with_problem = Report((result(),), (Problem("SWZ104", "x"),))
        assert accept_known(with_problem, recorded(result())).exit_code is ExitCode.ERROR

    def test_two_claims_of_one_id_are_accepted_once(self):
        report = after(recorded(result()), result(), result())
        assert report.exit_code is ExitCode.UNEXPECTED


class TestReports:
    REPORT = after(recorded(result("a"), result("gone"), result("well")), result("a"), result("well", "proved"))

    def test_text(self):
        text = render_text(self.REPORT, TextStyle(width=140))
        assert "~ refuted" in text
        assert "expected proved, a known failure" in text
        assert "Not as expected" not in text
        assert "1 proved, 1 known failure accepted, 0 unexpected" in text
        assert "take them out of the file:\n  s.swz.yaml::well::conflict_free\n" in text
        assert "not asked for:\n  s.swz.yaml::gone::conflict_free\n" in text
        quiet = render_text(self.REPORT, TextStyle(verbosity=-1))
        assert quiet.startswith("1 proved, 1 known failure accepted")

    def test_text_of_one_that_changed(self):
        text = render_text(after(recorded(result(wavefronts=8)), result(wavefronts=9)), TextStyle(width=140))
        assert "Not as expected:" in text
        assert "Known to fail, but not so:\n  s.swz.yaml::a::conflict_free\n" in text
        assert "known failure accepted" not in text

    def test_json(self):
        found = document(self.REPORT)
        assert [(claim["ok"], claim["accepted"]) for claim in found["claims"]] == [(False, True), (True, False)]
        assert (found["summary"]["accepted"], found["summary"]["unexpected"]) == (1, 0)
        assert found["baseline"] == {
            "fixed": ["s.swz.yaml::well::conflict_free"],
            "changed": [],
            "unseen": ["s.swz.yaml::gone::conflict_free"],
        }


class TestFile:
    KNOWN = (
        KnownFailure("a\ud800::x::aligned", Outcome.UNKNOWN, Outcome.PROVED, "k \u2265 0"),
        KnownFailure("b::\u6f22::wavefronts", Outcome.REFUTED, Outcome.UNKNOWN, "", 8, 4),
    )

    def test_it_comes_back(self, tmp_path):
        path = str(tmp_path / "known.json")
        save_baseline(path, self.KNOWN)
        assert load_baseline(path) == self.KNOWN
        text = Path(path).read_bytes()
        assert text.isascii()
        assert text.endswith(b"]\n}\n")

    def test_it_is_sorted_and_one_failure_more_adds_lines_only(self):
        few, many = (render_baseline(recorded(*map(result, names))) for names in ("ca", "cba"))
        ids = [each["id"] for each in json.loads(many)["known_failures"]]
        assert ids == sorted(ids)
        assert all(line in many.splitlines() for line in few.splitlines())
        assert len(many.splitlines()) - len(few.splitlines()) == 9

    def entry(self, **changes):
        return json.loads(render_baseline(recorded(result(wavefronts=8))))["known_failures"][0] | changes

    def text(self, *entries, **changes):
        return json.dumps({"schema": "swzverify.baseline/1", "known_failures": list(entries)} | changes)

    def test_what_is_refused(self):
        good = self.entry()
        assert len(parse_baseline(self.text(good))) == 1
        other = {name: value for name, value in good.items() if name != "wavefronts"}
        cases = [
            "", "[]", "null", "1", "{", '"x"', "{}", "NaN", "[" * 100_000, "9" * 5000, '{"schema": 1, "schema": 1}',
            self.text(good, good), self.text(good, schema="swzverify.baseline/2"), self.text(good, more=1),
            self.text(known_failures={}), self.text(known_failures=None), self.text(1), self.text(None), self.text([]),
            self.text(other), self.text(good | {"extra": 1}), self.text(good | {"fingerprint": "0" * 32}),
            self.text(good | {"fingerprint": None}), self.text(good | {"id": "another"}), self.text(good | {"id": 7}),
            self.text(good | {"verdict": "error"}), self.text(good | {"verdict": "REFUTED"}),
            self.text(good | {"verdict": ["refuted"]}), self.text(good | {"verdict": None}),
            self.text(good | {"expected": "error"}), self.text(good | {"expected": None}),
            self.text(good | {"expected": "refuted"}), self.text(good | {"scope": None}),
            self.text(good | {"scope": ["every base"]}),
            self.text({name: value for name, value in good.items() if name != "scope"}),
            self.text({name: value for name, value in good.items() if name != "expected"}),
            self.text(good | {"wavefronts": True}), self.text(good | {"wavefronts": 8.0}),
            self.text(good | {"bank_conflicts": None}), self.text(good | {"wavefronts": None}),
            self.text(good | {"bank_conflicts": -1}), self.text(good | {"bank_conflicts": 4.0}),
            self.text(good | {"wavefronts": 0}), self.text(good | {"wavefronts": -8}),
            self.text(good | {"wavefronts": "8"}), self.text(good | {"wavefronts": float("inf")}),
        ]  # fmt: skip
        for text in cases:
            with pytest.raises(SwzError) as caught:
                parse_baseline(text)
            assert caught.value.code == "SWZ512", text[:80]

    @settings(max_examples=200)
    @given(st.text() | st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)).map(json.dumps))  # fmt: skip  # noqa: E501
    def test_any_text_is_refused_with_a_code(self, text):
        with pytest.raises(SwzError) as caught:
            parse_baseline(text)
        assert caught.value.code == "SWZ512"

    def test_files_that_are_none(self, tmp_path):
        (tmp_path / "bytes").write_bytes(b"\xff\xfe")
        (tmp_path / "umlaut").write_text('{"\u00fc": 1}', encoding="utf-8")
        for name, code in {"bytes": "SWZ512", "umlaut": "SWZ512", "missing": "SWZ511", ".": "SWZ511"}.items():
            with pytest.raises(SwzError) as caught:
                load_baseline(str(tmp_path / name))
            assert caught.value.code == code
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(SwzError, match="SWZ511"):
            load_baseline(str(tmp_path / "pipe"))
        with pytest.raises(SwzError, match="SWZ513"):
            save_baseline(str(tmp_path / "no" / "file"), ())


SPEC = """\
swzverify: 1
tiles: {A: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>"}}
claims:
  - bijective: A
  - contiguous: {tile: A, elements: 16}
"""


class TestCommand:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("a.swz.yaml").write_text(SPEC)

    @staticmethod
    def run(*arguments):
        from swzverify.apps.cli import main

        return CliRunner().invoke(main, ["prove", "a.swz.yaml", *arguments])

    def test_written_down_accepted_and_new_ones_found(self):
        first = self.run("--write-baseline", "known.json")
        assert first.exit_code == 1, "writing them down is not accepting them"
        assert self.run("--baseline", "known.json").exit_code == 0
        Path("a.swz.yaml").write_text(SPEC + "  - contiguous: {tile: A, elements: 32}\n")
        assert self.run("--baseline", "known.json").exit_code == 1
        # what is accepted is written down again, with what is new
        assert self.run("--baseline", "known.json", "--write-baseline", "known.json").exit_code == 1
        assert len(load_baseline("known.json")) == 2
        assert self.run("--baseline", "known.json", "--format", "json").exit_code == 0

    def test_an_id_that_comes_to_mean_another_claim(self):
        both = SPEC + "  - contiguous: {tile: A, elements: 32}\n"
        Path("a.swz.yaml").write_text(both.replace("elements: 16", "elements: 8"))
        assert self.run("--write-baseline", "known.json").exit_code == 1
        assert self.run("--baseline", "known.json").exit_code == 0
        Path("a.swz.yaml").write_text(
            both.replace("elements: 32", "elements: 64").replace("elements: 16", "elements: 8")
        )
        done = self.run("--baseline", "known.json")
        assert (done.exit_code, "Known to fail, but not so" in done.stdout) == (1, True)

    def test_what_is_mended_is_told(self):
        self.run("--write-baseline", "known.json")
        Path("a.swz.yaml").write_text(SPEC.replace("16}", "8}"))
        done = self.run("--baseline", "known.json")
        assert (done.exit_code, "no longer failing" in done.stdout) == (0, True)

    def test_refused_before_anything_is_proved(self, monkeypatch):
        monkeypatch.setattr("swzverify.apps.run.one.judge", lambda *_, **__: pytest.fail("proved"))
        Path("bad.json").write_text("{}")
        for arguments in (
            ["--baseline", "missing.json"],
            ["--baseline", "bad.json"],
            ["--baseline", "a.swz.yaml"],
            ["--write-baseline", "a.swz.yaml"],
            ["--write-baseline", "no/file.json"],
            ["--write-baseline", "."],
            ["--write-baseline", "x.json", "--output", "./x.json"],
            ["--write-baseline", "x.json", "--select", "bijective"],
        ):
            done = self.run(*arguments)
            assert done.exit_code == 2, arguments
            assert done.stderr
        assert Path("a.swz.yaml").read_text() == SPEC

    def test_a_run_with_problems_writes_none_and_still_reports(self):
        Path("a.swz.yaml").write_text(SPEC.replace("bijective", "bijektive"))
        done = self.run("--write-baseline", "known.json")
        assert done.exit_code == 2
        assert "SWZ513" in done.stderr
        assert "a.swz.yaml:4:" in done.stderr
        assert not Path("known.json").exists()

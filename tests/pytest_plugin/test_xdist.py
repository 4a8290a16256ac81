"""Specs proved by several workers."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest


def test_two_workers_prove_what_one_does(put, project, specs):
    put(
        {
            "a.swz.yaml": specs.bad,
            "b.swz.yaml": specs.cases,
            "k/c.contract": specs.good,
            "test_it.py": "def test(): pass\n",
        }
    )
    put({"pytest.ini": "[pytest]\nswzverify_specs = k/c.contract\n"})
    alone = project.runpytest("-v")
    alone.assert_outcomes(passed=9, failed=1)
    result = project.runpytest("-n", "2", "--dist", "load", "--junitxml=report.xml")
    result.assert_outcomes(passed=9, failed=1)
    result.stdout.fnmatch_lines(
        [
            "2 workers*10 items*",
            "*_ read_A::conflict_free _*",
            "refuted, expected proved: ldmatrix.x4 takes 32 wavefronts instead of 4*",
            "*x *7 *(7, 0) *448 *896 *0x380 *224 *0",
            "FAILED a.swz.yaml::read_A::conflict_free*",
        ]
    )
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    suite = ElementTree.parse(project.path / "report.xml").getroot()[0]  # noqa: S314 - our own report
    values = {each.get("value") for each in suite.iter("property") if each.get("name") == "swzverify.id"}
    assert len(values) == 9


@pytest.mark.nightly
def test_a_broken_spec_is_told_by_workers_too(put, project, specs):
    put({"a.swz.yaml": specs.broken, "b.swz.yaml": specs.good})
    result = project.runpytest("-n", "2")
    result.assert_outcomes(passed=2, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["a.swz.yaml:8:5: SWZ104 *", "*did you mean 'bijective'?"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.nightly
def test_options_reach_the_workers(put, project, specs):
    put({"a.swz.yaml": specs.bad})
    result = project.runpytest("-n", "2", "--swz-target", "sm_80")
    result.stdout.fnmatch_lines(["*ldmatrix.x4 on sm_80 (assumed)*"])
    assert project.runpytest("-n", "2", "--swz-target", "sm_8").ret == pytest.ExitCode.USAGE_ERROR

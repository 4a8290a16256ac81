"""Specs as tests: ids, outcomes, what a failure prints, and pytest's own options."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from swzverify import pytest_plugin
from swzverify.apps.run import reading
from swzverify.spec.guard import SUFFIXES, is_spec_name
from swzverify.testing import spec_items


def test_an_item_a_claim_with_the_claims_id(put, outcomes, specs):
    put({"specs/gemm.swz.yaml": specs.good, "specs/cases.swz.yaml": specs.cases, "specs/notes.yaml": specs.good})
    assert outcomes() == {
        "specs/cases.swz.yaml::A::bijective[BM=32]": "passed",
        "specs/cases.swz.yaml::A::bijective[BM=64]": "passed",
        "specs/cases.swz.yaml::A::injective[BM=32]": "passed",
        "specs/cases.swz.yaml::A::injective[BM=64]": "passed",
        "specs/gemm.swz.yaml::A::bijective": "passed",
        "specs/gemm.swz.yaml::A::contiguous": "passed",
    }


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("gemm.swz.yaml::A::bijective", ["gemm.swz.yaml::A::bijective"]),
        ("gemm.swz.yaml::A", ["gemm.swz.yaml::A::bijective", "gemm.swz.yaml::A::contiguous"]),
        ("cases.swz.yaml::A::bijective[BM=64]", ["cases.swz.yaml::A::bijective[BM=64]"]),
        (
            "cases.swz.yaml::A::bijective",
            ["cases.swz.yaml::A::bijective[BM=32]", "cases.swz.yaml::A::bijective[BM=64]"],
        ),
        ("twice.swz.yaml::A::contiguous#2", ["twice.swz.yaml::A::contiguous#2"]),
    ],
)
def test_an_id_selects_its_claim(put, outcomes, specs, asked, found):
    put({"gemm.swz.yaml": specs.good, "cases.swz.yaml": specs.cases, "twice.swz.yaml": specs.twice})
    assert list(outcomes(asked)) == found


def test_an_id_that_is_not_there_is_a_usage_error(put, project, specs):
    put({"gemm.swz.yaml": specs.good})
    result = project.runpytest("gemm.swz.yaml::A::permutation")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*not found*gemm.swz.yaml::A::permutation*"])


def test_a_refuted_claim_prints_its_table_and_place(put, project, specs):
    put({"specs/gemm.swz.yaml": specs.bad})
    result = project.runpytest()
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    line = 1 + specs.bad.splitlines().index("  - conflict_free: read_A")
    result.stdout.fnmatch_lines(
        [
            "*_ read_A::conflict_free _*",
            "refuted, expected proved: ldmatrix.x4 takes 32 wavefronts instead of 4; lanes 0-7 touch 8 different *",
            f"*at * specs/gemm.swz.yaml:{line}",
            "*where *base = 0*",
            "*lane *coord *offset *address *hex *word *bank",
            "*x *0 *(0, 0) *0 *0 *0x0 *0 *0",
            "*x *7 *(7, 0) *448 *896 *0x380 *224 *0",
            "* 24 more lanes",
            "FAILED specs/gemm.swz.yaml::read_A::conflict_free*",
        ]
    )
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert ".py:" not in result.stdout.str()


def test_verbose_shows_every_lane(put, project, specs):
    put({"gemm.swz.yaml": specs.bad})
    result = project.runpytest("-v")
    result.stdout.fnmatch_lines(["gemm.swz.yaml::read_A::conflict_free FAILED*", "*31 *(15, 8) *968 *1936 *"])
    assert "more lanes" not in result.stdout.str()


def test_expectations_are_honoured(put, outcomes, specs):
    put({"documented.swz.yaml": specs.documented, "too_good.swz.yaml": specs.too_good})
    assert outcomes() == {
        "documented.swz.yaml::read_A::conflict_free": "passed",
        "too_good.swz.yaml::A::bijective": "failed",
    }


def test_a_proof_where_a_failure_is_documented_says_so(put, project, specs):
    put({"too_good.swz.yaml": specs.too_good})
    project.runpytest().stdout.fnmatch_lines(["proved, expected refuted*", "*proved  bijective  A  expected refuted"])


def test_a_vacuous_claim_fails_with_the_reason(put, project, specs):
    put({"vacuous.swz.yaml": specs.vacuous})
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["vacuous, expected proved: *satisfies the assumptions*"])


def test_an_undecided_claim_fails_with_the_reason(put, project, specs):
    put({"gemm.swz.yaml": specs.good})
    result = project.runpytest("--swz-rlimit", "1", "-k", "bijective")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["unknown, expected proved: *"])


def test_a_fault_of_ours_is_a_failed_item_that_says_what_to_send(put, project, specs, monkeypatch):
    def prove(*_, **__):
        raise RuntimeError("a bug")

    put({"gemm.swz.yaml": specs.good})
    monkeypatch.setattr("swzverify.apps.run.one.judge", prove)
    result = project.runpytest()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["SWZ901 error, expected proved: RuntimeError: a bug (test_items.py:*", "*this is a fault of swzverify*"]
    )
    assert "Traceback" not in result.stdout.str()


def test_a_fault_around_the_proof_is_told_the_same_way(put, project, specs, monkeypatch):
    def run_claim(*_):
        raise RuntimeError("another bug")

    put({"gemm.swz.yaml": specs.good})
    monkeypatch.setattr(spec_items, "run_claim", run_claim)
    result = project.runpytest()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["SWZ901", "RuntimeError: another bug*", "this is a fault of swzverify*"])
    assert "Traceback" not in result.stdout.str()


def test_a_fault_while_reading_is_a_collection_error(put, project, specs, monkeypatch):
    def load_spec(*_, **__):
        raise RuntimeError("a bug in the reader")

    put({"gemm.swz.yaml": specs.good})
    monkeypatch.setattr("swzverify.apps.run.reading.load_spec", load_spec)
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["gemm.swz.yaml: SWZ901 reading this spec failed: RuntimeError: a bug in the reader*"])


def test_an_interrupt_ends_the_run(put, project, specs, monkeypatch):
    def prove(*_, **__):
        raise KeyboardInterrupt

    put({"gemm.swz.yaml": specs.good})
    monkeypatch.setattr("swzverify.apps.run.one.judge", prove)
    assert project.inline_run(no_reraise_ctrlc=True).ret == pytest.ExitCode.INTERRUPTED


def test_a_broken_spec_is_a_collection_error_with_every_problem(put, project, specs):
    put({"specs/broken.swz.yaml": specs.broken, "specs/gemm.swz.yaml": specs.good})
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "*ERROR collecting specs/broken.swz.yaml*",
            "specs/broken.swz.yaml:8:5: SWZ104 *",
            "*- bijektive: A",
            "*^^^^^^^^^",
            "*did you mean 'bijective'?",
            "ERROR specs/broken.swz.yaml*",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "SpecError" not in result.stdout.str()


def test_a_spec_that_cannot_be_read_is_a_collection_error(project):
    (project.path / "latin.swz.yaml").write_bytes(b"swzverify: 1 # \xff\n")
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["latin.swz.yaml*SWZ101*"])


def test_a_spec_without_claims_is_told(put, project):
    put({"empty.swz.yaml": "swzverify: 1\n"})
    result = project.runpytest("-W", "default")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["*PytestCollectionWarning: empty.swz.yaml has no claim*"])


def test_nothing_in_a_spec_moves_the_terminal_or_commands_a_log(put, project, specs):
    text = specs.too_good + '    because: "::error::x"\n'
    put({"odd.swz.yaml": text})
    output = project.runpytest().stdout.str()
    assert "because   \\x3a:error::x" in output or "::error" in output.split("because", 1)[1].splitlines()[0]
    assert not any(line.lstrip().startswith("::") for line in output.splitlines())


def test_collect_only_proves_nothing(put, project, specs, monkeypatch):
    def prove(*_, **__):
        raise AssertionError("not wanted")

    put({"specs/gemm.swz.yaml": specs.bad})
    monkeypatch.setattr("swzverify.apps.run.one.judge", prove)
    result = project.runpytest("--collect-only")
    result.stdout.fnmatch_lines(
        ["*<SpecFile gemm.swz.yaml>", "*<SubjectNode A>", "*<ClaimItem bijective>", "*<ClaimItem injective>"]
    )
    assert result.ret == 0


def test_select_by_keyword(put, outcomes, specs):
    put({"gemm.swz.yaml": specs.bad, "test_other.py": "def test_bijective_by_hand(): pass\n"})
    assert list(outcomes("-k", "conflict_free or by_hand")) == [
        "gemm.swz.yaml::read_A::conflict_free",
        "test_other.py::test_bijective_by_hand",
    ]
    assert list(outcomes("-k", "read_A")) == ["gemm.swz.yaml::read_A::conflict_free"]


def test_select_by_marker(put, outcomes, specs):
    put({"gemm.swz.yaml": specs.good, "test_other.py": "def test_other(): pass\n"})
    assert list(outcomes("-m", "swzverify", "--strict-markers")) == [
        "gemm.swz.yaml::A::bijective",
        "gemm.swz.yaml::A::contiguous",
    ]
    assert list(outcomes("-m", "not swzverify", "--strict-markers")) == ["test_other.py::test_other"]


def test_the_marker_has_the_kind(put, project, specs):
    put({"gemm.swz.yaml": specs.good})
    items, _ = project.inline_genitems()
    assert [item.get_closest_marker("swzverify").kwargs for item in items] == [
        {"kind": "bijective"},
        {"kind": "contiguous"},
    ]


def test_the_marker_is_listed(project):
    project.runpytest("--markers").stdout.fnmatch_lines(["@pytest.mark.swzverify(kind): a claim of a spec file*"])


def test_stop_at_the_first_failure(put, outcomes, specs):
    put({"a.swz.yaml": specs.bad, "b.swz.yaml": specs.good})
    assert outcomes("-x") == {
        "a.swz.yaml::A::bijective": "passed",
        "a.swz.yaml::A::injective": "passed",
        "a.swz.yaml::read_A::conflict_free": "failed",
    }


def test_last_failed(put, project, specs):
    put({"a.swz.yaml": specs.bad, "b.swz.yaml": specs.good, "c.swz.yaml": specs.cases})
    project.runpytest().assert_outcomes(passed=8, failed=1)
    project.runpytest("--lf").assert_outcomes(failed=1)
    put({"a.swz.yaml": specs.bad.replace("(64,64):(64,1)", "Sw<3,3,3> o 0 o (64,64):(64,1)")})
    project.runpytest("--lf").assert_outcomes(passed=1)


def test_a_junit_report(put, project, specs):
    put({"specs/gemm.swz.yaml": specs.bad, "specs/cases.swz.yaml": specs.cases})
    project.runpytest("--junitxml=report.xml", "-o", "junit_family=xunit1")
    suite = ElementTree.parse(project.path / "report.xml").getroot()[0]  # noqa: S314 - our own report
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("7", "1", "0")
    cases = {(case.get("classname"), case.get("name")): case for case in suite.iter("testcase")}
    assert ("specs.cases.swz.yaml.A", "bijective[BM=32]") in cases
    failed = cases["specs.gemm.swz.yaml.read_A", "conflict_free"]
    assert (failed.get("file"), failed.get("line")) == ("specs/gemm.swz.yaml", "14")
    failure = failed.find("failure")
    assert failure is not None
    assert "lanes 0-7 touch 8 different addresses in bank 0" in failure.get("message", "")
    assert "0x380" in (failure.text or "")
    properties = {each.get("name"): each.get("value") for each in failed.iter("property")}
    assert properties["swzverify.id"] == "specs/gemm.swz.yaml::read_A::conflict_free"
    assert properties["swzverify.verdict"] == "refuted"
    assert properties["swzverify.expected"] == "proved"
    assert properties["swzverify.wavefronts"] == "32"
    assert properties["swzverify.bank_conflicts"] == "28"
    proved = cases["specs.gemm.swz.yaml.A", "bijective"]
    told = {each.get("name"): each.get("value") for each in proved.iter("property")}
    assert told["swzverify.engines"] == "gf2 + z3 + intervals"
    assert "any base that is a multiple of 1024" in (told["swzverify.scope"] or "")


def test_the_place_of_an_item_is_its_line(put, project, specs):
    put({"gemm.swz.yaml": specs.good})
    items, _ = project.inline_genitems()
    lines = specs.good.splitlines()
    for item in items:
        path, line, name = item.reportinfo()
        assert path == project.path / "gemm.swz.yaml"
        assert item.name in lines[line]
        assert name == f"A::{item.name}"


def test_a_spec_is_read_once(put, project, specs, monkeypatch):
    loaded = []
    real = reading.load_spec
    monkeypatch.setattr(reading, "load_spec", lambda file, **options: loaded.append(file) or real(file, **options))
    put({"gemm.swz.yaml": specs.cases, "other.swz.yaml": specs.good})
    project.runpytest().assert_outcomes(passed=6)
    assert loaded == ["gemm.swz.yaml", "other.swz.yaml"]


def test_warnings_as_errors_are_no_trouble(put, project, specs):
    put({"gemm.swz.yaml": specs.good})
    project.runpytest_subprocess("-W", "error").assert_outcomes(passed=2)


def test_names_of_specs_are_those_of_the_package():
    assert pytest_plugin.SUFFIXES == SUFFIXES


def test_every_spelling_of_a_specs_name_is_collected(put, outcomes, specs):
    names = ["a.swz.yml", "b.SWZ.YAML", "c.Swz.Yml", "d.swz.yaml"]
    others = ["e.yaml", "f.swz.json", "g.swz.yaml.txt", "swz.yaml"]
    put(dict.fromkeys([*names, *others], specs.good))
    assert [name for name in [*names, *others] if is_spec_name(name)] == names
    assert sorted({nodeid.split("::")[0] for nodeid in outcomes()}) == names

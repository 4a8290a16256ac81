"""The ini option `swzverify_specs`: which files it names, and which runs collect them."""

from __future__ import annotations

import os

import pytest

from tests.nightly import share

INI = "[pytest]\ntestpaths = tests\nswzverify_specs =\n"
TEST = "def test_it(): pass\n"


@pytest.fixture
def tree(put, specs):
    """A project whose tests lie in one folder and whose specs lie in others, under names of all
    kinds.
    """
    put(
        {
            "pytest.ini": INI + "    kernels/gemm.contract\n    specs\n    more/*.yaml\n",
            "tests/test_it.py": TEST,
            "kernels/gemm.contract": specs.good,
            "kernels/other.contract": specs.good,
            "specs/deep/a.swz.yaml": specs.good,
            "specs/readme.yaml": "not a spec\n",
            "more/b.yaml": specs.good,
        }
    )


ALL = ["kernels/gemm.contract", "more/b.yaml", "specs/deep/a.swz.yaml", "tests/test_it.py"]


def files(found: dict[str, str]) -> list[str]:
    assert set(found.values()) <= {"passed"}
    return sorted({nodeid.split("::")[0] for nodeid in found})


@pytest.mark.usefixtures("tree")
def test_without_paths_all_are_collected(outcomes):
    assert files(outcomes()) == ALL


@pytest.mark.usefixtures("tree")
def test_they_keep_the_order_of_the_ini(outcomes):
    ids = [nodeid.split("::")[0] for nodeid in outcomes()]
    assert list(dict.fromkeys(ids)) == [
        "tests/test_it.py",
        "kernels/gemm.contract",
        "specs/deep/a.swz.yaml",
        "more/b.yaml",
    ]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["tests"], ["tests/test_it.py"]),
        (["tests/test_it.py"], ["tests/test_it.py"]),
        (["kernels"], ["kernels/gemm.contract"]),
        (["kernels/gemm.contract"], ["kernels/gemm.contract"]),
        (["kernels", "kernels/gemm.contract"], ["kernels/gemm.contract"]),
        (["kernels/gemm.contract::A::bijective"], ["kernels/gemm.contract"]),
        (["specs"], ["specs/deep/a.swz.yaml"]),
        (["tests", "more"], ["more/b.yaml", "tests/test_it.py"]),
        (["."], ALL),
        (["--ignore=kernels"], ["more/b.yaml", "specs/deep/a.swz.yaml", "tests/test_it.py"]),
        (["--ignore=more/b.yaml", "."], ["kernels/gemm.contract", "specs/deep/a.swz.yaml", "tests/test_it.py"]),
        (["--ignore-glob=*contract"], ["more/b.yaml", "specs/deep/a.swz.yaml", "tests/test_it.py"]),
    ],
)
@pytest.mark.usefixtures("tree")
def test_with_paths_those_that_lie_in_them(outcomes, given, found):
    assert files(outcomes(*given)) == found


@pytest.mark.usefixtures("tree")
def test_each_is_collected_once(outcomes, project):
    assert len(outcomes(".")) == 7
    result = project.runpytest("--collect-only", "-q", ".", "specs")
    assert result.stdout.str().count("specs/deep/a.swz.yaml::A::bijective") == 1


@pytest.mark.usefixtures("tree")
def test_in_another_folder_those_below_it(outcomes, monkeypatch, project):
    monkeypatch.chdir(project.path / "kernels")
    assert files(outcomes("--rootdir", str(project.path), "-c", str(project.path / "pytest.ini"))) == [
        "kernels/gemm.contract"
    ]


@pytest.mark.usefixtures("tree")
def test_a_file_that_is_not_named_keeps_its_meaning(outcomes, project):
    assert project.runpytest("kernels/other.contract").ret == pytest.ExitCode.USAGE_ERROR
    assert files(outcomes("specs/deep/a.swz.yaml")) == ["specs/deep/a.swz.yaml"]


def test_folders_that_pytest_does_not_enter_hide_nothing(put, outcomes, specs):
    put(
        {
            "pytest.ini": "[pytest]\nswzverify_specs = build/a.swz.yaml\n  .hidden/b.swz.yaml\n",
            "build/a.swz.yaml": specs.good,
            "build/test_generated.py": TEST,
            ".hidden/b.swz.yaml": specs.good,
            "test_it.py": TEST,
        }
    )
    expected = [".hidden/b.swz.yaml", "build/a.swz.yaml", "test_it.py"]
    assert files(outcomes()) == expected
    assert files(outcomes(".")) == expected


def contract(sign: str, text: str) -> str:
    return "\n".join(f"{sign} {line}" for line in ["swz:begin", *text.splitlines(), "swz:end"]) + "\n"


def test_contracts_in_sources(put, project, specs):
    """A folder stands for its sources with contracts; a test module may hold one too."""
    put({"pytest.ini": "[pytest]\nswzverify_specs = src\n  test_kernel.py\n", "src/other.cu": "int main() {}\n"})
    put({"src/gemm.cu": "int x;\n" + contract("//", specs.bad), "test_kernel.py": contract("#", specs.good) + TEST})
    result = project.runpytest("-v")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        [
            "test_kernel.py::test_it PASSED*",
            "src/gemm.cu::A::bijective PASSED*",
            "src/gemm.cu::read_A::conflict_free FAILED*",
            "test_kernel.py::A::bijective PASSED*",
            "*at * src/gemm.cu:17",
        ]
    )
    result = project.runpytest("test_kernel.py::test_it")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("name", ["kernel.cu", "kernel.py", "a.swz.yaml"])
def test_a_named_file_without_a_claim_is_an_error(put, project, name):
    text = "swzverify: 1\n" if name.endswith("yaml") else ""
    put({"pytest.ini": f"[pytest]\nswzverify_specs = {name}\n", name: text, "test_it.py": TEST})
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"{name}: SWZ801 `swzverify_specs` names this file, but it has no claim"])


def test_links_to_one_file_are_one_spec(put, outcomes, specs, project):
    put({"pytest.ini": "[pytest]\nswzverify_specs = a.swz.yaml\n", "a.swz.yaml": specs.good})
    os.symlink(project.path / "a.swz.yaml", project.path / "b.swz.yaml")
    assert files(outcomes()) == ["a.swz.yaml", "b.swz.yaml"]
    assert files(outcomes("b.swz.yaml")) == ["b.swz.yaml"]
    put({"pytest.ini": "[pytest]\nswzverify_specs = a.swz.yaml\n  b.swz.yaml\n"})
    assert files(outcomes()) == ["a.swz.yaml", "b.swz.yaml"]


@pytest.fixture
def linked(put, specs, project):
    """A spec that fails, and links below `testpaths` to it and to its folder."""
    put({"pytest.ini": INI + "    kernels\n", "tests/test_it.py": TEST, "kernels/bad.swz.yaml": specs.bad})
    return project


IGNORED = ["--ignore=kernels", "--ignore=kernels/bad.swz.yaml", "--ignore-glob=*kernels/*"]


def refuted(found: dict[str, str]) -> list[str]:
    return sorted(nodeid.split("::")[0] for nodeid, outcome in found.items() if outcome == "failed")


@pytest.mark.parametrize("ignore", share(IGNORED, 2))
def test_a_link_to_an_ignored_spec_is_proved(linked, outcomes, ignore):
    os.symlink("../kernels/bad.swz.yaml", linked.path / "tests/link.swz.yaml")
    assert refuted(outcomes()) == ["kernels/bad.swz.yaml", "tests/link.swz.yaml"]
    assert refuted(outcomes(ignore)) == ["tests/link.swz.yaml"]
    assert refuted(outcomes(ignore, "--ignore=tests/link.swz.yaml")) == []


@pytest.mark.parametrize("ignore", share(IGNORED, 2))
def test_a_spec_in_a_link_to_an_ignored_folder_is_proved(linked, outcomes, ignore):
    os.symlink("../kernels", linked.path / "tests/deep")
    assert refuted(outcomes()) == ["kernels/bad.swz.yaml"]
    assert refuted(outcomes("tests")) == ["tests/deep/bad.swz.yaml"]
    assert refuted(outcomes(ignore)) == ["tests/deep/bad.swz.yaml"]
    assert refuted(outcomes(ignore, "tests")) == ["tests/deep/bad.swz.yaml"]


def test_a_named_link_is_not_ignored_with_what_it_leads_to(linked, put, outcomes):
    put({"pytest.ini": INI + "    linked/it.swz.yaml\n"})
    (linked.path / "linked").mkdir()
    os.symlink("../kernels/bad.swz.yaml", linked.path / "linked/it.swz.yaml")
    assert refuted(outcomes("--ignore=kernels")) == ["linked/it.swz.yaml"]
    assert refuted(outcomes("--ignore=linked")) == []


@pytest.fixture(params=["ini", "environment"])
def every_run(request, put, monkeypatch):
    """Put options into what pytest reads in every run."""

    def set_options(options: str) -> None:
        if request.param == "environment":
            monkeypatch.setenv("PYTEST_ADDOPTS", f"-p no:hypothesispytest {options}")
            return
        entries = "    kernels/gemm.contract\n    specs\n    more/*.yaml\n"
        put({"pytest.ini": f"{INI}{entries}addopts = {options}\n"})

    return set_options


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("options", share(["-ra tests", "tests/test_it.py", "tests kernels/gemm.contract"], 2))
def test_paths_in_addopts_are_none_of_the_call(every_run, outcomes, options, project):
    every_run(options)
    assert files(outcomes()) == ALL
    assert len(outcomes()) == 7
    assert files(outcomes("-m", "not tests")) == ALL
    assert "specs/deep/a.swz.yaml" in files(outcomes("specs"))
    assert "more/b.yaml" not in files(outcomes("specs"))
    if "gemm" in options:  # one of them tells of all: starting processes takes its time
        paths, passed = ([], 7) if options in os.environ["PYTEST_ADDOPTS"] else (["specs"], 5)
        project.runpytest("-n", "2", *paths).assert_outcomes(passed=passed)


@pytest.mark.usefixtures("tree")
def test_in_another_folder_too(every_run, outcomes, project, monkeypatch):
    every_run("-ra ../tests")
    monkeypatch.chdir(project.path / "kernels")
    found = outcomes("--rootdir", str(project.path), "-c", str(project.path / "pytest.ini"))
    assert files(found) == ["kernels/gemm.contract", "tests/test_it.py"]


@pytest.mark.usefixtures("tree")
def test_a_claim_in_addopts_does_not_hide_the_others_of_its_file(every_run, project):
    every_run("kernels/gemm.contract::A::bijective")
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.usefixtures("tree")
def test_an_options_value_is_no_path(outcomes, every_run):
    every_run("-q")
    assert files(outcomes("-k", "kernels or specs or more")) == ALL[:3]
    assert files(outcomes("-k", "specs")) == ["specs/deep/a.swz.yaml"]


def test_a_root_with_signs_of_patterns(put, outcomes, specs, project, monkeypatch):
    put(
        {
            "odd*/pytest.ini": "[pytest]\nswzverify_specs = k/*.contract\n  plain.contract\n",
            "odd*/k/a.contract": specs.good,
            "odd*/plain.contract": specs.good,
            "oddity/k/b.contract": specs.bad,
        }
    )
    monkeypatch.chdir(project.path / "odd*")
    assert files(outcomes("--rootdir", ".")) == ["k/a.contract", "plain.contract"]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("specs/mising.swz.yaml", "specs/mising.swz.yaml: SWZ501 no such file or folder"),
        ("specs/*.contract", "specs/[*].contract: SWZ502 no file matches this pattern"),
        ("empty", "empty: SWZ801 neither a [*].swz.yaml file nor a contract is there"),
    ],
)
@pytest.mark.parametrize("arguments", [[], ["tests/test_it.py"], ["-n", "2"]], ids=["all", "one", "xdist"])
def test_an_entry_that_names_nothing_is_a_usage_error(put, project, specs, entry, told, arguments):
    put({"pytest.ini": INI + f"    {entry}\n", "tests/test_it.py": TEST, "specs/missing.swz.yaml": specs.good})
    (project.path / "empty").mkdir()
    result = project.runpytest(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the ini option `swzverify_specs`:", told])


def test_last_failed_knows_named_specs(put, project, specs):
    put({"pytest.ini": INI + "  k/bad.contract\n  k/good.contract\n", "tests/test_it.py": TEST})
    put({"k/bad.contract": specs.bad, "k/good.contract": specs.good})
    project.runpytest().assert_outcomes(passed=5, failed=1)
    project.runpytest("--lf").assert_outcomes(failed=1)


def test_no_ini_no_change(put, project, specs):
    put({"tests/test_it.py": TEST, "k/a.contract": specs.bad})
    project.runpytest().assert_outcomes(passed=1)


def test_a_run_that_collects_nothing_says_how_to_collect_contracts(pytester, put, specs):
    put({"src/a.cu": contract("//", specs.good), "src/b.cuh": contract("//", specs.good), "src/plain.cu": "int x;\n"})
    found = pytester.runpytest("-q", "src")
    assert found.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    found.stdout.fnmatch_lines(
        ["swzverify: 2 sources with contracts; to collect them*", "swzverify_specs =", "    src"]
    )
    put({"pytest.ini": "[pytest]\nswzverify_specs =\n    src\n"})
    named = pytester.runpytest("-q", "src")
    assert named.ret == 0
    assert "with contracts" not in named.stdout.str()


@pytest.mark.parametrize("files", [{"src/plain.cu": "int x;\n"}, {"src/plain.cu": "int x;\n", "src/test_it.py": TEST}])
def test_a_run_without_contracts_says_nothing_of_them(pytester, put, files):
    put(files)
    assert "contracts" not in pytester.runpytest("-q", "src").stdout.str()

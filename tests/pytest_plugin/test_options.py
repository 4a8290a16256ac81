"""The plugin's options, what it costs unused, and how it is switched off."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_the_target_overrides_the_specs_own(put, project, specs):
    put({"gemm.swz.yaml": specs.documented})
    project.runpytest("--swz-target", "sm_80").assert_outcomes(passed=1)
    result = project.runpytest("--swz-target", "sm_70")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["gemm.swz.yaml:*SWZ403*"])


def test_the_target_is_what_verdicts_are_for(put, project, specs):
    put({"gemm.swz.yaml": specs.bad})
    project.runpytest("--swz-target=sm_80").stdout.fnmatch_lines(["*ldmatrix.x4 on sm_80 (assumed)*"])


def test_an_unknown_target_is_a_usage_error(put, project, specs):
    put({"gemm.swz.yaml": specs.good})
    result = project.runpytest("--swz-target", "sm90")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --swz-target: SWZ402 unknown target 'sm90'; did you mean 'sm_90'?*"])


@pytest.mark.parametrize("value", ["0", "-3", "many", "1.5", "²"])
def test_a_wrong_rlimit_is_a_usage_error(project, value):
    result = project.runpytest(f"--swz-rlimit={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*argument --swz-rlimit: '{value}' is not a positive integer"])


def test_the_rlimit_reaches_the_prover(put, project, specs, monkeypatch):
    from swzverify.apps.run import one

    seen = []
    real = one.judge
    monkeypatch.setattr(one, "judge", lambda claim, *, options: seen.append(options) or real(claim, options=options))
    put({"gemm.swz.yaml": specs.good})
    project.runpytest("--swz-rlimit", "12345678").assert_outcomes(passed=2)
    assert [options.rlimit for options in seen] == [12345678, 12345678]
    assert not any(options.single_engine for options in seen)


def test_help_shows_the_options(project):
    project.runpytest("--help").stdout.fnmatch_lines(
        ["proofs of GPU shared-memory layouts:", "*--swz-target=NAME*", "*--swz-rlimit=N*", "*swzverify_specs*"]
    )


@pytest.mark.parametrize("module", ["z3", "numpy", "pydantic", "rich", "yaml", "click", "swzverify.spec"])
def test_the_module_is_cheap_to_import(module):
    timed = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import swzverify.pytest_plugin"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in timed.stderr.splitlines()}
    assert "swzverify.pytest_plugin" in imported
    assert not [name for name in imported if name == module or name.startswith(f"{module}.")]


def test_a_run_without_specs_imports_nothing_of_ours(put, project):
    put(
        {
            "test_it.py": "import sys\n\ndef test_it():\n"
            "    ours = {name for name in sys.modules if name.split('.')[0] == 'swzverify'}\n"
            "    assert ours == {'swzverify', 'swzverify.core', 'swzverify.core.lazy', 'swzverify.pytest_plugin'}\n"
            "    assert not {'z3', 'numpy', 'pydantic'} & set(sys.modules)\n"
        }
    )
    project.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_plugin_can_be_switched_off(put, project, specs):
    put({"gemm.swz.yaml": specs.bad})
    assert project.runpytest("-p", "no:swzverify").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_without_autoload_it_is_named(put, project, specs, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    put({"gemm.swz.yaml": specs.good})
    assert project.runpytest_subprocess().ret == pytest.ExitCode.NO_TESTS_COLLECTED
    project.runpytest_subprocess("-p", "swzverify.pytest_plugin").assert_outcomes(passed=2)

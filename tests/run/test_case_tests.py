"""The tests that `swzverify prove --write-test` writes: each fails on its case, and passes once the
spec is mended.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from swzverify.apps.commands.case_tests import is_ours, save_case_tests
from swzverify.apps.options.prove import Settings
from swzverify.apps.run.run import run_specs
from swzverify.claims.verdict import Outcome
from swzverify.errors import SwzError
from swzverify.report.case_tests import MARK
from swzverify.report.result import Report
from swzverify.spec import load_spec
from swzverify.testing import cases
from tests.claims import edges
from tests.inner_pytest import run_inner
from tests.run.case_specs import BROKEN, mended

ROOT = Path(__file__).parents[2]


def proved(*files: str) -> Report:
    return run_specs(files, Settings())


def functions_of(path: Path) -> dict[str, Callable[[], None]]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if name.startswith("test_")}


def pytest_on(path: Path) -> tuple[int, str]:
    with contextlib.chdir(path.parent):
        return run_inner(["-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", path.name])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


def test_every_kind_fails_under_pytest_until_the_spec_is_mended(here: Path) -> None:
    (here / "kernels").mkdir()
    spec = here / "kernels" / "all.swz.yaml"
    spec.write_text(BROKEN, encoding="utf-8")
    (here / "tests").mkdir()
    written = here / "tests" / "test_cases.py"
    claims = BROKEN.partition("claims:\n")[2].count("\n")
    assert save_case_tests("tests/test_cases.py", proved("kernels/all.swz.yaml")) == claims
    names = list(functions_of(written))
    assert len(names) == claims
    _, shown = pytest_on(written)
    assert f"{claims} failed in" in shown, shown
    assert shown.count("AssertionError") + shown.count("assert") >= claims
    assert "SwzError" not in shown
    spec.write_text(mended(), encoding="utf-8")
    assert proved("kernels/all.swz.yaml").exit_code == 0
    code, shown = pytest_on(written)
    # the two tiles that met were placed elsewhere: their case is no more
    assert (code, f"{claims - 1} passed, 1 skipped in" in shown) == (0, True), shown


def test_a_file_that_an_older_release_wrote_still_works(here: Path) -> None:
    """`written_before.txt` calls every helper but those of listings and of `exactly`."""
    (here / "kernels").mkdir()
    spec = here / "kernels" / "all.swz.yaml"
    spec.write_text(BROKEN, encoding="utf-8")
    (here / "tests").mkdir()
    written = here / "tests" / "test_cases.py"
    written.write_text((ROOT / "tests" / "run" / "written_before.txt").read_text("utf-8"), encoding="utf-8")
    _, shown = pytest_on(written)
    assert "21 failed in" in shown, shown
    assert "SwzError" not in shown
    spec.write_text(mended(), encoding="utf-8")
    code, shown = pytest_on(written)
    assert (code, "20 passed, 1 skipped in" in shown) == (0, True), shown


def test_every_refuted_claim_of_the_edges_fails(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "load_spec", cache(load_spec))  # the spec is large, and each test reads it
    lines = "".join(f"  - {{{text}}}\n" for text in edges.REFUTED)
    (here / "edges.swz.yaml").write_text(edges.SPEC.replace("claims: []\n", f"claims:\n{lines}"), encoding="utf-8")
    assert save_case_tests("test_edges.py", proved("edges.swz.yaml")) == len(edges.REFUTED)
    found = functions_of(here / "test_edges.py")
    assert len(found) == len(edges.REFUTED)
    for test in found.values():
        with pytest.raises(AssertionError):
            test()


def test_what_is_expected_or_known_is_left_out(here: Path) -> None:
    text = BROKEN.replace("  - injective: overlap\n", "  - {injective: overlap, expect: refuted, because: a lesson}\n")
    (here / "a.swz.yaml").write_text(text, encoding="utf-8")
    report = proved("a.swz.yaml")
    known = replace(report.results[1], accepted=True)
    report = replace(report, results=(report.results[0], known, report.results[2]))
    assert save_case_tests("test_a.py", report) == 1
    assert [*functions_of(here / "test_a.py")] == ["test_loose_bijective"]
    assert save_case_tests("test_b.py", replace(report, results=report.results[:2])) == 0
    assert not (here / "test_b.py").exists()


def test_a_refutation_where_unknown_was_expected_is_written(here: Path) -> None:
    text = BROKEN.partition("claims:\n")[0] + "claims:\n  - {injective: overlap, expect: unknown, because: why}\n"
    (here / "a.swz.yaml").write_text(text, encoding="utf-8")
    report = proved("a.swz.yaml")
    assert report.results[0].verdict.outcome is Outcome.REFUTED
    assert save_case_tests("test_a.py", report) == 1


@pytest.mark.parametrize(
    "name",
    ['a"b\\.swz.yaml', "a'b.swz.yaml", "a\nimport os.swz.yaml", 'a"""\r#\u2028\u202e.swz.yaml', "a\x0c{x}.swz.yaml"],
)
def test_hostile_names_are_data(here: Path, name: str) -> None:
    (here / name).write_text(BROKEN.partition("  - bijective: short")[0], encoding="utf-8")
    assert save_case_tests("test_a.py", proved(name)) == 1
    text = (here / "test_a.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert [type(node).__name__ for node in tree.body] == [
        "Expr",
        "ImportFrom",
        "ImportFrom",
        "ImportFrom",
        "Assign",
        "FunctionDef",
    ]
    assert all(line.isprintable() for line in text.split("\n"))
    (test,) = functions_of(here / "test_a.py").values()
    with pytest.raises(AssertionError, match="share a bit"):
        test()


def test_the_test_names_claim_line_case_and_table(here: Path) -> None:
    (here / "a.swz.yaml").write_text(BROKEN, encoding="utf-8")
    save_case_tests("test_a.py", proved("a.swz.yaml"))
    text = (here / "test_a.py").read_text(encoding="utf-8")
    line = BROKEN.split("\n").index("  - conflict_free: column") + 1
    assert f"# claim  a.swz.yaml::column::conflict_free\n    # at     a.swz.yaml:{line}\n" in text
    assert "# where  warp = 0, i = 0, base = 0\n" in text
    assert "# x     1   (1, 0)      32      128   0x80    32     0\n" in text
    assert max(map(len, text.split("\n"))) <= 120


def test_the_file_is_the_same_from_run_to_run(here: Path) -> None:
    (here / "a.swz.yaml").write_text(BROKEN, encoding="utf-8")
    texts: set[str] = set()
    for _ in range(2):
        save_case_tests("test_a.py", proved("a.swz.yaml"))
        texts.add((here / "test_a.py").read_text(encoding="utf-8"))
    assert len(texts) == 1


def test_another_target_is_the_tests_too(here: Path) -> None:
    (here / "a.swz.yaml").write_text(BROKEN.partition("  - bijective: short")[0], encoding="utf-8")
    save_case_tests("test_a.py", run_specs(["a.swz.yaml"], Settings(target="sm_100")), "sm_100")
    assert 'target="sm_100")' in (here / "test_a.py").read_text(encoding="utf-8")


def test_only_what_we_wrote_is_replaced(here: Path) -> None:
    (here / "a.swz.yaml").write_text(BROKEN, encoding="utf-8")
    report = proved("a.swz.yaml")
    theirs = here / "test_theirs.py"
    theirs.write_text("def test_mine(): ...\n", encoding="utf-8")
    with pytest.raises(SwzError, match="SWZ504"):
        save_case_tests("test_theirs.py", report)
    assert theirs.read_text(encoding="utf-8") == "def test_mine(): ...\n"
    theirs.write_text(f"{MARK}\n", encoding="utf-8")
    assert is_ours("test_theirs.py")
    assert save_case_tests("test_theirs.py", report) > 1
    assert not is_ours("no such file")
    assert not is_ours(".")


def test_a_spec_that_changed_meanwhile_gets_no_test(here: Path) -> None:
    (here / "a.swz.yaml").write_text(BROKEN, encoding="utf-8")
    report = proved("a.swz.yaml")
    (here / "a.swz.yaml").write_text(BROKEN.replace("injective: overlap", "injective: short"), encoding="utf-8")
    with pytest.raises(SwzError, match="has changed since"):
        save_case_tests("test_a.py", report)
    assert not (here / "test_a.py").exists()

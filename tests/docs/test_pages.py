"""Every command and snippet of the README and the docs is run, and gives what the page says;
`session.py` says how.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks_of, code_of, pages
from tests.docs.session import Session
from tests.docs.unrun import PageError, check_command

NOT_RUN: dict[str, list[str]] = {
    "CONTRIBUTING.md": ["it installs", ".ci/run runs them", "it takes as long as all tests"],
    "docs/semantics.md": ["a picture of bits"],
    "docs/editors.md": [
        "it goes on until Ctrl-C",
        "it installs, and serves an editor",
        "Neovim reads it",
        "it installs, and serves an agent",
    ],
    "README.md": [
        ".ci/packages runs them",
        "it needs nvcc; tests/scan/test_first_report.py compares it, where there is one",
        *[".ci/run runs it in a new folder"] * 3,
    ],
    "docs/architecture.md": [  # tests/docs/test_architecture.py holds them against the code
        "the files of compiled",
        "the layers of the groups",
        "the files of a new claim",
        "the files of a new claim on specs and kernels",
        "the files of a new instruction",
        "the files of a new engine",
        "the files of a new PTX opcode",
        "the files of a new order",
        "the files of a new option",
        "the files of a new command",
        "the files of a new target",
        "the files of a new report format",
        "the files of a picture of a tile",
        "the files of a new statement",
        "the files of a new control",
        "the files of a new format of pictures",
    ],
    "docs/benchmarks.md": ["it measures for minutes; tests/test_benchmarks.py runs its parts"],
    "docs/certificates.md": ["the files of a folder", "the form of a file"],
    "docs/ci.md": [
        *[".ci/packages runs it"] * 4,
        "it needs nvcc",
        "tests/premerge runs the scan",
        "tests/premerge runs the hooks",
        "tests/premerge runs it",
        "tests/premerge runs the action's steps",
        "tests/premerge holds it against GitLab's schema",
    ],
    "docs/crosscheck.md": ["needs a GPU"],
    "docs/explore.md": ["it serves until Ctrl-C; tests/explorer/test_server.py runs it"],
    "docs/extend.md": [
        "tests/outside installs it",
        "tests/outside proves with it",
        "tests/outside proves it",
        "tests/outside writes with it",
        "tests/outside reads with it",
    ],
    "docs/operands.md": [
        "it needs the PTX of a Triton kernel",
        "it needs the PTX of a Triton kernel",
        "it needs the PTX of fast.cu",
    ],
    "docs/hardware.md": ["a rule in words; tests/hardware/test_cp_async_rule.py runs it"],
    "docs/mutation.md": ["it takes hours, and a package that nothing else needs"],
    "docs/notebooks/index.md": [
        "it installs, and opens a browser",
        "it shows a widget; tests/explorer/test_widget.py runs it in a browser",
    ],
    "docs/reference/python.md": ["a picture of bits"],
    "docs/study/index.md": ["a formula", "it takes minutes"],
    "docs/sweep.md": ["needs DuckDB or pandas", "needs a cluster"],
    "docs/scan.md": [
        "it needs nvcc; tests/scan/test_first_report.py compiles it, where there is one",
        "it needs nvcc; tests/scan/test_first_report.py compares it, where there is one",
        "it needs nvcc; tests/scan/test_first_report.py compiles it, where there is one",
        "it needs nvcc and nvdisasm; tests/scan/test_on_chip.py runs it",
        "it needs a GPU; tests/scan/test_check_command.py reads such a file",
        "it needs a GPU and nsight-python; tests/scan/test_totals.py reads its data frames",
        "it needs pandas or polars; tests/report/test_scan_frame.py has both",
        "it needs Triton; tests/examples runs examples/scan",
        "it needs Triton and a GPU; tests/testing/test_guard.py compiles such a kernel without a GPU",
        "it needs the CuTe DSL; tests/testing/test_guard.py runs it where there is one",
    ],
    "docs/scan_findings.md": ["the PTX is of others' code and is not in the repository"],
    "docs/tutorial/index.md": ["needs the network"],
    "docs/tutorial/transpose.md": ["the kernel that the spec is about"],
}
"""The blocks that are not run, with their reasons: whoever adds one says so here too."""


RUN_ELSEWHERE = {"docs/theorems.md": {"swzverify theorems": "tests/theorems/test_command.py"}}
"""Commands that take long, with the test that runs them and holds the page against what they print.
"""


@pytest.mark.parametrize("page", pages())
def test_what_a_page_shows_is_so(page: str, tmp_path: Path) -> None:
    elsewhere = frozenset(RUN_ELSEWHERE.get(page, {}))
    Session(page, tmp_path, elsewhere).run(blocks_of((ROOT / page).read_text("utf-8")))


def test_what_is_run_elsewhere_is() -> None:
    for page, commands in RUN_ELSEWHERE.items():
        for command, test in commands.items():
            assert command in (ROOT / page).read_text("utf-8")
            assert command.split()[1] in (ROOT / test).read_text("utf-8")
            assert f"{page.rpartition('/')[2]}" in (ROOT / test).read_text("utf-8")


def test_what_is_not_run_is_listed() -> None:
    found: dict[str, list[str]] = {}
    for page in pages():
        reasons = [block.mark("not run here") for block in blocks_of((ROOT / page).read_text("utf-8"))]
        if any(reason is not None for reason in reasons):
            found[page] = [reason for reason in reasons if reason is not None]
    assert found == NOT_RUN


def test_the_readmes_unrun_commands_are_those_that_the_checks_run() -> None:
    checks, packages = ((ROOT / ".ci" / name).read_text("utf-8") for name in ("run", "packages"))
    for block in blocks_of((ROOT / "README.md").read_text("utf-8")):
        reason = block.mark("not run here") or ""
        if reason.startswith(".ci/run"):
            assert any(f"readme_command {mark})" in checks for mark in block.marks), block.text
        elif reason.startswith(".ci/packages"):
            assert any(f"<!-- {mark} -->" in packages for mark in block.marks), block.text
        elif reason:
            assert (ROOT / re.findall(r"tests/[\w/]+\.py", reason)[0]).is_file()


@pytest.mark.parametrize("page", pages())
def test_commands_within_the_text_exist(page: str) -> None:
    for line, code in code_of((ROOT / page).read_text("utf-8")):
        try:
            check_command(code)
        except PageError as wrong:
            raise AssertionError(f"{page}:{line}: {wrong}") from None

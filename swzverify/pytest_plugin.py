"""The pytest plugin: spec files as tests, one item per claim.

Spec files that lie in what pytest collects, and the files that the ini option `swzverify_specs`
names. This module is loaded in every run of pytest where swzverify is installed, so it imports
pytest alone; everything else is imported when there is a spec to read. What it does is in
docs/pytest.md.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pluggy import Result

    from swzverify.testing.named_specs import NamedSpecs

SUFFIXES = (".swz.yaml", ".swz.yml")
"""As in `spec/guard.py`, which takes a while to import; a test holds the two against each other."""

_INI = "swzverify_specs"
_named: pytest.StashKey[NamedSpecs] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and the ini option."""
    group = parser.getgroup("swzverify", "proofs of GPU shared-memory layouts")
    group.addoption(
        "--swz-target", metavar="NAME", help="prove specs for this target instead of their own, such as sm_90"
    )
    group.addoption(
        "--swz-rlimit",
        metavar="N",
        type=_positive,
        help="budget of a query of a spec's claim, in Z3's resource units",
    )
    parser.addini(
        _INI,
        "spec files to prove: files of any name, folders and patterns, one per line, relative to the rootdir",
        type="linelist",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker that every claim of a spec has."""
    config.addinivalue_line(
        "markers", "swzverify(kind): a claim of a spec file, set by the plugin; kind is the claim's, such as bijective"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse wrong options and ini values before anything is collected and xdist starts workers."""
    config = session.config
    target: str | None = config.getoption("--swz-target")
    if target is not None:
        _testing().check_target(target)
    if config.getini(_INI):
        config.stash[_named] = _testing().named_specs(config, config.getini(_INI))


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Take out the named files that are to be ignored, before pytest comes across the first file."""
    named = session.config.stash.get(_named, None)
    if named is not None:
        session.config.stash[_named] = named.without_ignored(session.config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A spec that pytest has come across; one added to the session is not collected twice."""
    named = parent.config.stash.get(_named, None)
    if named is not None and named.names(file_path):
        return _spec_file(parent, file_path, is_named=True) if named.leaves(file_path) else None
    return _spec_file(parent, file_path) if file_path.name.lower().endswith(SUFFIXES) else None


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Result[pytest.CollectReport], None]:
    """Add the files that the ini option names to what the session collects, wherever they lie."""
    outcome = yield
    if not isinstance(collector, pytest.Session):
        return
    named = collector.config.stash.get(_named, None)
    report = outcome.get_result()
    if named is not None and report.passed:
        added = [_spec_file(collector, path, is_named=True) for path in named.added.values()]
        report.result = [*report.result, *added]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    """Where nothing was collected beside contracts that the ini option does not name, say how to name them."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and not config.getini(_INI):
        hint = _testing().unnamed_contracts(config)
        if hint:
            terminalreporter.write_line(hint, yellow=True)


def _spec_file(parent: pytest.Collector, path: Path, *, is_named: bool = False) -> pytest.Collector:
    node = _testing().SpecFile.from_parent(parent, path=path)  # pyright: ignore[reportUnknownMemberType]  # pytest's **kw
    node.is_named = is_named
    return node


def _testing():
    from swzverify.testing import plugged_in  # noqa: PLC0415 - see the top

    return plugged_in


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)

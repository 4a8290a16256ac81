"""Projects with specs, and pytest run in them as a user would."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from swzverify.prover import prove
from swzverify.spec import parse_spec
from swzverify.testing import named_specs, spec_items

TILE = """\
swzverify: 1
target: sm_90
tiles:
  A:
    element: f16
    layout: (64,64):(64,1)
"""
READ = """\
accesses:
  read_A:
    tile: A
    instruction: ldmatrix.x4
    threads: 32
    coord: [lane%16, lane/16*8]
"""


@dataclass(frozen=True, slots=True)
class Specs:
    """Specs by what comes of them."""

    good: str = TILE + "claims:\n  - bijective: A\n  - contiguous: {tile: A, elements: 8}\n"
    bad: str = TILE + READ + "claims:\n  - bijective: A\n  - conflict_free: read_A\n  - injective: A\n"
    documented: str = TILE + READ + "claims:\n  - conflict_free: read_A\n    expect: refuted\n    because: one bank\n"
    too_good: str = TILE + "claims:\n  - bijective: A\n    expect: refuted\n"
    cases: str = (
        "swzverify: 1\nconstants: {BM: [32, 64]}\n"
        'tiles: {A: {element: f16, layout: "(BM,64):(64,1)"}}\nclaims:\n  - bijective: A\n  - injective: A\n'
    )
    vacuous: str = TILE + READ + "    assume: [1 < 0]\nclaims:\n  - conflict_free: read_A\n"
    twice: str = TILE + "claims:\n  - contiguous: {tile: A, elements: 8}\n  - contiguous: {tile: A, elements: 16}\n"
    broken: str = TILE + "claims:\n  - bijektive: A\n  - injective: B\n"


@pytest.fixture
def specs() -> Specs:
    """Texts of specs."""
    return Specs()


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An empty project, and an environment that asks for nothing special."""
    for name in ("CI", "BUILD_NUMBER", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "SWZVERIFY_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    # Its plugin imports all of hypothesis at the end of a run, which an inner run then drops again.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    return pytester


@pytest.fixture
def put(project: pytest.Pytester):
    """Put files into the project: `put({"specs/a.swz.yaml": text})`."""

    def write_all(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = project.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return write_all


@pytest.fixture
def outcomes(project: pytest.Pytester):
    """Run pytest; the node ids that ran, with what became of each."""

    def run(*arguments: str) -> dict[str, str]:
        recorder = project.inline_run("-p", "no:cacheprovider", *arguments)
        return {
            report.nodeid: report.outcome
            for report in recorder.getreports("pytest_runtest_logreport")
            if report.when == "call"
        }

    return run


@pytest.fixture(scope="session", autouse=True)
def imported() -> None:
    """Import what proves: an inner run of pytest drops what it imports first, and numpy cannot come
    twice.
    """
    assert named_specs
    assert spec_items
    for text in (Specs().good, Specs().bad):
        for claim in parse_spec(text).claims:
            prove(claim.claim)

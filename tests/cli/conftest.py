"""Specs on disk, and a prover that answers what a test wants."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from swzverify.claims.verdict import Counterexample, Measure, Outcome, Row, Verdict, WarpMeasure
from tests.judging import by_verdict

TILE = """\
swzverify: 1
target: sm_90
tiles:
  A:
    element: f16
    layout: (8,64):(64,1)
    swizzle: Swizzle<3,3,3>
"""


@dataclass(frozen=True, slots=True)
class Specs:
    """Specs of one tile, by what the real prover makes of their claims."""

    good: str = TILE + "claims:\n  - bijective: A\n"
    bad: str = TILE + "claims:\n  - injective: A\n  - contiguous: {tile: A, elements: 16}\n"
    documented: str = (
        TILE
        + """\
claims:
  - bijective: A
  - contiguous: {tile: A, elements: 16}
    expect: refuted
    because: the swizzle keeps 8 elements together
"""
    )
    broken: str = TILE + "claims:\n  - bijektive: A\n"


@pytest.fixture
def specs() -> Specs:
    """Texts of specs."""
    return Specs()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and an environment that asks for nothing special."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "SWZVERIFY_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def write(here: Path) -> Callable[..., None]:
    """Put files into the current folder: `write({"a.swz.yaml": text})`."""

    def put(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return put


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[object]]:
    """Replace the prover: `answers(bijective="unknown", injective=SomeError())` by kind; gives the
    options it sees.
    """

    def install(*, reason: str = "", **by_kind: str | BaseException) -> list[object]:
        seen: list[object] = []

        def prove(claim, *, options):
            seen.append(options)
            answer = by_kind.get(claim.kind, "proved")
            if isinstance(answer, BaseException):
                raise answer
            if answer != "refuted":
                return Verdict(Outcome(answer), scope="every base", engines=("z3", "gf2"), reason=reason, time_ms=1.0)
            rows = (Row((0, 0), "A"), Row((1, 32), "A"))
            return Verdict(
                Outcome.REFUTED,
                scope="every base",
                engines=("z3",),
                measure=Measure.of_one(WarpMeasure(2, 1, {})),
                counterexample=Counterexample({"base": 0}, "two lanes in one bank", ("lane", "word"), rows),
            )

        monkeypatch.setattr("swzverify.apps.run.one.judge", by_verdict(prove))
        return seen

    return install


@pytest.fixture
def clean_environment() -> dict[str, str]:
    """The environment for a process of its own."""
    dropped = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "SWZVERIFY_DEBUG"}
    root = str(Path(__file__).parents[2])
    return {name: value for name, value in os.environ.items() if name not in dropped} | {"PYTHONPATH": root}

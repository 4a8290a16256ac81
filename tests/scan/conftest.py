"""What tests of the scan share."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from swzverify.compiled.scan import decide, tried
from swzverify.compiled.scan.verdict import Decision


@pytest.fixture(autouse=True)
def few_trials(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many kernels are scanned here: each is tried for a while, in the long run for longer."""
    is_long = request.node.get_closest_marker("nightly") is not None
    monkeypatch.setattr(tried, "MOST_STEPS", 30_000 if is_long else 8_000)
    monkeypatch.setattr(tried, "PATIENCE", 40 if is_long else 12)


@pytest.fixture
def without_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is proved, and what is not: no trial is made."""

    def as_they_are(_kernel: object, _read: object, decisions: Sequence[Decision]) -> list[Decision]:
        return [*decisions]

    monkeypatch.setattr(decide, "tried", as_they_are)

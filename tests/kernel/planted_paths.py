"""A mistake in paths that several folders of tests plant."""

from __future__ import annotations

import pytest

from swzverify.compiled.kernel.paths import PathCondition, Paths


def forget_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drop the conditions of paths that join, as if every thread reached the join."""
    original = Paths._find

    def find(self: Paths, block: int) -> PathCondition:
        upper = self._flow.dominators.parents[block]
        return original(self, block) if self._flow.entries(block) == [upper] else PathCondition()

    monkeypatch.setattr(Paths, "_find", find)

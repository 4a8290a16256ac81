"""Small warp groups, for comparisons with all runs of phases with roles."""

from __future__ import annotations

import pytest

from swzverify.subjects import phase, role_lines
from tests.oracle.role_runs import GROUP


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warp group of one warp, and roles with parts of warps: all runs of 128 threads are too many."""
    monkeypatch.setattr(phase, "WARPGROUP", GROUP)
    monkeypatch.setattr(role_lines, "WARPGROUP_THREADS", GROUP)
    monkeypatch.setattr(phase.Phase, "_check_whole", lambda *_: None)

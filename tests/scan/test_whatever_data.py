"""Conflicts whatever data the lanes hold: two lanes meet in a bank with all values, and never in a word."""

from __future__ import annotations

import pytest

from swzverify.compiled.scan import mixed
from tests.scan.texts import last

pytestmark = pytest.mark.usefixtures("without_trials")

ROWS = "ld.global.u32 %r10, [%d1]; and.b32 %r10, %r10, {mask}; mad.lo.u32 %r20, %r1, 128, %r3;"
STORE = " mad.lo.u32 %r20, %r10, {factor}, %r20; st.shared.u32 [%r20], %r1;"


def _store(mask: int, factor: int) -> str:
    return ROWS.format(mask=mask) + STORE.format(factor=factor)


@pytest.mark.parametrize("mask", [1, 7, 15])
def test_data_choose_among_tiles_of_rows(mask: int) -> None:
    """Each lane has a row of 128 bytes of its own, in a tile that its data choose: all words are in one bank."""
    found = last(_store(mask, 4096)).decision
    assert (found.verdict, found.ways, found.at_least, found.is_for_some) == ("conflict", 32, True, False)


def test_data_that_choose_the_bank() -> None:
    """Data may put each lane into a bank of its own, so that no two lanes always meet."""
    assert last(_store(31, 4)).decision.verdict == "unknown"


def test_planted_no_pair_of_lanes_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed, "_always", lambda _: None)
    assert last(_store(1, 4096)).decision.verdict == "unknown"

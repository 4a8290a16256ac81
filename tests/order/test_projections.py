"""Projections of runs: they have all that the runs of all barriers together have."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from swzverify.compiled.order import projections
from swzverify.compiled.order.interleaved import moments_of
from swzverify.compiled.order.projections import Projections
from swzverify.compiled.order.together import ACTIVE, AllMoments, Being, Member

from .random_ranks import ranked
from .test_random_ranks import said

MOST = 3_000
_MOMENTS = Projections.moments


def _lacks(part: AllMoments, whole: AllMoments) -> bool:
    """Whether a projection lacks something that the runs of all barriers have."""

    def kind(being: Being) -> Being:
        return Being.FREE if being in ACTIVE else being

    def nodes(of: AllMoments) -> set[tuple[tuple[int, int], int, int, Being, Being]]:
        every = ((couple, *each) for couple, found in of.nodes.items() for each in found)
        return {(couple, one, two, kind(mine), kind(its)) for couple, one, two, mine, its in every}

    copies = {each for each in whole.copies if each not in part.copies}
    # Some projections freeze a thread, and others do not.
    copies = {each for each in copies if (*each[:4], kind(each[4])) not in part.copies}
    return bool(copies) or any(
        not some <= others
        for some, others in ((nodes(whole), nodes(part)), (whole.early, part.early), (whole.unmade, part.unmade))
    )


def _lacking(monkeypatch: pytest.MonkeyPatch, seeds: Sequence[int]) -> tuple[int, int]:
    """How many projections were held against the whole runs of some random kernels, and how many lack something."""
    compared, lacking = 0, 0

    def moments(
        self: Projections, members: Sequence[Member], most: int, *, is_of_time: bool, is_of_first: bool
    ) -> tuple[AllMoments | None, int]:
        nonlocal compared, lacking
        part, states = _MOMENTS(self, members, most, is_of_time=is_of_time, is_of_first=is_of_first)
        whole, _ = moments_of(
            members, self._roles, self._barriers, MOST, is_of_time=is_of_time, is_of_first=is_of_first
        )
        if part is not None and whole is not None:
            compared += 1
            lacking += _lacks(part, whole)
        return part, states

    monkeypatch.setattr(Projections, "moments", moments)
    for seed in seeds:
        said(ranked(seed))
    return compared, lacking


@pytest.mark.parametrize(
    "seeds", [(1, 2, 4), pytest.param(range(400), marks=pytest.mark.nightly)], ids=["day", "night"]
)
def test_no_moment_is_lost(seeds: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    compared, lacking = _lacking(monkeypatch, seeds)
    assert compared >= len(seeds)
    assert not lacking


def test_a_planted_mistake_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """If places behind what is left out are forgotten, something is lost."""

    def wrong(_nodes: object, start: int, _keys: object) -> list[int]:
        return [start]

    monkeypatch.setattr(projections, "_reach", wrong)
    assert _lacking(monkeypatch, (97,))[1]

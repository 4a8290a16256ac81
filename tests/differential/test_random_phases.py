"""Random phases against the oracle, and misreadings of them that random phases have to show.

`python -m tests.differential --themes phases` is the long run.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from swzverify.claims import phase_sources, reads_what_was_written
from swzverify.claims.phase_sources import Source
from swzverify.claims.reads_what_was_written import ReadsWhatWasWritten
from swzverify.subjects.phase_order import Meeting
from tests.differential.comparison import Comparison, compare_seed, first_disagreement
from tests.nightly import counts, share

Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("count", counts(8, 4_000))
def test_every_verdict_on_phases_is_the_oracles(count: int) -> None:
    outcome = Comparison()
    for seed in range(count):
        outcome.add(compare_seed(seed, themes="phases", starve=False))
    assert not outcome.disagreements, outcome.disagreements
    assert not outcome.ambiguous
    assert not outcome.refused
    assert outcome.unknown <= outcome.claims // 50
    for kind in ("race_free", "reads_what_was_written"):
        seen = outcome.verdicts[kind]
        assert min(seen[verdict] for verdict in ("proved", "refuted", "vacuous")) >= count // 30, (kind, seen)


def later_writes_forgotten(patch: Patch) -> None:
    patch.setattr(ReadsWhatWasWritten, "_between", lambda _: ())


def races_forgotten(patch: Patch) -> None:
    patch.setattr(ReadsWhatWasWritten, "_is_about", lambda *_: False)


def other_reads_count(patch: Patch) -> None:
    sound = ReadsWhatWasWritten._places

    def wrong(claim: ReadsWhatWasWritten, each: Meeting) -> bool:
        return bool({*sound(claim, claim.write), claim._reading} & {each.first, each.second})

    patch.setattr(ReadsWhatWasWritten, "_is_about", wrong)


def first_iterations_forgotten(patch: Patch) -> None:
    patch.setattr(ReadsWhatWasWritten, "_early", lambda *_: None)
    patch.setattr(ReadsWhatWasWritten, "_missing", lambda _: ())


def bytes_forgotten(patch: Patch) -> None:
    """Nobody asks whether the right run writes what is read."""
    patch.setattr(Source, "goals", lambda _: [])


def lag_off_by_one(patch: Patch) -> None:
    sound = phase_sources.find_lag

    def wrong(*given: object) -> tuple[int | None, bool]:
        lag, sure = sound(*given)  # type: ignore[arg-type]  # as it was called
        return None if lag is None else lag + 1, sure

    patch.setattr(reads_what_was_written, "find_lag", wrong)


FOUND_AT: dict[Callable[[Patch], None], int] = {
    later_writes_forgotten: 28,
    races_forgotten: 2,
    other_reads_count: 60,
    first_iterations_forgotten: 33,
    bytes_forgotten: 7,
    lag_off_by_one: 1,
}
"""Each with a seed that finds it."""


@pytest.mark.parametrize("plant", share(FOUND_AT, 2), ids=lambda plant: plant.__name__)
def test_a_planted_misreading_of_phases_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    assert first_disagreement([FOUND_AT[plant]], "phases") is None
    plant(monkeypatch)
    assert first_disagreement([FOUND_AT[plant]], "phases") is not None

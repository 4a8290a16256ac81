"""Random pairs of accesses: no launch contradicts what is said of values that are stored without an order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from swzverify.compiled.scan import race_values
from swzverify.compiled.scan.given import Given
from tests.nightly import found_at
from tests.order.conftest import races_in

from .random_judge import CannotRunError, said_of
from .random_stores import launches, marked, stores

BY_DAY = range(24)
BY_NIGHT = range(1000, 3000)


def judged(seed: int) -> str:
    """What the launches of a random kernel say of the package's answer."""
    drawn = stores(seed)
    given = Given() if drawn.number is None else Given((f"n={drawn.number}",))
    said = said_of(races_in(drawn.text, drawn.block, given))
    try:
        return marked(said, drawn, launches(drawn))
    except CannotRunError as error:
        return f"cannot run: {error}"


def wrong(seeds: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """How often each answer came, and the wrong ones."""
    answers = {seed: judged(seed) for seed in seeds}
    bad = [f"seed {seed}: {each}" for seed, each in answers.items() if each.startswith(("WRONG", "FALSE"))]
    return Counter(answers.values()), bad


@pytest.mark.parametrize("seeds", [BY_DAY, pytest.param(BY_NIGHT, marks=pytest.mark.nightly)], ids=str)
def test_no_launch_contradicts_the_package(seeds: range) -> None:
    total, bad = wrong(seeds)
    print(dict(total))
    assert bad == []


@found_at(15, 60)
def test_planted_mistake(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored values are taken to be the same ones in all launches."""
    assert not wrong(seeds)[1]
    monkeypatch.setattr(race_values, "_may_vary", lambda *_: False)
    assert wrong(seeds)[1]

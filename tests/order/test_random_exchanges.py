"""What two warpgroups hand to each other: right kernels are free, and none with a mistake is."""

from __future__ import annotations

from collections import Counter

import pytest

from swzverify.compiled.scan import races
from tests.nightly import counts
from tests.order.conftest import races_in

from .random_exchanges import exchange


class NoRuns:
    """Stands for the runs that look for witnesses."""

    def __init__(self, *_: object, **__: object) -> None:
        """Take what runs are made of."""

    def confirmed(self, found: races.KernelRaces, _: object) -> races.KernelRaces:
        return found


def verdict(text: str) -> str:
    return races_in(text, (256, 1, 1), target="sm_90a").verdict.value


@pytest.mark.parametrize("count", counts(2, 12))
def test_what_has_no_mistake_is_free(count: int) -> None:
    """Of a few, the runs of threads have too many states."""
    found = Counter(verdict(exchange(seed, -1)[0]) for seed in range(count))
    assert found["free"] > 2 * count // 3
    assert found["free"] + found["unknown"] == count


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_no_mistake_is_free(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races, "Runs", NoRuns)
    right, chances = exchange(seed, -1)
    for mistake, what in enumerate(chances):
        wrong, _ = exchange(seed, mistake)
        assert wrong != right, what
        assert verdict(wrong) != "free", what

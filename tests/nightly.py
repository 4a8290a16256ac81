"""Long runs: a share in the ordinary run, the rest marked `nightly`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

SPARSER = 2
"""How much sparser than each list asks the ordinary run takes all of them, so that it ends in minutes."""


def share(values: Iterable[Any], every: int) -> list[Any]:
    """The values as parameters, of which one in `SPARSER * every` is part of the ordinary run.

    >>> [bool(each.marks) for each in share(range(5), 2)]
    [False, True, True, True, False]
    """
    step = SPARSER * every
    return [pytest.param(each, marks=[pytest.mark.nightly] * (at % step > 0)) for at, each in enumerate(values)]


def counts(day: int, night: int) -> list[Any]:
    """How many examples a test takes, as parameters: few in the ordinary run, and many in the long one.

    >>> [(each.values, bool(each.marks)) for each in counts(3, 100)]
    [((3,), False), ((100,), True)]
    """
    return [pytest.param(day), pytest.param(night, marks=pytest.mark.nightly)]


def found_at(seed: int, most: int) -> pytest.MarkDecorator:
    """The parameter `seeds` of a planted mistake: the seed that finds it, and all seeds in the long run.

    >>> [each.values for each in found_at(7, 100).args[1]]
    [(range(7, 8),), (range(0, 100),)]
    """
    both = [pytest.param(range(seed, seed + 1)), pytest.param(range(most), marks=pytest.mark.nightly)]
    return pytest.mark.parametrize("seeds", both, ids=["remembered", "searched"])

"""In a narrow range of values every iteration of an open loop can be run through, and says what the
few say.
"""

from __future__ import annotations

import pytest

from . import access_forms, accesses, c_expr, courses, existence, open_loops
from .brute_force import Judgement, OracleAmbiguousError, OracleError, judge
from .random_parts import seeded
from .random_small_loops import MOST_OF_ONE, MOST_OF_TWO, small_spec
from .yaml_values import Spec

MODULES = (c_expr, courses, access_forms, open_loops, existence)


def _narrow(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """A world of fewer values, so that an open loop can be run through."""
    for module in MODULES:
        for name, value in (("LEAST", -(most + 1) // 2), ("MOST", most)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(accesses, "PROBES", (0, 1, 2, 3))
    monkeypatch.setattr(open_loops, "MOST_POINTS", 1_000_000)


def _said(monkeypatch: pytest.MonkeyPatch, few: int, many: int, spec: Spec) -> list[Judgement] | str:
    with monkeypatch.context() as patch:
        patch.setattr(open_loops, "FEW", few)
        patch.setattr(open_loops, "MANY", many)
        try:
            return judge(spec)
        except OracleError as error:
            return error.code


@pytest.mark.parametrize(
    ("two", "seeds", "least"),
    [
        (False, range(10), 20),
        (True, range(6), 15),
        pytest.param(False, range(10, 80), 130, marks=pytest.mark.nightly),
        pytest.param(True, range(6, 25), 40, marks=pytest.mark.nightly),
    ],
)
def test_few_iterations_stand_for_all(monkeypatch: pytest.MonkeyPatch, two: bool, seeds: range, least: int) -> None:
    """In a narrow range every iteration can be run through, and says what the few that stand for
    them say.
    """
    _narrow(monkeypatch, MOST_OF_TWO if two else MOST_OF_ONE)
    compared = 0
    for seed in seeds:
        spec = small_spec(seeded(seed), two=two)
        claims = spec["claims"]
        assert isinstance(claims, list)
        for claim in claims:
            try:
                few = _said(monkeypatch, 6, 40, {**spec, "claims": [claim]})
            except OracleAmbiguousError:
                continue
            assert _said(monkeypatch, 1_000_000, 0, {**spec, "claims": [claim]}) == few, (seed, claim)
            compared += 1
    assert compared > least

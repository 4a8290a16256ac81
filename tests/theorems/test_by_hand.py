"""The statements against brute force: what Z3 proves at 32 bits holds at small sizes, and what it
refutes does not.
"""

from __future__ import annotations

import pytest

from swzverify.apps.theorems import Outcome, Theorem
from swzverify.apps.theorems.discover import find_theorems
from tests.theorems import orders_by_hand
from tests.theorems.by_hand import CHECKS

assert orders_by_hand  # its import adds its checks

THEOREMS = find_theorems()


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.name)
def test_brute_force_agrees(theorem: Theorem):
    assert CHECKS[theorem.name]() == (theorem.expected is Outcome.PROVED)


def test_there_is_no_check_without_a_theorem():
    assert set(CHECKS) == {theorem.name for theorem in THEOREMS}

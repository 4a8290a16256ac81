"""What lowering refuses, word for word; values at the edge of each refusal; and how much it may
enumerate.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir import c_lower
from swzverify.ir import integers as ints
from swzverify.ir.c_lower import lower
from swzverify.ir.c_parse import parse
from swzverify.ir.formula import Enumeration, Reading, no_enumeration
from tests.ir.reference import grid

LIMITS = {"tid": 24, "k": 3, "big": 2**31}


def every(names: frozenset[str]) -> Mapping[str, NDArray[np.int64]] | None:
    """All values of the names asked for, unless one of them has too many."""
    return None if "big" in names else grid({name: limit for name, limit in LIMITS.items() if name in names})


def lowered(text: str, enumerate_names: Enumeration) -> ints.Integer:
    reading = Reading({name: ints.named(name, limit) for name, limit in LIMITS.items()}, enumerate_names)
    return lower(parse(text), reading)


JUDGED = "judged over every value of its variables, before `if` and `assume` apply"
WIDE = "C leaves a shift of 32 or more undefined"
TIGHT = f"{WIDE}; + and - bind tighter than << and >>: did you mean parentheses around the shift?"
BOUND = "bound its variables, or write it so that no step grows that large"

# text, whether values may be enumerated, code and message, hint
REFUSED = [
    ("1 / tid", True, "SWZ305: the divisor 'tid' can be 0", JUDGED),
    ("1 / tid", False, "SWZ305: the divisor 'tid' cannot be shown to differ from 0", JUDGED),
    ("1 % (tid - 23)", True, "SWZ305: the divisor 'tid - 23' can be 0", JUDGED),
    (
        "1 / (tid * 2 - 1)",
        True,
        "SWZ305: the divisor 'tid * 2 - 1' goes from -1 to 45: swzverify reads only divisors that keep one sign",
        JUDGED,
    ),
    ("1 << 32", True, "SWZ304: the shift amount '32' goes from 32 to 32: it must lie in 0..31", WIDE),
    ("1 << k * 16", True, "SWZ304: the shift amount 'k * 16' goes from 0 to 32: it must lie in 0..31", WIDE),
    ("1 << k * 16", False, "SWZ304: the shift amount 'k * 16' can go from 0 to 32: it must lie in 0..31", WIDE),
    ("1 >> k - 1", True, "SWZ304: the shift amount 'k - 1' goes from -1 to 1: it must lie in 0..31", TIGHT),
    ("1 >> 30 + k", True, "SWZ304: the shift amount '30 + k' goes from 30 to 32: it must lie in 0..31", TIGHT),
    ("tid * 4294967295", True, "SWZ303: 'tid * 4294967295' can go from 0 to 98784247785, outside -2^31..2^32-1", BOUND),
    (
        "-4294967295",
        True,
        "SWZ303: '-4294967295' can go from -4294967295 to -4294967295, outside -2^31..2^32-1",
        BOUND,
    ),
    ("-big - 2", False, "SWZ303: '-big - 2' can go from -2147483649 to -2, outside -2^31..2^32-1", BOUND),
    ("big + big + 2", False, "SWZ303: 'big + big + 2' can go from 2 to 4294967296, outside -2^31..2^32-1", BOUND),
    ("tidy + 1", True, "SWZ301: unknown name 'tidy'", "did you mean 'tid'?"),
    ("zebra", True, "SWZ301: unknown name 'zebra'", "known names: big, k, tid"),
]


@pytest.mark.parametrize(("text", "enumerated", "said", "hint"), REFUSED)
def test_refusal(text: str, enumerated: bool, said: str, hint: str) -> None:
    with pytest.raises(SwzError) as caught:
        lowered(text, every if enumerated else no_enumeration)
    assert f"{caught.value.code}: {caught.value.message}" == said
    assert (caught.value.hint, caught.value.text) == (hint, text)
    assert caught.value.span is not None


# text, whether values may be enumerated, the range of the result
READ = [
    ("1 / (tid + 1)", False, (0, 1)),
    ("24 / (tid - 24)", False, (-24, -1)),
    ("100 / (tid * 2 % 4 + 1)", True, (25, 100)),
    ("24 / (tid % 2 * 2 - 3)", True, (-24, -8)),
    ("1 << tid % 32", False, (1, 2**23)),
    ("1 << (k ^ 3)", True, (1, 8)),
    ("1 << (tid - tid / 24 * 24)", True, (1, 2**23)),
    ("2 >> (k - 1) * (k - 1)", True, (1, 2)),
    ("-big - 1", False, (-(2**31), -1)),
    ("big + big + 1", False, (1, 2**32 - 1)),
    ("(tid * 1000000000) - (tid * 1000000000)", True, None),
]


@pytest.mark.parametrize(("text", "enumerated", "found"), READ)
def test_range(text: str, enumerated: bool, found: tuple[int, int] | None) -> None:
    if found is None:
        with pytest.raises(SwzError, match="SWZ303"):
            lowered(text, every if enumerated else no_enumeration)
        return
    value = lowered(text, every if enumerated else no_enumeration)
    assert (value.low, value.high) == found


@pytest.mark.parametrize(("budget", "read"), [(2 * 168, True), (2 * 168 - 1, False)])
def test_the_budget_is_points_times_parts(budget: int, read: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # each amount has 7 names and operators, at 24 points: 168
    amount = "(tid * tid - tid * tid)"
    text = f"(1 << {amount}) + (2 << {amount})"
    monkeypatch.setattr(c_lower, "MAX_EVALUATIONS", budget)
    if read:
        assert lowered(text, every).low == 3
        return
    with pytest.raises(SwzError, match=r"can go from -529 to 529: it must lie in 0\.\.31"):
        lowered(text, every)


def test_no_value_at_all_decides_nothing() -> None:
    def none(_: frozenset[str]) -> Mapping[str, NDArray[np.int64]]:
        return {"tid": np.zeros(0, dtype=np.int64)}

    with pytest.raises(SwzError, match="cannot be shown to differ from 0"):
        lowered("1 / tid", none)

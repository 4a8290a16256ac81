"""The scan's verdicts beside counters of kernels with a known truth: `check_truth` has the code."""

from __future__ import annotations

from typing import Any

import pytest

from swzverify.compiled.scan.measured import Status
from swzverify.errors import SwzError
from tests.scan.check_truth import KERNELS, MISSING, Held, held


def of_kernel(kernel: Any, tamper: int = 1) -> list[Held]:
    try:
        return list(held(kernel, tamper))
    except SwzError as error:
        pytest.skip(error.message)


@pytest.mark.skipif(MISSING, reason="SWZVERIFY_PTX_TRUTH names no folder with truth.json")
@pytest.mark.parametrize("kernel", KERNELS, ids=[each["kernel"] for each in KERNELS])
def test_counters_do_not_contradict_a_verdict(kernel: Any) -> None:
    for each in of_kernel(kernel):
        assert not each.lost
        assert each.found.status is not Status.DISAGREES, each


@pytest.mark.skipif(MISSING, reason="SWZVERIFY_PTX_TRUTH names no folder with truth.json")
def test_counts_that_are_doubled_contradict_every_free_verdict() -> None:
    kernel = next(each for each in KERNELS if each["kernel"].startswith("transpose_tile"))
    found = [each for each in of_kernel(kernel, tamper=2) if each.found.rows]
    assert found
    for each in found:
        assert each.found.status is Status.DISAGREES, each

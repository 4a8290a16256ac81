"""What is said of a target that is unknown or lacks an instruction, word for word."""

from __future__ import annotations

import dataclasses

import pytest

from swzverify.errors import SwzError
from swzverify.hardware import TARGETS, find_target, require


def test_unknown_target_lists_the_known_ones() -> None:
    with pytest.raises(SwzError) as caught:
        find_target("gfx942")
    assert str(caught.value) == f"SWZ402: unknown target 'gfx942'\n  known are {', '.join(TARGETS)}"


def test_lacking_target_names_the_first_that_has_it() -> None:
    with pytest.raises(SwzError) as caught:
        require("sm_75", "cp.async.4")
    assert str(caught.value) == (
        "SWZ403: target sm_75 has no cp.async.4; the first target that has it is sm_80\n"
        "  set the target to sm_80 or later, or use another instruction"
    )


@pytest.mark.parametrize("size_bytes", [-1024, 0, 1023, 1025, 1536])
def test_a_size_is_a_whole_number_of_kib(size_bytes: int) -> None:
    with pytest.raises(ValueError, match=f"^sm_90: {size_bytes} bytes is not a whole number of KiB$"):
        dataclasses.replace(TARGETS["sm_90"], shared_bytes_per_block=size_bytes)


def test_one_kib_is_a_size() -> None:
    assert dataclasses.replace(TARGETS["sm_90"], shared_bytes_per_block=1024).shared_bytes_per_block == 1024

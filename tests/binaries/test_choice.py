"""Which PTX texts count for a target."""

from __future__ import annotations

import pytest

from swzverify.compiled.binaries import Held
from swzverify.compiled.binaries.choice import chosen
from tests.binaries.fakes import ptx


def targets(*held: str, wanted: str) -> list[str]:
    return [each.target for each in chosen([Held(name, ptx(name)) for name in held], wanted)]


@pytest.mark.parametrize(
    ("held", "wanted", "found"),
    [
        (("sm_80", "sm_90", "sm_100"), "sm_90", ["sm_90"]),
        (("sm_100", "sm_90", "sm_80"), "sm_89", ["sm_80"]),
        (("sm_90", "sm_90a"), "sm_90", ["sm_90a"]),
        (("sm_90", "sm_90a"), "sm_100", ["sm_90"]),  # sm_90a runs on its own chip only
        (("sm_90a",), "sm_100", []),
        (("sm_100f", "sm_90"), "sm_103", ["sm_100f"]),
        (("sm_100f", "sm_90"), "sm_120", ["sm_90"]),  # of another family
        (("sm_103f",), "sm_100", []),
        (("sm_100",), "sm_90", []),
        (("sm_80", "sm_80"), "sm_90", ["sm_80", "sm_80"]),  # of two objects: both are scanned
        (("compute_90", "sm_", "sm_80"), "sm_90", ["sm_80"]),
    ],
)
def test_the_newest_that_runs_there(held: tuple[str, ...], wanted: str, found: list[str]) -> None:
    assert targets(*held, wanted=wanted) == found


def test_each_kernel_counts_by_itself() -> None:
    held = [
        Held("sm_80", ptx("sm_80", "a"), 1),
        Held("sm_90", ptx("sm_90", "a"), 2),
        Held("sm_80", ptx("sm_80", "b"), 3),
        Held("sm_75", ptx("sm_75", "b"), 4),
        Held("sm_70", ".version 8.3\n.target sm_70\n", 5),
    ]
    assert [each.number for each in chosen(held, "sm_90")] == [2, 3, 5]

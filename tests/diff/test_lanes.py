"""What a change of the lanes' values does to a claim."""

from __future__ import annotations

import pytest

from swzverify.apps.diff.pair import Placed, pair_claims
from swzverify.spec import parse_spec

SPEC = """
swzverify: 1
target: sm_90
accesses:
  read:
    instruction: ld.shared.b32
    threads: 32
    lanes: {{{lanes}}}
    address: {address}
    {more}
claims:
  - conflict_free: read
"""


def status(before: str, after: str, more: tuple[str, str] = ("", ""), address: str = "bin*4") -> str:
    sides = [
        [Placed("a", each) for each in parse_spec(SPEC.format(lanes=x, address=address, more=y), path="a").claims]
        for x, y in zip((before, after), more, strict=True)
    ]
    [found] = pair_claims(*sides, unread=frozenset())
    return found.status.value


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("bin: 64", "bin: 128", "strengthened"),
        ("bin: 128", "bin: 64", "weakened"),
        ("bin: 64", "bin: {bits: 6}", "unchanged"),
        ("bin: {start: 0, stop: 64, step: 4}", "bin: 61", "strengthened"),
        ("bin: 61", "bin: {start: 0, stop: 64, step: 4}", "weakened"),
        ("bin: 64, other: 2", "bin: 64", "weakened"),
        ("bin: 64", "bin: 64, other: 2", "strengthened"),
    ],
)
def test_fewer_choices_are_a_weaker_claim(before: str, after: str, wanted: str) -> None:
    assert status(before, after) == wanted


def test_a_condition_on_a_lanes_value_that_changes_counts_as_weaker() -> None:
    assert status("bin: 64", "bin: 64", ("if: bin < 9", "if: bin < 8")) == "weakened"
    assert status("bin: 64", "bin: 64", ("if: bin < 9", "if: bin < 9")) == "unchanged"

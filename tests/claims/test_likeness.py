"""Claims that state the same share a key, and no two that do not."""

from __future__ import annotations

from itertools import combinations

import pytest

from swzverify.claims.likeness import likeness
from swzverify.spec import parse_spec

HEAD = "swzverify: 1\ntarget: sm_90\n"
SPEC = """\
constants: {K: [1, 2], N: [32, 64]}
tiles:
  A: {element: f16, layout: "(8,N):(N,1)"}
  B: {element: f16, layout: "(8,64):(64,1)", base: {align: 16}}
accesses:
  read: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane/4, lane%4*2 + K - K]}
  row: {tile: B, instruction: ld.shared.b32, threads: 32, for: {i: K}, coord: [lane/4, lane%4*2 + i - i]}
  lanes: {instruction: ld.shared.b32, threads: 32, lanes: {x: N}, address: x*4}
maps:
  order: {over: {x: 4}, value: ["(x + K) % 4"], onto: [4]}
claims:
  - injective: A
  - injective: B
  - conflict_free: read
  - wavefronts: {access: read, at_most: K}
  - conflict_free: row
  - conflict_free: lanes
  - permutation: order
"""
READS = {"A": "N", "B": "", "read": "KN", "row": "K", "lanes": "N", "order": "K"}


def test_only_what_a_claim_reads_tells_cases_apart():
    spec = parse_spec(HEAD + SPEC, path="a.yaml")
    assert len(spec.claims) == 28
    for one, other in combinations(spec.claims, 2):
        if (one.line, one.kind) != (other.line, other.kind):
            assert likeness(one.claim) != likeness(other.claim)
            continue
        same = all(one.case[name] == other.case[name] for name in READS[one.subject])
        assert (likeness(one.claim) == likeness(other.claim)) is same, (one.id, other.id)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("K - K", "K - K + 0"),
        ('element: f16, layout: "(8,N)', 'element: bf16, swizzle: "Swizzle<1,1,3>", layout: "(8,N)'),
        ("align: 16", "align: 32"),
        ("for: {i: K}", "for: {i: 3}"),
        ("for: {i: K}", "for: {i: K}, if: lane < 16"),
        ("for: {i: K}", "for: {i: K}, assume: [i < 1]"),
        ("lanes: {x: N}", "lanes: {x: {start: 1, stop: N}}"),
        ("tile: B, instruction: ld.shared.b32", "tile: B, instruction: st.shared.b32"),
        ("address: x*4", "base: 4, address: x*4"),
        ("onto: [4]", "onto: [8]"),
    ],
)
def test_a_difference_in_any_part_is_one(before, after):
    first, second = (parse_spec(HEAD + text, path="a.yaml") for text in (SPEC, SPEC.replace(before, after, 1)))
    assert SPEC.replace(before, after, 1) != SPEC
    pairs = zip(first.claims, second.claims, strict=True)
    assert any(likeness(one.claim) != likeness(other.claim) for one, other in pairs)


def test_what_cannot_be_compared_is_like_nothing():
    claim = parse_spec(HEAD + SPEC, path="a.yaml").claims[0].claim
    object.__setattr__(claim.subjects[0], "name", object())
    assert likeness(claim) is None

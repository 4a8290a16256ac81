"""The constants in a tile's layout, with the lines where a spec has them."""

from __future__ import annotations

import pytest

from swzverify.spec import parse_spec

SPEC = """\
swzverify: 1
target: sm_90
constants:
  N: 32
  PAD: [0, 8]
  shape: 32
  OTHER: 4
tiles:
  A: {element: f32, layout: LAYOUT}
accesses:
  r: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, OTHER]}
  bare: {instruction: ld.shared.b32, threads: 32, address: lane*N}
claims:
  - conflict_free: r
  - conflict_free: bare
"""


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ('"(N,32):(32,1)"', [("N", 32, 4)]),
        ("{shape: [32, 32], pad: PAD}", [("PAD", 0, 5)]),
        ('"(32,32):(32+PAD,1)", swizzle: "Swizzle<1,0,N/16>"', [("PAD", 0, 5), ("N", 32, 4)]),
        ('"(32,32):(32,1)"', []),
    ],
)
def test_a_claim_knows_the_constants_of_its_tiles_layout(layout, expected):
    claims = parse_spec(SPEC.replace("LAYOUT", layout), path="a.yaml").claims
    assert [(each.name, each.value, each.line) for each in claims[0].deciding] == expected
    assert all(not claim.deciding for claim in claims if claim.subject == "bare")

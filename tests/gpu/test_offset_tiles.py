"""A device runs tiles by expression, and accesses to them, as it runs any others."""

from __future__ import annotations

from tests.gpu.specs import checked, claims_in

SPEC = """
swzverify: 1
target: sm_90
tiles:
  T: {element: u32, shape: [8, 32], offset: i*32 + (j ^ i*4), stages: 2}
  P: {element: u16, shape: {r: 8, c: 8}, address: r*20 + c*2}
  W: {element: u16, shape: {r: 8, c: 8}, address: r*14 + c*2}
accesses:
  read: {tile: T, instruction: ld.shared.v4.b32, threads: 64, coord: [tid/8, tid%8*4]}
  column: {tile: T, instruction: ld.shared.b32, threads: 32, coord: [lane%8, 0]}
claims:
  - bijective: T
  - disjoint: T
  - injective: P
  - injective: W
    expect: refuted
  - contiguous: {tile: T, elements: 4}
  - contiguous: {tile: P, elements: 2}
    expect: refuted
  - in_bounds: P
  - covers: {access: read}
  - conflict_free: read
  - conflict_free: column
"""


def test_a_device_agrees() -> None:
    found = checked(claims_in(SPEC)).results["t"]
    assert all(result.agrees for result in found), [(result.agrees, result.seen.text) for result in found]

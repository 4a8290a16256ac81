"""Accesses whose lanes have values of their own are not run on a device, and that is said."""

from __future__ import annotations

from tests.gpu.specs import checked, claims_in

SPEC = """
swzverify: 1
target: sm_90
tiles:
  T: {element: u32, layout: "(8,32):(32,1)"}
accesses:
  data: {tile: T, instruction: ld.shared.b32, threads: 32, lanes: {row: 8}, coord: [row, lane]}
  plain: {tile: T, instruction: ld.shared.b32, threads: 32, coord: [0, lane]}
claims:
  - conflict_free: data
  - in_bounds: data
  - conflict_free: plain
  - bijective: T
"""


def test_what_needs_data_is_not_run() -> None:
    claims = claims_in(SPEC)
    found = checked(claims).results["t"]
    assert [result.agrees for result in found] == [None, None, True, True]
    assert all("each lane reads row" in result.seen.text for result in found[:2])

"""Accesses to global memory are not run on a device, and that is said; what stands beside them is."""

from __future__ import annotations

from tests.gpu.specs import checked, claims_in

SPEC = """
swzverify: 1
target: sm_90
tiles:
  T: {element: u32, layout: "(8,32):(32,1)"}
accesses:
  far: {instruction: ld.global.f32, threads: 32, base: {align: 256}, bytes: 128, address: tid*4}
  near: {tile: T, instruction: ld.shared.b32, threads: 32, coord: [0, lane]}
claims:
  - coalesced: far
  - in_bounds: far
  - equivalent: [far, far]
  - conflict_free: near
"""


def test_global_memory_is_not_run() -> None:
    found = checked(claims_in(SPEC)).results["t"]
    assert [result.agrees for result in found] == [None, None, None, True]
    assert all("goes to global memory" in result.seen.text for result in found[:3])

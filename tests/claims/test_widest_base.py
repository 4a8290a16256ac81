"""An open base whose alignment is the whole address range has one value; the other base must then
have it too.
"""

from __future__ import annotations

import pytest

from swzverify.claims.verdict import Outcome
from swzverify.prover import prove
from swzverify.spec import parse_spec

SPEC = """
swzverify: 1
tiles:
  t: {element: f16, layout: "(8,64):(64,1)", swizzle: {bits: 3, base: 4, shift: 3, on: address}, base: {align: 128}}
  u: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>", base: {align: 16777216}}
accesses:
  whole: {instruction: ld.shared.v4.b32, threads: 64, address: "tid*16", bytes: 1024, base: {align: 16777216}}
claims:
  - covers: {access: whole, tile: t}
  - equivalent: [t, u]
  - equivalent: [u, t]
"""


@pytest.mark.parametrize("index", range(3))
def test_the_common_base_is_the_only_one(index: int) -> None:
    claim = parse_spec(SPEC).claims[index].claim
    verdict = prove(claim)
    assert verdict.outcome is Outcome.PROVED, verdict.reason
    assert "1024" not in verdict.scope.partition("base")[2].partition(",")[0]

"""Specs that once drew a wrong answer out of the tool, or could have; each is named after what it
attacks.
"""

# ruff: noqa: E501 - a spec reads best with a subject per line
from __future__ import annotations

import pytest

from swzverify.prover import prove
from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec

ATTACKS = {
    "a_loop_named_like_a_tile_digit": (
        """
swzverify: 1
tiles: {T: {element: i8, layout: "(16,64):(64,1)", base: 0}}
accesses:
  P: {tile: T, instruction: st.shared.b8, threads: 64, for: {leaf: 16, z: 8}, coord: ["(leaf/2*2+3)%16", "tid"], if: "z==0"}
claims: [{covers: {access: P, tile: T}}]
""",
        "refuted",
    ),
    "long_shifts": (
        """
swzverify: 1
tiles: {T: {element: f32, layout: "(20,1):(1,1)", swizzle: {bits: 1, base: 4, shift: 32, on: address}}}
claims: [{injective: T}]
""",
        "proved",
    ),
    "disjoint_assumptions_are_no_equivalence": (
        """
swzverify: 1
accesses:
  P: {instruction: ld.shared.b32, threads: 32, for: {i: 4}, address: "tid*4 + i*128", assume: ["i < 2"]}
  Q: {instruction: ld.shared.b32, threads: 32, for: {i: 4}, address: "tid*4 + i*128", assume: ["i >= 2"]}
claims: [{equivalent: [P, Q]}]
""",
        "refuted",
    ),
    "maps_of_any_base": (
        """
swzverify: 1
maps:
  C:  {over: {x: 8}, value: ["base%1024 == 0 ? x : 0"], onto: [8]}
  C2: {over: {x: 8}, value: [x]}
claims: [{equivalent: [C, C2]}]
""",
        "refuted",
    ),
    "unbounded_beyond_coarse_intervals": (
        """
swzverify: 1
accesses:
  P: {instruction: ld.shared.b32, threads: 32, for: {i: any}, address: "3*i - 2*i > 1200000000 ? tid*128 : tid*4"}
claims: [{conflict_free: P}]
""",
        "refuted",
    ),
    "unbounded_beyond_enumeration": (
        """
swzverify: 1
accesses:
  P: {instruction: ld.shared.b32, threads: 32, for: {i: any}, address: "tid*4 + (i > 300000 ? tid*124 : 0) + 0*(i%1000*(1000-i%1000)*10000)"}
claims: [{conflict_free: P}]
""",
        "refuted",
    ),
    "two_unbounded_loops": (
        """
swzverify: 1
accesses:
  P: {instruction: ld.shared.b32, threads: 32, for: {i: any, j: any}, address: "tid*4 + 0*(j*(9-i)) + (i == 8 && j > 2000000000 ? tid*124 : 0)"}
claims: [{conflict_free: P}]
""",
        "refuted",
    ),
    "only_overflowing_iterations_is_vacuous": (
        """
swzverify: 1
accesses:
  P: {instruction: ld.shared.b32, threads: 32, for: {i: any, j: any}, address: "tid*4", if: "i*4 + j*4 > 4294967295"}
claims: [{conflict_free: P}]
""",
        "vacuous",
    ),
    "notation_is_no_difference": (
        """
swzverify: 1
accesses:
  P: {instruction: ld.shared.b32, threads: 64, for: {i: any}, address: "tid*4 + i*128"}
  Q: {instruction: ld.shared.b32, block: [64, 1], for: {i: any}, address: "i*128 + (tid*8)/2"}
claims: [{equivalent: [P, Q]}]
""",
        "proved",
    ),
    "an_iteration_that_only_one_has": (
        """
swzverify: 1
accesses:
  P: {instruction: ld.shared.b32, threads: 64, for: {i: any}, address: "tid*4 + i*128"}
  Q: {instruction: ld.shared.b32, threads: 64, for: {i: any}, address: "tid*4 + (i*256)/2"}
claims: [{equivalent: [P, Q]}]
""",
        "refuted",
    ),
    "different_stages": (
        """
swzverify: 1
tiles:
  P: {element: f16, layout: "(8,64):(64,1)", stages: 2}
  Q: {element: f16, layout: "(8,64):(64,1)", stages: 3}
accesses:
  a: {tile: P, instruction: ld.shared.b16, threads: 32, coord: [0, tid]}
  b: {tile: Q, instruction: ld.shared.b16, threads: 32, coord: [0, tid]}
claims: [{equivalent: [a, b]}]
""",
        "refuted",
    ),
    "lanes_beyond_the_block_are_not_evaluated": (
        """
swzverify: 1
tiles: {T: {element: f32, layout: "(20,1):(1,1)", base: 0}}
accesses: {P: {tile: T, instruction: st.shared.b32, threads: 20, coord: ["tid + 0/(25-tid)", 0]}}
claims: [{covers: {access: P, tile: T}}]
""",
        "proved",
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    text, expected = ATTACKS[name]
    (claim,) = parse_spec(text).claims
    verdict = prove(claim.claim)
    assert verdict.outcome == expected, verdict.reason


UNRELATED = """
swzverify: 1
memories: {m: {bytes: 4096, align: 1024}}
tiles:
  P: {element: f16, layout: "(8,64):(64,1)", base: BASE_P, swizzle: {bits: 3, base: 4, shift: 3, on: address}}
  Q: {element: f16, layout: "(8,64):(64,1)", base: BASE_Q, swizzle: "Swizzle<3,3,3>"}
claims: [{equivalent: [P, Q]}]
"""


@pytest.mark.parametrize(
    ("first", "other"),
    [
        pytest.param("{align: 16}", "0", id="open and fixed"),
        pytest.param("{in: m, offset: 16}", "{align: 16}", id="memory and open"),
        pytest.param("{in: m, offset: 16}", "0", id="memory and fixed"),
    ],
)
def test_unrelated_bases_are_refused(first: str, other: str) -> None:
    with pytest.raises(SpecError, match="not related to each other"):
        parse_spec(UNRELATED.replace("BASE_P", first).replace("BASE_Q", other))


def test_a_goal_by_one_engine_only_shows_in_the_claim() -> None:
    text, _ = ATTACKS["two_unbounded_loops"]
    (claim,) = parse_spec(text.replace("tid*124 : 0", "0 : 0")).claims
    verdict = prove(claim.claim)
    assert verdict.outcome == "proved"
    assert verdict.engines == ("z3",)
    assert "no other engine" in verdict.reason

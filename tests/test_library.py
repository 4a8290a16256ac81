"""The library of specs: every claim comes out as its file says, and every measured configuration is
in it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from swzverify.claims.verdict import Outcome, Verdict
from swzverify.prover import prove
from swzverify.spec import Spec, SpecClaim, load_spec
from tests.nightly import share

SPECS = Path(__file__).parent.parent / "specs"
FILES = sorted(path.relative_to(SPECS).as_posix() for path in SPECS.rglob("*.swz.yaml"))


@cache
def spec_of(name: str) -> Spec:
    return load_spec(SPECS / name)


@cache
def verdicts_of(name: str) -> tuple[tuple[SpecClaim, Verdict], ...]:
    return tuple((claim, prove(claim.claim)) for claim in spec_of(name).claims)


# `swzverify prove specs`, the first command of `.ci/run`, proves all files.
@pytest.mark.parametrize("name", share(FILES, 2), ids=FILES)
def test_every_claim_comes_out_as_expected(name: str) -> None:
    wrong = [
        f"line {claim.line}, {claim.subject} {claim.kind} {dict(claim.case)}: expected {claim.expected}, "
        f"is {verdict.outcome} ({verdict.reason})"
        for claim, verdict in verdicts_of(name)
        if verdict.outcome is not claim.expected
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", share(FILES, 2), ids=FILES)
def test_every_proof_has_two_engines_and_every_refutation_a_replayed_case(name: str) -> None:
    for claim, verdict in verdicts_of(name):
        if verdict.outcome is Outcome.PROVED:
            # Where the formula is true as built, nothing is left to ask Z3: then the definition is
            # enumerated.
            assert {"z3"} <= set(verdict.engines) or {"exhaustion", "folding"} <= set(verdict.engines), claim.id
            assert len(verdict.engines) >= 2, f"{claim.id}: {verdict.reason}"
        if verdict.outcome is Outcome.REFUTED:
            assert verdict.counterexample is not None, claim.id
            assert verdict.engines[-1] in {"replay", "arithmetic"}, claim.id


@pytest.mark.parametrize("name", FILES)
def test_every_file_says_where_it_is_from_and_why_a_claim_fails(name: str) -> None:
    spec = spec_of(name)
    assert spec.title
    assert len(spec.source) > 20
    assert spec.claims
    for claim in spec.claims:
        if claim.expected is not Outcome.PROVED:
            assert len(claim.because) > 10, f"{name} line {claim.line}"


def test_the_library_is_large_and_has_all_kinds() -> None:
    claims = [claim for name in FILES for claim in spec_of(name).claims]
    lines = {(claim.id.split("::")[0], claim.line, claim.kind, claim.subject.split("[")[0]) for claim in claims}
    assert len(FILES) >= 60
    assert len(lines) >= 300
    assert len({claim.kind for claim in claims}) == 17
    assert {claim.expected for claim in claims} >= {Outcome.PROVED, Outcome.REFUTED, Outcome.VACUOUS}
    # each kind is seen to fail somewhere, or its expectations would prove little
    assert len({claim.kind for claim in claims if claim.expected is Outcome.REFUTED}) == 17


class Config(NamedTuple):
    """One access that was run on an H100: wavefronts of a warp instruction, and the minimum."""

    file: str
    access: str
    instruction: str
    wavefronts: int
    minimum: int


CONFIGS = [
    # f16 64-wide K-major, Swizzle<3,3,3>; without a swizzle; 32-wide, Swizzle<2,3,3>
    Config("cute/sm80_f16_k64", "read", "ldmatrix.x4", 4, 4),
    Config("cute/sm80_f16_k64", "read_plain", "ldmatrix.x4", 32, 4),
    Config("cute/sm80_f16_k32", "read", "ldmatrix.x4", 4, 4),
    # f16 128-wide: Swizzle<3,3,3> takes the wrong bits, Swizzle<3,3,4> the right ones
    Config("cute/f16_wide_rows", "read_wrong", "ldmatrix.x4", 8, 4),
    Config("cute/f16_wide_rows", "read_right", "ldmatrix.x4", 4, 4),
    # f16 64-wide padded to 72; M-major
    Config("padding/f16_rows_of_72", "read", "ldmatrix.x4", 4, 4),
    Config("cute/sm80_f16_m_major", "read", "ldmatrix.x4.trans", 4, 4),
    # f32 32x64, a column under Swizzle<5,0,6>, <5,0,8>, <5,2,6>, <5,2,8>
    Config("published/lei_mao_f32_32x64", "column_506", "ld.shared.b32", 1, 1),
    Config("published/lei_mao_f32_32x64", "column_508", "ld.shared.b32", 4, 1),
    Config("published/lei_mao_f32_32x64", "column_526", "ld.shared.b32", 4, 1),
    Config("published/lei_mao_f32_32x64", "column_528", "ld.shared.b32", 16, 1),
    # int8 8x128, Swizzle<3,4,3>; f16 8x64, Swizzle<3,3,3> and none
    Config("published/lei_mao_int8_8x128", "column", "ld.shared.v4.b32", 4, 4),
    Config("published/lei_mao_f16_8x64", "column", "ld.shared.v4.b32", 4, 4),
    Config("published/lei_mao_f16_8x64", "column_plain", "ld.shared.v4.b32", 32, 4),
    # f32 (32,16):(16,1), a column under Swizzle<4,0,4>, <4,0,5>, <3,0,4>
    Config("published/swizzle_32x16_periods", "column_404", "ld.shared.b32", 2, 1),
    Config("published/swizzle_32x16_periods", "column_405", "ld.shared.b32", 1, 1),
    Config("published/swizzle_32x16_periods", "column_304", "ld.shared.b32", 4, 1),
    # f64 32x32, a column: none, Swizzle<4,0,5>, Swizzle<5,0,5>
    Config("published/lei_mao_f64_columns", "column_plain", "ld.shared.v2.b32", 32, 2),
    Config("published/lei_mao_f64_columns", "column_405", "ld.shared.v2.b32", 2, 2),
    Config("published/lei_mao_f64_columns", "column_505", "ld.shared.v2.b32", 2, 2),
    # f32 [32][33] and [32][32]; f16 [32][33]
    Config("padding/f32_columns", "column_padded", "ld.shared.b32", 1, 1),
    Config("padding/f32_columns", "column_plain", "ld.shared.b32", 32, 1),
    Config("padding/f16_plus_one", "column", "ld.shared.b16", 2, 1),
    # linear, address 16t
    Config("published/linear_128", "load_128", "ld.shared.v4.b32", 4, 4),
    # CUTLASS sgemm_sm80.cu TN with ld 128, 129 and 132
    Config("padding/sgemm_sm80_tn", "write_128", "st.shared.b32", 8, 1),
    Config("padding/sgemm_sm80_tn", "write_129", "st.shared.b32", 4, 1),
    Config("padding/sgemm_sm80_tn", "write_132", "st.shared.b32", 1, 1),
    # maxas SGEMM: writeS, readAs, readBs, writeCs, readCs
    Config("sgemm_maxas/write_s", "writeS", "st.shared.v4.b32", 4, 4),
    Config("sgemm_maxas/read_a_b", "readAs", "ld.shared.v4.b32", 2, 2),
    Config("sgemm_maxas/read_a_b", "readBs", "ld.shared.v4.b32", 2, 2),
    Config("sgemm_maxas/epilogue_c", "writeCs", "st.shared.v4.b32", 8, 4),
    Config("sgemm_maxas/epilogue_c", "readCs", "ld.shared.b32", 1, 1),
]


@pytest.mark.parametrize("config", CONFIGS, ids=[f"{config.file}-{config.access}" for config in CONFIGS])
def test_measured_configurations_cost_what_was_measured(config: Config) -> None:
    found = [
        (claim, verdict)
        for claim, verdict in verdicts_of(config.file + ".swz.yaml")
        if claim.subject == config.access and claim.kind in {"conflict_free", "wavefronts"}
    ]
    assert found
    for claim, verdict in found:
        assert claim.claim.access.instruction.name == config.instruction  # type: ignore[union-attr]  # by their kind
        assert verdict.measure is not None
        assert verdict.measure.exact
        assert (verdict.measure.wavefronts, verdict.measure.minimum) == (config.wavefronts, config.minimum)
        assert verdict.measure.bank_conflicts == config.wavefronts - config.minimum
        if claim.kind == "conflict_free":
            assert (verdict.outcome is Outcome.PROVED) == (config.wavefronts == config.minimum)
        else:
            bound = claim.claim.at_most  # type: ignore[union-attr]  # by its kind
            assert (verdict.outcome is Outcome.PROVED) == (config.wavefronts <= bound)


class Fact(NamedTuple):
    """A claim that needs no counter, with its truth; `said` is part of the reason."""

    file: str
    subject: str
    kind: str
    outcome: Outcome
    said: str = ""


PROVED, REFUTED = Outcome.PROVED, Outcome.REFUTED
FACTS = [
    # element swizzles against TMA's modes: exactly when the base is a multiple of 1024, 512, 256
    Fact("tma/base_alignment_128b", "cute_1024,tma_1024", "equivalent", PROVED),
    Fact("tma/base_alignment_128b", "cute_512,tma_512", "equivalent", REFUTED, "multiple of 1024,"),
    Fact("tma/base_alignment_128b", "cute_128,tma_128", "equivalent", REFUTED, "multiple of 1024,"),
    Fact("tma/base_alignment_64b_32b", "cute_64b,tma_64b", "equivalent", PROVED),
    Fact("tma/base_alignment_64b_32b", "cute_64b_256,tma_64b_256", "equivalent", REFUTED, "multiple of 512,"),
    Fact("tma/base_alignment_64b_32b", "cute_32b,tma_32b", "equivalent", PROVED),
    Fact("tma/base_alignment_64b_32b", "cute_32b_128,tma_32b_128", "equivalent", REFUTED, "multiple of 256,"),
    # a reader that computes chunk ^ (row & 7) on the narrow modes
    Fact("tma/reader_64b", "tile,reader_row_and_7", "equivalent", REFUTED),
    Fact("tma/reader_32b", "tile,reader_row_and_7", "equivalent", REFUTED),
    # the universal parameters: where they hold, and N*S < 4
    Fact("published/universal_parameters", "column_n8", "conflict_free", PROVED),
    Fact("published/universal_parameters", "column_n1", "conflict_free", REFUTED),
    # XOR facts
    Fact("published/xor_facts", "tile_32", "permutation", PROVED),
    Fact("published/xor_facts", "columns_32", "permutation", PROVED),
    Fact("published/xor_facts", "aligned_block", "permutation", PROVED),
    Fact("published/xor_facts", "printed_interval", "permutation", REFUTED, "outside"),
    Fact("published/swizzle_is_an_involution", "twice_333,identity", "equivalent", PROVED),
    Fact("published/swizzle_is_an_involution", "low_bits_333,low_bits", "equivalent", PROVED),
    Fact("published/swizzle_is_an_involution", "block_243", "permutation", PROVED),
    # f16 vectors of 8 under Swizzle<3,2,3>; half rows padded by one with 128-bit accesses
    Fact("published/vectors_and_mbase", "below", "contiguous", REFUTED),
    Fact("padding/f16_plus_one", "vectors", "aligned", REFUTED, "no multiple of 16"),
]


@pytest.mark.parametrize("fact", FACTS, ids=[f"{fact.file}-{fact.subject}" for fact in FACTS])
def test_facts_that_need_no_counter(fact: Fact) -> None:
    found = [
        verdict
        for claim, verdict in verdicts_of(fact.file + ".swz.yaml")
        if claim.subject.split("[")[0] == fact.subject and claim.kind == fact.kind
    ]
    assert found
    assert any(verdict.outcome is fact.outcome and fact.said in verdict.reason for verdict in found)
    if fact.kind != "contiguous":  # which is claimed of several vector lengths
        assert {verdict.outcome for verdict in found} == {fact.outcome}

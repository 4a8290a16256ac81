"""The tables of instructions and targets: names, spellings, availability, evidence, error messages."""

from __future__ import annotations

import dataclasses

import pytest

from swzverify.errors import SwzError
from swzverify.hardware import (
    EVIDENCE,
    GLOBAL_INSTRUCTIONS,
    INSTRUCTIONS,
    TARGETS,
    Evidence,
    Instruction,
    Kind,
    basis,
    evidence,
    find_instruction,
    find_target,
    require,
)

DESIGNED = [
    *(f"{op}.shared.{s}" for op in ("ld", "st") for s in ("b8", "b16", "b32", "b64", "v2.b32", "v4.b32", "v2.b64")),
    *(f"{op}.x{n}{trans}" for op in ("ldmatrix", "stmatrix") for trans in ("", ".trans") for n in (1, 2, 4)),
    *(f"cp.async.{size}" for size in (4, 8, 16)),
    "atom.shared.add.u32",
]

ALIASES = {
    "ld.shared.u8": "ld.shared.b8",
    "ld.shared.s8": "ld.shared.b8",
    "ld.shared.f16": "ld.shared.b16",
    "ld.shared.bf16": "ld.shared.b16",
    "ld.shared.v2.b8": "ld.shared.b16",
    "ld.shared.f32": "ld.shared.b32",
    "ld.shared.u32": "ld.shared.b32",
    "ld.shared.s32": "ld.shared.b32",
    "ld.shared.f16x2": "ld.shared.b32",
    "ld.shared.bf16x2": "ld.shared.b32",
    "ld.shared.v2.f16": "ld.shared.b32",
    "ld.shared.v4.b8": "ld.shared.b32",
    "ld.shared::cta.f32": "ld.shared.b32",
    "ld.volatile.shared.u32": "ld.shared.b32",
    "ld.relaxed.cta.shared.u32": "ld.shared.b32",
    "ld.shared.f64": "ld.shared.b64",
    "ld.shared.u64": "ld.shared.b64",
    "ld.shared.v2.f32": "ld.shared.v2.b32",
    "ld.shared.v4.b16": "ld.shared.v2.b32",
    "ld.shared.v4.f32": "ld.shared.v4.b32",
    "ld.shared.v4.u32": "ld.shared.v4.b32",
    "ld.shared.v4.f16x2": "ld.shared.v4.b32",
    "ld.shared.v2.f64": "ld.shared.v2.b64",
    "ld.shared.v2.u64": "ld.shared.v2.b64",
    "ld.shared.b128": "ld.shared.v2.b64",
    "ld.volatile.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%r4];": "ld.shared.v4.b32",
    "st.shared.v4.f32": "st.shared.v4.b32",
    "st.volatile.shared.v2.u32": "st.shared.v2.b32",
    "st.shared::cta.v2.f64 [%r1], {%fd1, %fd2};": "st.shared.v2.b64",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16": "ldmatrix.x1",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16": "ldmatrix.x4",
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16": "ldmatrix.x4.trans",
    "ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r1, %r2}, [%r3];": "ldmatrix.x2",
    "ldmatrix.sync.aligned.m8n8.x2.b16": "ldmatrix.x2",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16": "stmatrix.x4",
    "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16": "stmatrix.x2.trans",
    "cp.async.cg.shared.global": "cp.async.16",
    "cp.async.cg.shared.global 16": "cp.async.16",
    "cp.async.cg.shared.global [%r1], [%rd1], 16;": "cp.async.16",
    "cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16, %r2;": "cp.async.16",
    "cp.async.cg.shared::cta.global.L2::cache_hint.L2::256B [a], [b], 16, policy;": "cp.async.16",
    "cp.async.cg.16": "cp.async.16",
    "cp.async.ca.shared.global 4": "cp.async.4",
    "cp.async.ca.shared.global [%r1], [%rd1], 4;": "cp.async.4",
    "cp.async.ca.shared.global [%r1], [%rd1], 8;": "cp.async.8",
    "cp.async.ca.shared.global.8": "cp.async.8",
    "cp.async.ca.shared.global [%r1], [%rd1], 16;": "cp.async.ca.16",
    "atom.shared.add.s32": "atom.shared.add.u32",
    "red.shared.add.u32": "atom.shared.add.u32",
    "atom.shared.exch.b32": "atom.shared.add.u32",
    "red.shared.min.s32": "atom.shared.add.u32",
    "atom.shared.inc.u32": "atom.shared.add.u32",
    "atom.relaxed.gpu.shared.xor.b32": "atom.shared.add.u32",
    "red.relaxed.cta.shared::cta.add.s32 [%r1], %r2;": "atom.shared.add.u32",
    "atom.shared::cta.add.u32 %r1, [%r2], %r3;": "atom.shared.add.u32",
    "atom.relaxed.cta.shared.add.u32": "atom.shared.add.u32",
    "  ldmatrix.x4 ": "ldmatrix.x4",
}

REFUSED = {
    "ldmatrix.x5": "ldmatrix moves 1, 2 or 4 matrices",
    "ld.shared.v4.b23": "PTX has no ld of the type .b23",
    "ld.shared.b32x2": "PTX has no ld of the type .b32x2",
    "wgmma": "read through descriptors",
    "load": "known are ld.shared.b8",
    "": "unknown instruction ''",
    "ld.global.v4.f32": "it touches global memory",
    "ld.shared.v4.f64": "256 bits per lane, and an access to shared memory has at most 128",
    "ld.shared.v8.b32": "256-bit vectors exist for global memory only",
    "st.shared.v2.b128": "256 bits per lane",
    "ld.shared.v8.b16": "PTX has .v8 for 32-bit elements in global memory only",
    "ld.shared::cluster.u32": "distributed shared memory",
    "st.shared::cluster.v4.b32": "distributed shared memory",
    "red.shared::cluster.add.u32": "distributed shared memory",
    "red.shared.add.u64": "were not measured",
    "atom.shared::cluster.add.u32": "distributed shared memory",
    "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8": ".m8n8 of .b16 is known",
    "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64": ".m8n8 of .b16 is known",
    "cp.async.ca.shared.global [%r1], [%rd1]": "does not say how many bytes",
    "cp.async.ca.shared.global": "does not say how many bytes",
    "cp.async.ca.shared.global [%r1], [%rd1], 12;": "cp.async copies 4, 8 or 16",
    "cp.async.cg.shared.global [%r1], [%rd1], 8;": "write cp.async.8 for .ca",
    "atom.shared.add.f32": "state st.shared.b32, and claim what asks for no cost",
}


def test_every_designed_name_is_a_row_of_that_name() -> None:
    assert [find_instruction(name).name for name in DESIGNED] == DESIGNED
    assert set(INSTRUCTIONS) == {*DESIGNED, "cp.async.ca.16"}


@pytest.mark.parametrize(("spelling", "name"), ALIASES.items(), ids=ALIASES)
def test_alias(spelling: str, name: str) -> None:
    assert find_instruction(spelling).name == name


@pytest.mark.parametrize(("spelling", "said"), REFUSED.items(), ids=[name or "empty" for name in REFUSED])
def test_refused_instruction(spelling: str, said: str) -> None:
    with pytest.raises(SwzError) as caught:
        find_instruction(spelling)
    assert caught.value.code == "SWZ401"
    assert said in str(caught.value)


@pytest.mark.parametrize("row", INSTRUCTIONS.values(), ids=lambda row: row.name)
def test_rows_agree_with_the_rule_in_words(row: Instruction) -> None:
    matrix = row.kind in {Kind.LDMATRIX, Kind.STMATRIX}
    plain_load = row.kind is Kind.LOAD
    assert row.warp_wide == matrix
    assert row.joins == (plain_load and row.width_bytes >= 8)
    assert row.counts_equal_words == (row.kind in {Kind.ATOMIC, Kind.CP_ASYNC} and not row.by_octets)
    assert row.by_octets == (row.name == "cp.async.16")
    assert row.group_lanes == (8 if matrix else {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[row.width_bytes])
    assert row.address_lanes == (8 * int(row.name.split(".")[1][1:]) if matrix else 32)
    assert row.words * 4 == max(4, row.width_bytes)
    assert row.group_count * row.group_lanes == row.address_lanes
    assert row.joined_group_lanes == (2 * row.group_lanes if row.joins else row.group_lanes)
    assert row.source


@pytest.mark.parametrize(
    "change",
    [{"width_bytes": 12}, {"address_lanes": 20}, {"address_lanes": 0}, {"joins": True, "kind": Kind.STORE}],
    ids=str,
)
def test_rows_that_contradict_themselves_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"ld\.shared\.v4\.b32"):
        dataclasses.replace(INSTRUCTIONS["ld.shared.v4.b32"], **change)


SHARED_KIB = {
    "sm_70": 96, "sm_72": 96, "sm_75": 64, "sm_80": 163, "sm_86": 99, "sm_87": 163, "sm_88": 99, "sm_89": 99,
    "sm_90": 227, "sm_90a": 227, "sm_100": 227, "sm_100a": 227, "sm_100f": 227,
    "sm_101": 227, "sm_101a": 227, "sm_101f": 227, "sm_103": 227, "sm_103a": 227, "sm_103f": 227,
    "sm_110": 227, "sm_110a": 227, "sm_110f": 227,
    "sm_120": 99, "sm_120a": 99, "sm_120f": 99, "sm_121": 99, "sm_121a": 99, "sm_121f": 99,
}  # fmt: skip


def test_shared_memory_of_every_target() -> None:
    assert {name: target.shared_bytes_per_block for name, target in TARGETS.items()} == {
        name: kib * 1024 for name, kib in SHARED_KIB.items()
    }
    assert all(target.name == name and target.source for name, target in TARGETS.items())
    assert find_target("sm_121a").capability == 121


@pytest.mark.parametrize(
    ("name", "said"),
    {
        "sm90": "did you mean 'sm_90'",
        "sm_91": "known are sm_70",
        "hopper": "did you mean 'sm_90'",
        "gfx942": "known are sm_70",
    }.items(),
)
def test_unknown_target(name: str, said: str) -> None:
    with pytest.raises(SwzError) as caught:
        find_target(name)
    assert caught.value.code == "SWZ402"
    assert said in str(caught.value)


# what ptxas 12.9.86 accepts, and the first target that its refusal names
AVAILABLE = {
    "ld.shared.v4.b32": ("sm_70", []),
    "atom.shared.add.u32": ("sm_70", []),
    "ldmatrix.x4": ("sm_75", ["sm_70", "sm_72"]),
    "ldmatrix.x2.trans": ("sm_75", ["sm_70", "sm_72"]),
    "cp.async.4": ("sm_80", ["sm_70", "sm_72", "sm_75"]),
    "cp.async.16": ("sm_80", ["sm_70", "sm_72", "sm_75"]),
    "stmatrix.x4": ("sm_90", ["sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89"]),
}


@pytest.mark.parametrize(("name", "first", "lacking"), [(n, f, no) for n, (f, no) in AVAILABLE.items()], ids=AVAILABLE)
def test_availability(name: str, first: str, lacking: list[str]) -> None:
    for target in TARGETS:
        if target not in lacking:
            require(target, name)
            continue
        for asked in (require, evidence, basis):
            with pytest.raises(SwzError) as caught:
                asked(target, name)
            assert caught.value.code == "SWZ403"
            assert f"target {target} has no {name}; the first target that has it is {first}" in str(caught.value)


@pytest.mark.parametrize(
    ("target", "name", "known"),
    [
        ("sm_90", "ld.shared.b32", "measured"),
        ("sm_90a", "ldmatrix.x4.trans", "measured"),
        ("sm_90", "stmatrix.x1", "measured"),
        ("sm_90", "cp.async.16", "measured"),
        ("sm_90", "atom.shared.add.u32", "measured"),
        ("sm_90", "ld.shared.v2.b64", "measured"),
        ("sm_90", "st.shared.v2.b64", "measured"),
        ("sm_90", "ld.shared.f64", "measured"),
        ("sm_90", "stmatrix.x4.trans", "measured"),
        ("sm_90", "cp.async.ca.16", "measured"),
        ("sm_80", "ld.shared.b32", "documented"),
        ("sm_70", "st.shared.b8", "documented"),
        ("sm_121", "ld.shared.f16", "documented"),
        ("sm_80", "ld.shared.v2.b32", "assumed"),
        ("sm_100a", "ldmatrix.x4", "assumed"),
        ("sm_80", "cp.async.4", "assumed"),
        ("sm_120", "atom.shared.add.u32", "assumed"),
    ],
)
def test_evidence(target: str, name: str, known: str) -> None:
    assert evidence(target, name) == Evidence(known)
    assert basis(target, name)
    assert "\n" not in basis(target, name)


def test_evidence_covers_every_pair_and_each_row_is_needed() -> None:
    first = {
        (target, name): next(row for row in EVIDENCE if target in row.targets and name in row.instructions)
        for target in TARGETS
        for name in (*INSTRUCTIONS, *GLOBAL_INSTRUCTIONS)
    }
    assert {id(row) for row in first.values()} == {id(row) for row in EVIDENCE}
    measured = {target for (target, _), row in first.items() if row.evidence is Evidence.MEASURED}
    assert measured == {"sm_90", "sm_90a"}

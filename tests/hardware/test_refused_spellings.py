"""Refused spellings, word for word, and the edges of what is accepted."""

from __future__ import annotations

import pytest

from swzverify.errors import SwzError
from swzverify.hardware import INSTRUCTIONS, find_instruction
from swzverify.hardware.spelling import canonical_name

CLUSTER = "distributed shared memory (.shared::cluster) is not modelled\n  write .shared for the own block"
WIDE = "it moves 256 bits per lane, and an access to shared memory has at most 128"
WIDE += "; 256-bit vectors exist for global memory only"
UNSIZED = "it does not say how many bytes it copies\n  add the size: 4, 8 or 16"

# spelling: what stands after "instruction '...' is not in the table: "
REFUSED = {
    "ld.shared::cluster.u32": CLUSTER,
    "ldmatrix.sync.aligned.m8n8.x4.shared::cluster.b16": CLUSTER,
    "cp.async.ca.shared::cluster.global": CLUSTER,
    "atom.shared::cluster.add.u32": CLUSTER,
    "ld.shared.v4.f64": WIDE,
    "ld.shared.v8.b16": "PTX has .v8 for 32-bit elements in global memory only",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b8": "shape .m8n8 of .b8 has not been measured; .m8n8 of .b16 is known",
    "ldmatrix.sync.aligned.m16n16.x2.shared.b16": "shape .m16n16 of .b16 has not been measured; .m8n8 of .b16 is known",
    "cp.async.ca.shared.global": UNSIZED,
    "cp.async.ca.shared.global.3": "it copies 3 bytes per lane, and cp.async copies 4, 8 or 16",
    "cp.async.cg.shared.global.8": (
        "it copies 8 bytes per lane, and cp.async.cg copies 16\n  write cp.async.8 for .ca"
    ),
}


@pytest.mark.parametrize(("spelling", "reason"), REFUSED.items(), ids=REFUSED)
@pytest.mark.parametrize("operands", ["", ";"])
def test_refusal_names_the_instruction_and_says_why(spelling: str, reason: str, operands: str) -> None:
    with pytest.raises(SwzError) as caught:
        canonical_name(spelling + operands)
    assert str(caught.value) == f"SWZ401: instruction '{spelling}' is not in the table: {reason}"


@pytest.mark.parametrize(
    "spelling", ["ld.shared.b32X", "ld.shared.b32x2", "ld.shared.u16x2", "ld.shared.f32x2", "bar.sync"]
)
def test_no_access_to_shared_memory(spelling: str) -> None:
    assert canonical_name(spelling) is None


def test_unknown_instruction_lists_the_known_ones() -> None:
    with pytest.raises(SwzError) as caught:
        find_instruction("load")
    assert str(caught.value) == f"SWZ401: unknown instruction 'load'\n  known are {', '.join(INSTRUCTIONS)}"

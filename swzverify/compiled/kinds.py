"""The registries of what a scan claims: of every access beside its cost, of operands of the tensor core, of order.

Nothing is imported here: `--help` lists the failures. `compiled/scan/claims.py` calls what judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ScanClaim:
    """A claim that a scan makes of every access.

    kind: The claim's name, as specs have it.
    adjective: What the access is if the claim holds.
    failure: What `--fail-on` calls an access that breaks the claim.
    judge: The module in `compiled/scan/` and its function that judges an access.
    meaning: The claim in one sentence, for reports that list rules.
    help: What to do about an access that breaks it.
    """

    kind: str
    adjective: str
    failure: str
    judge: tuple[str, str]
    meaning: str
    help: str


SCAN_CLAIMS: Final = (
    ScanClaim(
        "aligned",
        "aligned",
        "misaligned",
        ("aligned", "aligned"),
        "Each lane's address is a multiple of the bytes that it touches.",
        "The compiled kernel has an access whose address is not a multiple of its width: it faults. Align the "
        "rows and the start address of the array to the vector's width, or use a narrower type.",
    ),
    ScanClaim(
        "in_bounds",
        "in bounds",
        "out-of-bounds",
        ("bounds", "in_bounds"),
        "Each lane touches bytes of its array only.",
        "The compiled kernel has an access that leaves the shared array that its address begins with. Make the "
        "array larger, or guard the access; the message has the lane, the bytes and the parameters.",
    ),
)
DELIVERS: Final = ScanClaim(
    "delivers",
    "delivered",
    "wrong-elements",
    ("delivers", "delivers"),
    "An operand of the tensor core holds an affine part of one matrix, and A and B start at the same column of K.",
    "The compiled kernel copies elements to other places than those where the tensor core reads them. Compare the "
    "swizzle of the copies with the swizzle mode, the strides and the start of the descriptor, and each step "
    "along K with 32 bytes; the message has the first element that is wrong.",
)
OPERAND_CLAIMS: Final = (
    *SCAN_CLAIMS,
    ScanClaim(
        "reserved_bits",
        "with reserved bits of 0",
        "bad-descriptor",
        ("operand_claims", "reserved_bits"),
        "A matrix descriptor has no bit outside of its fields.",
        "The compiled kernel has a matrix descriptor with bits outside of its fields. Shift byte offsets by 4, mask "
        "them to 14 bits, and look for a sum of the start address that carries into the next field.",
    ),
    DELIVERS,
)
"""What a scan claims of every operand that the tensor core reads through a matrix descriptor."""


@dataclass(frozen=True, slots=True)
class RaceClaim:
    """A claim on the order of a kernel's accesses to shared memory.

    `failure` is what `--fail-on` calls a finding that breaks the claim, `meaning` the claim in one
    sentence, and `help` what to do about such a finding.
    """

    kind: str
    failure: str
    meaning: str
    help: str


RACE_FREE: Final = RaceClaim(
    "race_free",
    "race",
    "Barriers order the accesses of two threads to one byte of shared memory if one of them writes, and all threads "
    "of a block reach each of its barriers.",
    "The compiled kernel has two accesses that no barrier orders, or a barrier that some threads do not reach. Put a "
    "barrier between the accesses, on a path that all threads take; the message has the threads and the byte.",
)
ONE_WRITER: Final = RaceClaim(
    "one_writer",
    "race-benign",
    "No two threads write one byte of shared memory without an order, not even the same value.",
    "Several threads write one value to one byte, and no barrier orders them. Let one thread write it.",
)
RACE_CLAIMS: Final = (RACE_FREE, ONE_WRITER)

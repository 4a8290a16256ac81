"""`register_conflict_free`: no instruction of a listing waits for a bank of the register file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swzverify.claims.form import Form, Role
from swzverify.claims.listing_claim import ListingClaim
from swzverify.subjects.listing import Listing


@dataclass(frozen=True, slots=True)
class RegisterConflictFree(ListingClaim):
    """The listing has no register bank conflict.

    >>> from swzverify.prover import prove
    >>> from swzverify.subjects.listing import ListedInstruction, RegisterRead, Work
    >>> reads = tuple(RegisterRead(register, slot) for register, slot in ((4, 2), (5, 3), (0, 4)))
    >>> one = Listing("one", "sm_52", (ListedInstruction(1, "FFMA R0, R4, R5, R0", Work.ARITHMETIC, reads, (0,)),))
    >>> print(prove(RegisterConflictFree(one)).reason)
    FFMA R0, R4, R5, R0: R4 and R0 lie in bank 0, 1 extra cycle
    """

    kind: ClassVar[str] = "register_conflict_free"
    form = Form(
        title="No register bank conflicts.",
        says="no arithmetic instruction of this listing waits for a bank of the register file",
        roles=(Role.LISTING,),
        examples=("inner_loop", {"listing": "inner_loop"}),
    )
    listing: Listing

    @property
    def limit(self) -> int:
        """No conflict is allowed."""
        return 0

"""`register_conflicts`: a listing has at most so many register bank conflicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swzverify.claims.form import Direction, Form, Named, Number, Role
from swzverify.claims.listing_claim import ListingClaim
from swzverify.errors import SwzError
from swzverify.ir.whole import keep_whole
from swzverify.subjects.listing import Listing


@dataclass(frozen=True, slots=True)
class RegisterConflicts(ListingClaim):
    """The listing has at most `at_most` register bank conflicts, each instruction counted once."""

    kind: ClassVar[str] = "register_conflicts"
    form = Form(
        title="A bound of the register bank conflicts.",
        says="the instructions of this listing have at most so many register bank conflicts in all",
        roles=(Role.LISTING,),
        examples=({"listing": "inner_loop", "at_most": 8},),
        keys=(
            Named(Role.LISTING, "the name of a listing", "inner_loop"),
            Number(
                "at_most",
                "conflicts of the whole listing, each instruction counted once",
                (8,),
                least=0,
                when_less=Direction.STRONGER,
            ),
        ),
        keys_title="At most so many register bank conflicts in a listing.",
    )
    listing: Listing
    at_most: int

    def __post_init__(self) -> None:
        """Refuse what cannot be a number of conflicts."""
        self.check_subjects()
        keep_whole(self, "register_conflicts", "at_most")
        if self.at_most < 0:
            raise SwzError("SWZ105", f"register_conflicts at_most {self.at_most}: a listing has at least 0")

    @property
    def limit(self) -> int:
        """The conflicts that the claim allows."""
        return self.at_most

"""`wavefronts`: a warp instruction takes at most so many wavefronts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.form import Direction, Form, Named, Number, Role
from swzverify.errors import SwzError
from swzverify.subjects import Access


@dataclass(frozen=True, slots=True)
class Wavefronts(CostClaim):
    """No warp instruction takes more than `at_most` wavefronts."""

    kind: ClassVar[str] = "wavefronts"
    form = Form(
        title="A bound of the cost.",
        says="a warp instruction of this access takes at most so many wavefronts",
        roles=(Role.ACCESS,),
        examples=({"access": "write_A", "at_most": 4},),
        keys=(
            Named(Role.ACCESS, "the name of an access", "read_A"),
            Number("at_most", "wavefronts of one warp instruction", (4,), when_less=Direction.STRONGER),
        ),
        keys_title="At most so many wavefronts per warp instruction.",
    )
    access: Access
    at_most: int

    def __post_init__(self) -> None:
        """Refuse a bound that nothing can keep."""
        self.check_subjects()
        if self.at_most < 1:
            raise SwzError("SWZ105", f"wavefronts at_most {self.at_most}: an access takes at least 1")

    @property
    def limit(self) -> int:
        """The bound."""
        return self.at_most

    def scope(self) -> str:
        """Every warp instruction."""
        return f"at most {self.at_most}: {CostClaim.scope(self)}"

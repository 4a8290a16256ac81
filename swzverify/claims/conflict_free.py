"""`conflict_free`: no warp instruction of an access has a bank conflict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.form import OF_AN_ACCESS, Form, Role
from swzverify.subjects import Access


@dataclass(frozen=True, slots=True)
class ConflictFree(CostClaim):
    """No warp instruction has a bank conflict."""

    kind: ClassVar[str] = "conflict_free"
    form = Form(
        title="No bank conflicts.",
        says="this access has no bank conflicts",
        roles=(Role.ACCESS,),
        examples=OF_AN_ACCESS,
    )
    access: Access

    @property
    def limit(self) -> None:
        """The minimum of the active lanes."""
        return None

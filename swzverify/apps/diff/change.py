"""What differs between two claims: one record per difference, with the way that it goes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from swzverify.claims.form import Direction


class Aspect(StrEnum):
    """What of a claim differs: where it speaks, what it says there, or of which kernel."""

    DOMAIN = "domain"
    STATEMENT = "statement"
    SUBJECT = "subject"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: `what` in a word or two, how it was and is, a `note` such as a lost point."""

    aspect: Aspect
    direction: Direction
    what: str
    before: str
    after: str
    note: str = ""

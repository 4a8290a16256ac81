"""Which claims `--select` means: those of a kind, those about a name, or one claim by its id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from swzverify.claims import KINDS
from swzverify.core import outside
from swzverify.core.outside import Group
from swzverify.errors import Problem, nearest
from swzverify.report.result import ClaimResult
from swzverify.spec import SpecClaim


def is_selected(claim: SpecClaim | ClaimResult, word: str) -> bool:
    """Whether a claim is of this kind, about this subject, or has this id, with or without its file."""
    names = {name for each in claim.subject.split(",") for name in (each, each.rpartition(":")[2])}  # `tile:A`, `A`
    if word == claim.kind or word in names:
        return True
    return word in (claim.id, claim.id.partition("::")[2], claim.subject, f"{claim.subject}::{claim.kind}")


def names_without_claims(words: Sequence[str], results: Iterable[ClaimResult]) -> Iterator[Problem]:
    """A problem for each name that selects no claim. A kind of which a spec has no claim is none."""
    found = [*results]
    for word in words:
        known = word in KINDS or outside.has(Group.CLAIMS, word)
        if not known and not any(is_selected(each, word) for each in found):
            hint = nearest(word, [*KINDS, *outside.names(Group.CLAIMS, KINDS)])
            hint = hint or "--select takes a kind, a name of the spec, or an id such as read_A::conflict_free"
            yield Problem("SWZ508", f"--select {word}: no claim has this kind or is about this name", hint)

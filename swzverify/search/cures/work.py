"""What a search may spend, counted in work and not by the clock: the same cures on every machine."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from swzverify.claims import Claim, Outcome, Verdict
from swzverify.claims.likeness import likeness
from swzverify.errors import SwzError
from swzverify.prover import Options, prove
from swzverify.search.costs import AccessCosts, cost, lanes_to_price
from swzverify.subjects import Access

MAX_CANDIDATES = 512
MAX_LANES = 1 << 22
"""Lanes that are priced, over all candidates of one kind."""
MAX_PROOFS = 64
"""Proofs that are tried, over all candidates of one kind."""
MAX_UNPRICED = 8
"""Candidates that go to the engines unpriced, as their access cannot be enumerated."""
QUICK_CANDIDATES, QUICK_LANES, QUICK_PROOFS, QUICK_CLAIMS = 128, 1 << 19, 40, 8
MAX_RLIMIT = 3_000_000
"""Z3's budget of one of those proofs."""


class SpentError(Exception):
    """The search has used up what it may spend."""


@dataclass(slots=True)
class Work:
    """The prover and the price list, with what is left of the budget."""

    options: Options
    candidates: int = MAX_CANDIDATES
    lanes: int = MAX_LANES
    proofs: int = MAX_PROOFS
    unpriced: int = MAX_UNPRICED
    _known: dict[Hashable, Verdict] = field(default_factory=dict[Hashable, Verdict])

    @staticmethod
    def within(options: Options, *, quick: bool = False, claims: int = 0) -> Work:
        """A whole budget, or a `quick` one of about a second for each `QUICK_CLAIMS` claims to keep.

        No proof may cost more than those of the run.
        """
        bounded = replace(options, rlimit=min(options.rlimit, MAX_RLIMIT), single_engine=False)
        if quick:
            times = max(1, -(-claims // QUICK_CLAIMS))
            return Work(bounded, QUICK_CANDIDATES, times * QUICK_LANES, times * QUICK_PROOFS, 0)
        return Work(bounded)

    def take(self) -> None:
        """Begin with one more candidate.

        Raises:
            SpentError: The budget is used up.
        """
        self.candidates -= 1
        if self.candidates < 0:
            raise SpentError

    def take_unpriced(self) -> None:
        """Go on with a candidate that has no price.

        Raises:
            SpentError: The budget is used up.
        """
        self.unpriced -= 1
        if self.unpriced < 0:
            raise SpentError

    def price(self, access: Access) -> AccessCosts | None:
        """The cost of an access; None if it cannot be enumerated or is misaligned.

        Raises:
            SpentError: The budget is used up.
        """
        if access.is_unbounded or access.own:
            return None
        self.lanes -= lanes_to_price(access)
        if self.lanes < 0:
            raise SpentError
        try:
            return cost(access)
        except SwzError:
            return None

    def verdict(self, claim: Claim) -> Verdict:
        """The prover's verdict, once for each claim.

        Raises:
            SpentError: The budget is used up.
        """
        key = likeness(claim)
        if key is not None and key in self._known:
            return self._known[key]
        self.proofs -= 1
        if self.proofs < 0:
            raise SpentError
        verdict = prove(claim, options=self.options)
        if key is not None:
            self._known[key] = verdict
        return verdict

    def proves(self, claim: Claim) -> bool:
        """Whether the claim is proved.

        Raises:
            SpentError: The budget is used up.
        """
        return self.verdict(claim).outcome is Outcome.PROVED

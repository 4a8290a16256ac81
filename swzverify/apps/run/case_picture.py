"""The picture of the case that breaks a claim on a cost."""

from __future__ import annotations

from swzverify.claims import Claim
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.verdict import Verdict
from swzverify.errors import SwzError
from swzverify.explain.pictures import Picture
from swzverify.explain.pictures.views.refuted import refuted


def case_picture(claim: Claim, verdict: Verdict) -> Picture | None:
    """The warp instruction of the counterexample.

    None if no cost is claimed, or if there is nothing to draw, as for a misaligned lane.
    """
    found = verdict.counterexample
    if not isinstance(claim, CostClaim) or verdict.measure is None or found is None or found.point is None:
        return None
    try:
        return refuted(claim.access, found.point)
    except SwzError:
        return None

"""The evidence of a verdict on costs: its access recorded, or its instruction calibrated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from swzverify.claims import Claim, Outcome, Verdict
from swzverify.claims.cost_claim import CostClaim
from swzverify.gpu.calibration import Calibration, load_calibration, rows_measured
from swzverify.gpu.recording import Recording, digest, load_recording
from swzverify.hardware import Evidence
from swzverify.subjects import Access


def check_evidence(recording: str | None, calibration: str | None) -> None:
    """Refuse a file that is no recording or calibration, once, instead of for every claim."""
    if recording is not None:
        load_recording(Path(recording))
    if calibration is not None:
        load_calibration(Path(calibration))


def by_recording(claim: Claim, verdict: Verdict, recording: Recording) -> Verdict:
    """The verdict with the recording's device as its evidence, if that measured this access and agreed.

    It needs every row run, bases that stand for all, and every pattern counted, all of them as the rule
    says.
    """
    access = _priced(claim, verdict)
    if access is None or access.target.capability != recording.capability:
        return verdict
    found = recording.subjects.get(digest(access))
    if found is None or not (found.agrees and found.whole) or found.cost is None or not found.cost.agrees:
        return verdict
    if not 0 < found.cost.patterns == found.cost.counted:
        return verdict
    return _labelled(verdict, recording.device)


def by_calibration(claim: Claim, verdict: Verdict, calibration: Calibration) -> Verdict:
    """The verdict with the calibration's device as its evidence, if the target was not measured so far.

    It needs every pattern of the instruction to have kept the rule, on a device of the target's
    capability.
    """
    access = _priced(claim, verdict)
    if access is None or verdict.evidence == Evidence.MEASURED:
        return verdict
    about = calibration.about
    if access.target.capability != about.capability or access.instruction.name not in rows_measured(calibration):
        return verdict
    return _labelled(verdict, about.device)


def _priced(claim: Claim, verdict: Verdict) -> Access | None:
    """The access of a decided claim on costs; None for other claims, which need no evidence."""
    if not isinstance(claim, CostClaim) or verdict.outcome not in (Outcome.PROVED, Outcome.REFUTED):
        return None
    return claim.access


def _labelled(verdict: Verdict, device: str) -> Verdict:
    evidence = f"measured on {device}"
    return replace(verdict, evidence=evidence, scope=verdict.scope.replace(f"({verdict.evidence})", f"({evidence})"))

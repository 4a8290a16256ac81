"""Certificates of a run: one for each proved claim as it is proved, and their list at the end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from swzverify.certificates.folder import save_list
from swzverify.claims.verdict import Outcome
from swzverify.report.result import ClaimResult
from swzverify.run.version import installed_version

if TYPE_CHECKING:  # the process that hands out the work lists certificates, and neither reads specs nor proves
    from swzverify.prover import Judgement
    from swzverify.spec import Spec, SpecClaim


def certify_claim(folder: str, spec: Spec, claim: SpecClaim, judgement: Judgement) -> None:
    """Write the certificate of a proved claim; nothing for other claims.

    Errors: SWZ606 where it cannot be written, SWZ607 where the proof cannot be stated.
    """
    if judgement.verdict.outcome is not Outcome.PROVED:
        return
    from swzverify.certificates.make import Claimed, certify  # noqa: PLC0415 - with the engines, in the worker only

    claimed = Claimed(claim.id, spec.path, spec.text, claim.line, claim.case)
    certify(folder, claimed, judgement, certificate_versions())


def list_certificates(folder: str, results: Sequence[ClaimResult]) -> None:
    """Write the list of a run that has ended."""
    proved = [result.id for result in results if result.verdict.outcome is Outcome.PROVED]
    save_list(folder, proved, certificate_versions())


@lru_cache(maxsize=1)
def certificate_versions() -> dict[str, str]:
    """The versions of the programs that proved a claim, by name."""
    return {name: installed_version(name) for name in ("swzverify", "z3-solver", "numpy")}

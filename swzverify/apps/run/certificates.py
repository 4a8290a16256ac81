"""Certificates of a run: one for each proved claim as it is proved, and their list at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from swzrecheck.errors import CertificateError
from swzverify.apps.run.version import installed_version
from swzverify.claims.verdict import Outcome
from swzverify.errors import SwzError
from swzverify.report.result import ClaimResult

if TYPE_CHECKING:  # the process that hands out the work lists certificates, and neither reads specs nor proves
    from swzverify.compiled.scan import ScannedAccess
    from swzverify.prover import Judgement
    from swzverify.report.scan import ScannedFile
    from swzverify.spec import Spec, SpecClaim


def certify_claim(folder: str, spec: Spec, claim: SpecClaim, judgement: Judgement) -> None:
    """Write the certificate of a proved claim; nothing for other claims.

    Raises:
        SwzError: SWZ607 if the proof cannot be stated.
        CertificateError: SWZ606 if the certificate cannot be written.
    """
    if judgement.verdict.outcome is not Outcome.PROVED:
        return
    from swzverify.certificates.make import Claimed, certify  # noqa: PLC0415 - with the engines, in the worker only

    claimed = Claimed(claim.id, spec.path, spec.text, claim.line, claim.case)
    certify(folder, claimed, judgement, certificate_versions())


def certify_accesses(folder: str, path: str, text: str, accesses: Iterable[ScannedAccess]) -> tuple[ScannedAccess, ...]:
    """The accesses of a function, with certificates for the free ones.

    Each free access has the id of the certificate that is written, or the reason for none.
    """
    from swzverify.certificates.make_kernels import KernelText, certify_access  # noqa: PLC0415 - as above
    from swzverify.compiled.scan import Verdict  # noqa: PLC0415 - as above

    found: list[ScannedAccess] = []
    taken: dict[str, None] = {}
    for access in accesses:
        if access.decision.verdict is not Verdict.FREE:
            found.append(access)
            continue
        try:
            identity = certify_access(folder, KernelText(path, text), access, taken, certificate_versions())
        except (SwzError, CertificateError) as error:
            found.append(replace(access, no_certificate=error.message))
            continue
        taken[identity] = None
        found.append(replace(access, certificate=identity))
    return tuple(found)


def list_accesses(folder: str, files: Sequence[ScannedFile]) -> None:
    """Write the list of a scan that has ended."""
    from swzrecheck.folder import save_list  # noqa: PLC0415 - few runs write certificates

    ids = [access.certificate for file in files for access in file.accesses if access.certificate]
    save_list(folder, ids, certificate_versions())


def list_certificates(folder: str, results: Sequence[ClaimResult]) -> None:
    """Write the list of a run that has ended."""
    from swzrecheck.folder import save_list  # noqa: PLC0415 - as above

    proved = [result.id for result in results if result.verdict.outcome is Outcome.PROVED]
    save_list(folder, proved, certificate_versions())


@lru_cache(maxsize=1)
def certificate_versions() -> dict[str, str]:
    """The versions of the programs that proved a claim, by name."""
    return {name: installed_version(name) for name in ("swzverify", "z3-solver", "numpy")}

"""Proves the claims of one spec file; whatever goes wrong becomes a problem or a verdict `error`, not a traceback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from swzverify.claims.verdict import Outcome, Verdict
from swzverify.errors import SwzError
from swzverify.prover import DEFAULT_RLIMIT, Limits, Options, prove
from swzverify.report.result import ClaimResult
from swzverify.run.fault import fault, what_to_send
from swzverify.run.settings import Settings
from swzverify.spec import SpecClaim, SpecError, load_spec
from swzverify.spec.problems import Problem

_INTERRUPTED = "interrupted from keyboard"
"""Z3's own word for a Ctrl-C during a query: it takes the signal from Python and answers `unknown`."""


def run_spec(file: str, settings: Settings, tell: Callable[[ClaimResult], None]) -> list[Problem]:
    """Prove the spec's claims in order, tell each result as it comes, and return what is wrong with the file."""
    try:
        spec = load_spec(file, target=settings.target)
    except SpecError as error:
        problems = list(error.problems)
        if error.left_out:
            problems.append(Problem("SWZ107", f"{error.left_out} more problems are not shown", file=file))
        return problems
    except SwzError as error:
        return [Problem(error.code, error.message, error.hint, file)]
    except OSError as error:
        return [Problem("SWZ503", f"cannot read the file: {error.strerror or error}", file=file)]
    except Exception as error:  # noqa: BLE001 - the other specs of the run must still be proved
        return [Problem("SWZ901", f"reading this spec failed: {fault(error)}", what_to_send(), file)]
    for claim in spec.claims:
        if not settings.select or claim.kind in settings.select:
            tell(run_claim(file, claim, settings))
    return []


def run_claim(file: str, claim: SpecClaim, settings: Settings) -> ClaimResult:
    """Prove one claim of a spec file."""
    started = perf_counter()
    try:
        verdict = prove(claim.claim, options=options_for(settings))
        if _INTERRUPTED in verdict.reason:
            raise KeyboardInterrupt
        verdict = _with_evidence(claim, verdict, settings)
        if claim.notes:
            verdict = replace(verdict, notes=(*verdict.notes, *claim.notes))
        if settings.certificates is not None:
            from swzverify.run.certificates import certify_claim  # noqa: PLC0415 - few runs write certificates

            certify_claim(settings.certificates, file, claim, verdict, options_for(settings))
    except SwzError as error:
        verdict = _error_verdict(str(error), started)
    except MemoryError:
        verdict = Verdict(Outcome.UNKNOWN, scope="", reason="out of memory", time_ms=_elapsed_ms(started))
    except Exception as error:  # noqa: BLE001 - one claim's fault must not cost the others their verdicts
        verdict = _error_verdict(f"{fault(error)}\n{what_to_send()}", started)
    return ClaimResult(
        id=claim.id,
        spec=file,
        line=claim.line,
        kind=claim.kind,
        subject=claim.subject,
        expected=claim.expected,
        verdict=verdict,
        because=claim.because,
        source=claim.source,
        case=dict(claim.case),
    )


def _with_evidence(claim: SpecClaim, verdict: Verdict, settings: Settings) -> Verdict:
    """The verdict with what devices have said of it; few runs ask, and only those import it."""
    if settings.recording is not None:
        from swzverify.gpu.evidence import by_recording  # noqa: PLC0415
        from swzverify.gpu.recording import load_recording  # noqa: PLC0415

        verdict = by_recording(claim.claim, verdict, load_recording(Path(settings.recording)))
    if settings.calibration is not None:
        from swzverify.gpu.calibration import load_calibration  # noqa: PLC0415
        from swzverify.gpu.evidence import by_calibration  # noqa: PLC0415

        verdict = by_calibration(claim.claim, verdict, load_calibration(Path(settings.calibration)))
    return verdict


def options_for(settings: Settings) -> Options:
    """The prover's options."""
    rlimit = DEFAULT_RLIMIT if settings.rlimit is None else settings.rlimit
    return Options(rlimit, settings.single_engine, limits=_limits(settings))


def _limits(settings: Settings) -> Limits | None:
    """Either limit alone isolates too; the other one is then the default's."""
    if settings.time_limit_s is None and settings.memory_limit_mib is None:
        return None
    usual = Limits()
    return Limits(settings.time_limit_s or usual.seconds, settings.memory_limit_mib or usual.memory_mib)


def _error_verdict(reason: str, started: float) -> Verdict:
    return Verdict(Outcome.ERROR, scope="", reason=reason, time_ms=_elapsed_ms(started))


def _elapsed_ms(started: float) -> float:
    return (perf_counter() - started) * 1000

"""Proves the claims of one spec file; a fault becomes a problem or a verdict `error`."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from swzrecheck.errors import CertificateError
from swzverify.apps.options.prove import STDIN, Settings
from swzverify.apps.run.certificates import certify_claim
from swzverify.apps.run.fault import fault, what_to_send
from swzverify.apps.run.reading import Readings, read_spec
from swzverify.claims import is_outside
from swzverify.claims.likeness import Seen, likeness
from swzverify.claims.verdict import Outcome, Verdict
from swzverify.core.outside import Group, refuse
from swzverify.errors import Problem, SwzError
from swzverify.prover import DEFAULT_RLIMIT, Judgement, Options, judge
from swzverify.report.result import ClaimResult
from swzverify.spec import Spec, SpecClaim

if TYPE_CHECKING:
    from swzverify.apps.run.cures import KnownCures
    from swzverify.prover import Limits

MOST_KNOWN = 1024
"""A run keeps so many judgements, the newest."""


@dataclass(slots=True)
class Known:
    """The results of claims within one run's settings.

    A claim that is stated again, in another case or file, is not judged again. Cures depend on the rest
    of a file, and `seen` holds its objects: `next_file` forgets both.
    """

    judgements: dict[Hashable, Judgement] = field(default_factory=dict[Hashable, Judgement])
    cures: KnownCures | None = None
    seen: Seen = field(default_factory=dict[int, tuple[object, Hashable]])
    readings: Readings = field(default_factory=Readings)

    def next_file(self) -> None:
        """Keep only what is known of claims, whatever file states them."""
        self.cures = None
        self.seen.clear()

    def keep(self, key: Hashable, judgement: Judgement) -> None:
        """Remember one more, and forget the oldest where there are too many."""
        self.judgements[key] = judgement
        if len(self.judgements) > MOST_KNOWN:
            del self.judgements[next(iter(self.judgements))]


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim of a spec with its result; without a judgement where the prover came to none."""

    claim: SpecClaim
    judgement: Judgement | None
    result: ClaimResult


def run_spec(
    file: str, settings: Settings, tell: Callable[[Judged], None], known: Known | None = None
) -> list[Problem]:
    """Prove the spec's claims in order, report each as it is judged, and return the file's problems.

    `known` remembers claims of files that were proved with the same settings.
    """
    known = Known() if known is None else known
    spec = read_spec(file, settings.target, settings.stdin if file == STDIN else None, known.readings.parse)
    if not isinstance(spec, Spec):
        return spec
    known.next_file()
    claims = spec.claims
    if settings.select:
        from swzverify.apps.run.select import is_selected  # noqa: PLC0415 - most runs select nothing

        claims = tuple(each for each in claims if any(is_selected(each, word) for word in settings.select))
    for claim in claims:
        tell(run_claim(spec, claim, settings, known))
    return []


def run_claim(spec: Spec, claim: SpecClaim, settings: Settings, known: Known | None = None) -> Judged:
    """Prove one claim of a spec. `known` remembers the outcomes of claims that state the same."""
    known = Known() if known is None else known
    started = perf_counter()
    judgement: Judgement | None = None
    try:
        judgement = _judgement(claim, settings, known)
        verdict = _with_evidence(claim, judgement.verdict, settings)
        if claim.notes:
            verdict = replace(verdict, notes=(*verdict.notes, *claim.notes))
        judgement = replace(judgement, verdict=verdict)
        if settings.certificates is not None:
            certify_claim(settings.certificates, spec, claim, judgement)
    except (SwzError, CertificateError) as error:
        verdict = _error_verdict(str(error), started)
    except MemoryError:
        verdict = Verdict(Outcome.UNKNOWN, scope="", reason="out of memory", time_ms=_elapsed_ms(started))
    except Exception as error:  # noqa: BLE001 - one claim's fault must not cost the others their verdicts
        if is_outside(claim.claim):
            wrong = refuse(Group.CLAIMS, claim.kind, fault(error), "its methods may raise no other error than SwzError")
            verdict = _error_verdict(str(wrong), started)
        else:
            verdict = replace(_error_verdict(f"{fault(error)}\n{what_to_send()}", started), is_fault=True)
    result = ClaimResult(
        id=claim.id,
        spec=spec.path,
        line=claim.line,
        kind=claim.kind,
        subject=claim.subject,
        expected=claim.expected,
        verdict=verdict,
        because=claim.because,
        source=claim.source,
        case=dict(claim.case),
    )
    if settings.cures and result.verdict.outcome is Outcome.REFUTED and not result.ok:
        from swzverify.apps.run.cures import KnownCures, with_cures  # noqa: PLC0415 - few specs have unexpected claims

        known.cures = known.cures or KnownCures()
        result = with_cures(result, spec, claim, options_for(settings), known.cures)
    if settings.pictures and result.verdict.outcome is Outcome.REFUTED:
        from swzverify.apps.run.case_picture import case_picture  # noqa: PLC0415 - few reports have pictures

        result = replace(result, picture=case_picture(claim.claim, result.verdict))
    return Judged(claim, judgement, result)


def _judgement(claim: SpecClaim, settings: Settings, known: Known) -> Judgement:
    """The prover's judgement; that of the same statement elsewhere, in no time."""
    key = likeness(claim.claim, known.seen)
    earlier = None if key is None else known.judgements.get(key)
    if earlier is not None:
        return replace(earlier, claim=claim.claim, verdict=replace(earlier.verdict, time_ms=0.0))
    judgement = judge(claim.claim, options=options_for(settings))
    if key is not None:
        known.keep(key, judgement)
    return judgement


def _with_evidence(claim: SpecClaim, verdict: Verdict, settings: Settings) -> Verdict:
    """The verdict with what devices have said of it; only the few runs that ask import this."""
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
    """Either limit alone isolates too; the other one then has its default."""
    if settings.time_limit_s is None and settings.memory_limit_mib is None:
        return None
    from swzverify.prover import Limits  # noqa: PLC0415 - few runs have limits

    usual = Limits()
    return Limits(settings.time_limit_s or usual.seconds, settings.memory_limit_mib or usual.memory_mib)


def _error_verdict(reason: str, started: float) -> Verdict:
    return Verdict(Outcome.ERROR, scope="", reason=reason, time_ms=_elapsed_ms(started))


def _elapsed_ms(started: float) -> float:
    return (perf_counter() - started) * 1000

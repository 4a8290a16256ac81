"""Proves a starter spec before anybody sees it, and writes down how its claims come out."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.claims.verdict import Outcome
from swzverify.errors import SwzError
from swzverify.prover import Options, prove
from swzverify.report.escape import prose
from swzverify.spec import Spec, SpecError, parse_spec
from swzverify.spec.starter import Expectation, StarterOptions, make_plan, starter_text


@dataclass(frozen=True, slots=True)
class Starter:
    """A starter spec's text, and how many of its claims are proved, refuted and unknown."""

    text: str
    proved: int
    refuted: int
    unknown: int


def make_starter(options: StarterOptions) -> Starter:
    """The spec for these options, with `expect:` and `because:` where a claim is not proved.

    Errors: those of `make_plan`; what the spec's reader finds, such as SWZ110 for a tile that is
    too large; SWZ527 where a claim has no answer that a spec may expect.

    >>> starter = make_starter(StarterOptions(swizzle="none"))
    >>> starter.proved, starter.refuted, "takes 32 wavefronts instead of 4" in starter.text
    (9, 1, True)
    """
    plan = make_plan(options)
    text = starter_text(plan)
    found = _expectations(text)
    if found:
        text = starter_text(plan, found)
        _read(text)
    refuted = sum(expectation.outcome == Outcome.REFUTED.value for expectation in found.values())
    return Starter(text, len(plan.claims) - len(found), refuted, len(found) - refuted)


def _expectations(text: str) -> dict[int, Expectation]:
    """The outcomes of the claims that are not proved, by their place in the list."""
    found: dict[int, Expectation] = {}
    for index, claim in enumerate(_read(text).claims):
        verdict = prove(claim.claim, options=Options())
        match verdict.outcome:
            case Outcome.PROVED:
                continue
            case Outcome.REFUTED | Outcome.UNKNOWN:
                found[index] = Expectation(verdict.outcome.value, prose(verdict.reason))
            case Outcome.VACUOUS | Outcome.CHECKED | Outcome.ERROR:
                message = f"the claim {claim.kind} of {claim.subject} came out {verdict.outcome}: {verdict.reason}"
                raise SwzError("SWZ527", message, hint="this is a fault of swzverify; nothing was written")
    return found


def _read(text: str) -> Spec:
    try:
        return parse_spec(text)
    except SpecError as error:
        first = error.problems[0]
        raise SwzError(first.code, first.message, hint=first.hint) from error

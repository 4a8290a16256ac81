"""`swzverify init`: a commented spec to start from."""

from __future__ import annotations

from dataclasses import dataclass

import click

from swzverify.apps.commands.writing import write_text
from swzverify.apps.options.init import InitOptions
from swzverify.claims.verdict import Outcome
from swzverify.errors import SwzError
from swzverify.prover import Options, prove
from swzverify.report.escape import prose
from swzverify.spec import Spec, SpecError, parse_spec
from swzverify.spec.starter import Expectation, StarterOptions, make_plan, parse_tile, starter_text

SUFFIX = ".swz.yaml"


def init_command(options: InitOptions) -> None:
    """Write a spec to start from, whose claims are proved."""
    if options.pad is not None and options.swizzle is not None:
        raise click.UsageError("--pad and --swizzle cannot be used together")
    rows, columns = parse_tile(options.tile)
    starter = make_starter(
        StarterOptions(
            options.element,
            rows,
            columns,
            options.instruction,
            options.swizzle or "auto",
            options.pad or 0,
            options.target,
            threads=options.threads,
            stages=options.stages,
        )
    )
    file = options.file
    write_text(starter.text, None if file == "-" else file, overwrite=options.force)
    failing = [
        f"{count} {word}" for count, word in ((starter.refuted, "refuted"), (starter.unknown, "unknown")) if count
    ]
    told = ", ".join([f"{starter.proved} claims proved", *failing])
    click.echo(
        f"{'standard output' if file == '-' else file}: {told}; the file says why" if failing else f"{file}: {told}",
        err=True,
    )
    if file != "-":
        click.echo(f"now: swzverify prove {file}", err=True)
        if not file.endswith(SUFFIX):
            click.echo(f"note: `swzverify prove FOLDER` finds only files named *{SUFFIX}", err=True)


@dataclass(frozen=True, slots=True)
class Starter:
    """A starter spec's text, and how many of its claims are proved, refuted and unknown."""

    text: str
    proved: int
    refuted: int
    unknown: int


def make_starter(options: StarterOptions) -> Starter:
    """The spec for these options, with `expect:` and `because:` where a claim is not proved.

    Raises:
        SwzError: Those of `make_plan`; those of the spec's reader, such as SWZ110 for a tile that is
            too large; SWZ527 if a claim has no answer that a spec may expect.

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

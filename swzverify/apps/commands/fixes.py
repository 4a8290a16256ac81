"""`swzverify prove --fix` and `--diff`: proved cures go into the texts of the specs, or are shown first."""

from __future__ import annotations

from collections.abc import Sequence

import click

from swzverify.apps.options.prove import ProveOptions, Settings
from swzverify.apps.options.shared import Format
from swzverify.apps.run.fix import Fixed, fix_file, write_fixed
from swzverify.claims.verdict import Outcome
from swzverify.errors import SpecError, SwzError
from swzverify.report.escape import visible
from swzverify.report.result import ClaimResult, Report


def check_fixes(options: ProveOptions) -> None:
    """Refuse, before minutes of work, options that `--fix` and `--diff` cannot go with."""
    if "-" in options.paths:
        raise click.UsageError("--fix and --diff need the spec's file: save standard input to one")
    if not options.settings.cures:
        raise click.UsageError("--fix and --diff write cures: leave --no-cures out")
    if options.diff and options.reports.output is None and options.reports.form != Format.TEXT:
        raise click.UsageError("--diff writes to standard output: name a file for the report with --output")


def find_fixes(report: Report, settings: Settings) -> list[Fixed]:
    """The texts of the files after the cures that may be written, of files with refuted claims."""
    wanted: dict[str, list[ClaimResult]] = {}
    for each in report.results:
        if each.failing and each.verdict.outcome is Outcome.REFUTED:
            wanted.setdefault(each.spec, []).append(each)
    return [_fixed(file, settings, results) for file, results in wanted.items()]


def _fixed(file: str, settings: Settings, results: Sequence[ClaimResult]) -> Fixed:
    try:
        return fix_file(file, settings, {each.id for each in results})
    except SwzError as error:
        reason = error.message
    except SpecError as error:
        reason = error.problems[0].message
    except OSError as error:
        reason = error.strerror or str(error)
    return Fixed(file, "", "", left=[(each, reason) for each in results])


def save_fixes(found: Sequence[Fixed]) -> int:
    """Write the texts into the files; returns how many have changed.

    Raises:
        SwzError: SWZ504 for a file that cannot be written, SWZ565 for one that has changed since.
    """
    changed = [each for each in found if each.written]
    for each in changed:
        try:
            write_fixed(each)
        except OSError as error:
            raise SwzError("SWZ504", f"cannot write {each.file!r}: {error.strerror}") from error
    return len(changed)


def tell_fixes(found: Sequence[Fixed], *, written: bool) -> None:
    """Say on standard error which cure goes where, and why a claim gets none."""
    for file in found:
        done = "written" if written else "would be written"
        for result, cure in file.written:
            also = f"; {cure.also}" if cure.also else ""
            _say(
                f"{file.file}:{result.line}: {result.kind} {result.subject}: {done}: {cure.object}: {cure.change}{also}"
            )
        for result, reason in file.left:
            _say(f"{file.file}:{result.line}: {result.kind} {result.subject}: nothing is written: {reason}")
    if any(file.written for file in found):
        _say("a spec states what the kernel does: change the kernel alike")


def _say(line: str) -> None:
    click.echo(visible(line), err=True)

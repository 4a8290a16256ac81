"""The file of `swzverify prove --write-test`: whether it may be written, and what is said of it."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from swzverify.apps.commands.files import check_ours
from swzverify.apps.run.case_tests import is_ours, save_case_tests
from swzverify.core.words import counted
from swzverify.report.escape import visible
from swzverify.report.result import Report

OPTION = "--write-test"


def check_tests(path: str, specs: list[str], taken: Mapping[str, str | None]) -> None:
    """Refuse, before minutes of work, a file that is not writable, not ours, or used twice."""
    if not path.endswith(".py"):
        message = f"{path!r} is no Python file, such as test_counterexamples.py"
        raise click.BadParameter(message, param_hint=OPTION)
    check_ours(path, specs, OPTION, taken, is_ours)


def save_tests(path: str, report: Report, target: str | None, *, quiet: bool) -> None:
    """Write the tests, proved for the target, and say to standard error what was written, or why
    nothing was. Errors: SWZ504.
    """
    written = save_case_tests(path, report, target)
    if quiet:
        return
    shown = visible(path)
    if written:
        what = f"wrote {counted(written, 'test')} to {shown}"
    else:
        kept = "left as it is" if os.path.lexists(path) else "not written"
        what = f"no claim is refuted unexpectedly: {shown} is {kept}"
    click.echo(what, err=True)

"""The pytest module of `swzverify prove --write-test`: whether it may be written, how, and what is said of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence

import click

from swzverify.apps.commands.files import check_ours
from swzverify.apps.run.reading import read_spec
from swzverify.claims.verdict import Outcome
from swzverify.core.words import counted
from swzverify.errors import SwzError
from swzverify.report.case_tests import MARK, RefutedClaim, render_case_tests
from swzverify.report.escape import visible
from swzverify.report.result import ClaimResult, Report
from swzverify.spec import Spec, SpecClaim

OPTION = "--write-test"


def check_tests(path: str, specs: Sequence[str], named: Mapping[str, str]) -> None:
    """Refuse, before minutes of work, a file that is not writable, not ours, or used twice."""
    if not path.endswith(".py"):
        message = f"{path!r} is no Python file, such as test_counterexamples.py"
        raise click.BadParameter(message, param_hint=OPTION)
    check_ours(OPTION, named, specs, is_ours)


def save_tests(path: str, report: Report, target: str | None, *, quiet: bool) -> None:
    """Write the tests, proved for the target, and report on standard error what was written.

    If nothing was written, the report says why.

    Raises:
        SwzError: SWZ504.
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


def is_ours(path: str) -> bool:
    """Whether a plain file is there and begins as those of `save_case_tests`."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.readline(len(MARK) + 2).rstrip(b"\r\n") == MARK.encode()
    except OSError:
        return False


def save_case_tests(path: str, report: Report, target: str | None = None) -> int:
    """Write a test for each refuted claim that counts against the run; returns how many there are.

    Documented and known failures are left out. Nothing is written, and nothing deleted, where none is
    left.

    Raises:
        SwzError: SWZ504 if the file cannot be written, or a spec has changed since.
    """
    failing = [each for each in report.results if each.failing and each.verdict.outcome is Outcome.REFUTED]
    if not failing:
        return 0
    folder = os.path.realpath(os.path.dirname(path) or os.curdir)
    claims = {spec: _claims(spec, target) for spec in dict.fromkeys(each.spec for each in failing)}
    text = render_case_tests([_refuted(each, claims[each.spec], folder) for each in failing], target)
    if os.path.lexists(path) and not is_ours(path):
        raise SwzError("SWZ504", f"{path!r} is no file of --write-test", hint="name another one, or delete it")
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SwzError("SWZ504", f"cannot write {path!r}: {reason}", hint="name another file") from error
    return len(failing)


def _claims(file: str, target: str | None) -> dict[str, SpecClaim]:
    """The claims of a spec by their ids; a run's results no longer have tiles and accesses."""
    spec = read_spec(file, target)
    return {each.id: each for each in spec.claims} if isinstance(spec, Spec) else {}


def _refuted(result: ClaimResult, claims: dict[str, SpecClaim], folder: str) -> RefutedClaim:
    stated = claims.get(result.id)
    if stated is None:
        raise SwzError("SWZ504", f"{result.spec} has changed since it was proved: no test is written", hint="run again")
    file = os.path.abspath(result.spec)
    with contextlib.suppress(ValueError):  # it lies on another drive
        file = os.path.relpath(file, folder).replace(os.sep, "/")
    return RefutedClaim(result, stated.claim, result.id.removeprefix(f"{result.spec}::"), file)

"""The file that `swzverify prove --write-test` writes: whether it may be written, and what is said
of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import click

from swzverify.commands.files import check_output
from swzverify.report.escape import visible
from swzverify.report.result import Report
from swzverify.words import counted

OPTION = "--write-test"


@dataclass(frozen=True, slots=True)
class CaseTests:
    """The file of `--write-test`, if it is asked for, and the target that the claims are proved
    for.
    """

    path: str | None
    target: str | None

    def check(self, specs: list[str], taken: Mapping[str, str | None]) -> None:
        """Refuse, before minutes of work, a file that cannot be written, that is not ours, or that
        has another use.

        `taken` are the files that other options name, by the option.
        """
        if self.path is None:
            return
        from swzverify.run.case_tests import is_ours  # noqa: PLC0415 - few runs write tests

        if not self.path.endswith(".py"):
            message = f"{self.path!r} is no Python file, such as test_counterexamples.py"
            raise click.BadParameter(message, param_hint=OPTION)
        check_output(self.path, specs, OPTION)
        for option, path in taken.items():
            if path is not None and os.path.realpath(path) == os.path.realpath(self.path):
                raise click.BadParameter(f"{self.path!r} is the file of {option} too", param_hint=OPTION)

        if os.path.lexists(self.path) and not is_ours(self.path):
            message = f"{self.path!r} exists, and was not written by {OPTION}; name another file, or delete it"
            raise click.BadParameter(message, param_hint=OPTION)

    def save(self, report: Report, *, quiet: bool) -> None:
        """Write the tests, and say to standard error what was written, or why nothing was. Errors:
        SWZ504.
        """
        if self.path is None:
            return
        from swzverify.run.case_tests import save_case_tests  # noqa: PLC0415 - see `check`

        written = save_case_tests(self.path, report, self.target)
        if quiet:
            return
        shown = visible(self.path)
        if written:
            what = f"wrote {counted(written, 'test')} to {shown}"
        else:
            what = f"no claim is refuted unexpectedly: {shown} is " + (
                "left as it is" if os.path.lexists(self.path) else "not written"
            )
        click.echo(what, err=True)

"""Files that `prove` and `scan` write, and those of known failures that they read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import click

from swzverify.report.result import Report
from swzverify.run.baseline import accept_known, known_failures, load_baseline, save_baseline
from swzverify.run.settings import Settings


def check_output(output: str, specs: list[str], option: str) -> None:
    """Refuse, before minutes of work, a file to write that cannot be or that is one of those to read."""
    folder = os.path.dirname(output) or os.curdir
    if not os.path.isdir(folder):
        raise click.BadParameter(f"there is no folder {folder!r}", param_hint=option)
    if os.path.isdir(output):
        raise click.BadParameter(f"{output!r} is a folder", param_hint=option)
    if os.path.realpath(output) in map(os.path.realpath, specs):
        raise click.BadParameter(f"{output!r} is one of the files to read", param_hint=option)


def check_ours(
    path: str, specs: list[str], option: str, taken: Mapping[str, str | None], is_ours: Callable[[str], bool]
) -> None:
    """Refuse, before minutes of work, a file that cannot be written, that is not ours, or that has
    another use. `taken` are the files that other options name, by the option.
    """
    check_output(path, specs, option)
    for other, file in taken.items():
        if file is not None and os.path.realpath(file) == os.path.realpath(path):
            raise click.BadParameter(f"{path!r} is the file of {other} too", param_hint=option)
    if os.path.lexists(path) and not is_ours(path):
        message = f"{path!r} exists, and was not written by {option}; name another file, or delete it"
        raise click.BadParameter(message, param_hint=option)


@dataclass(frozen=True, slots=True)
class Known:
    """The files of known failures to read, and to write."""

    read: str | None
    write: str | None

    def prepare(self, settings: Settings, output: str | None, specs: list[str]) -> Callable[[Report], Report]:
        """Read the file, and refuse one to write that cannot be; what is returned accepts the known
        failures.
        """
        if self.write is not None:
            if settings.select:
                raise click.UsageError("--write-baseline needs every claim: leave --select out")
            check_output(self.write, specs, "--write-baseline")
            if output is not None and os.path.realpath(output) == os.path.realpath(self.write):
                raise click.BadParameter(f"{output!r} is the report's file too", param_hint="--write-baseline")
        if self.read is None:
            return lambda report: report
        known = load_baseline(self.read)
        return lambda report: accept_known(report, known)

    def save(self, report: Report) -> None:
        """Write down what fails, known or new."""
        if self.write is not None:
            save_baseline(self.write, known_failures(report))

"""The spec of `swzverify scan --write-spec`: whether it may be written, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from swzverify.apps.commands.files import check_ours, write_report
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_spec import scan_spec

OPTION = "--write-spec"
FIRST_LINE = "# Written by swzverify scan --write-spec."


def check_written(path: str | None, files: list[str], taken: Mapping[str, str | None]) -> None:
    """Refuse, before minutes of work, a file that is not writable, not ours, or used twice."""
    if path is not None:
        check_ours(path, files, OPTION, taken, _is_ours)


def _is_ours(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.readline().rstrip("\n") == FIRST_LINE
    except OSError:
        return False


def save_written(path: str | None, found: Sequence[ScannedFile], target: str) -> None:
    """Write the spec, and say to standard error how many accesses it has. Errors: SWZ504."""
    if path is None:
        return
    write_report(f"{FIRST_LINE}\n{scan_spec(found, target)}", path, "spec")
    every = [access for file in found for access in file.accesses]
    said = sum(not access.written.reason for access in every)
    click.echo(
        f"{visible(path)}: {said} of {len(every)} accesses; prove them: swzverify prove {visible(path)}", err=True
    )

"""The spec of `swzverify scan --write-spec`: what is in it, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from swzverify.apps.commands.files import write_report
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_spec import scan_spec

FIRST_LINE = "# Written by swzverify scan --write-spec."


def is_ours(path: str) -> bool:
    """Whether a file begins as those of `save_written`."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.readline().rstrip("\n") == FIRST_LINE
    except OSError:
        return False


def save_written(path: str | None, found: Sequence[ScannedFile], target: str) -> None:
    """Write the spec, and say to standard error how many accesses it has.

    Raises:
        SwzError: SWZ504.
    """
    if path is None:
        return
    write_report(f"{FIRST_LINE}\n{scan_spec(found, target)}", path, "spec")
    every = [access for file in found for access in file.accesses]
    said = sum(not access.written.reason for access in every)
    click.echo(
        f"{visible(path)}: {said} of {len(every)} accesses; prove them: swzverify prove {visible(path)}", err=True
    )

"""Where the counters of `swzverify scan` come from: its options, and the command that does it again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from swzverify.report.scan import ScannedFile
    from swzverify.report.scan_check import Check
    from swzverify.run.checked import Counters

DISAGREEMENT = "disagreement"


def check_options(command: Callable[..., object]) -> Callable[..., object]:
    """The options that lay counters beside the verdicts."""
    found = click.option(
        "--check",
        "exports",
        multiple=True,
        metavar="FILE.csv",
        help="Lay counters beside the verdicts: an export of `ncu --page source --csv`; may be given again.",
    )
    ran = click.option(
        "--check-run",
        metavar="COMMAND",
        help="Profile this command with ncu, and lay its counters beside the verdicts.",
    )
    return found(ran(command))


def read_counters(exports: Sequence[str], command: str | None, kernel: str | None) -> Counters | None:
    """Read the exports and profile the command, before minutes of work; None where neither is given."""
    if not exports and command is None:
        return None
    from swzverify.run.checked import CheckSettings, counters  # noqa: PLC0415 - `--help` is to be quick

    return counters(CheckSettings(tuple(exports), command), kernel)


def held_against(
    files: list[ScannedFile], counters: Counters | None, again: str
) -> tuple[list[ScannedFile], Check | None]:
    """The files with what was counted of each access; the verdicts are as they were."""
    if counters is None:
        return files, None
    from swzverify.run.checked import checked  # noqa: PLC0415 - see `read_counters`

    return checked(files, counters, again)


def spelled(files: Sequence[str], options: Mapping[str, str | int | Sequence[str] | None]) -> str:
    """The command with these options, as a shell reads it.

    >>> spelled(["k.ptx"], {"--block": "32,8", "--param": ("n=1", "m=2"), "--smem": None})
    'swzverify scan k.ptx --block 32,8 --param n=1 --param m=2'
    """
    words = ["swzverify", "scan", *files]
    for name, value in options.items():
        if value is None:
            continue
        values = [str(value)] if isinstance(value, str | int) else value
        words += [word for each in values for word in (name, each)]
    return shlex.join(words)

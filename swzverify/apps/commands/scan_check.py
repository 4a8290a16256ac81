"""Where the counters of `swzverify scan` come from: its options, and the command that does it again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from swzverify.apps.run.checked import CheckSettings, Counters, checked, counters
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_check import Check

DISAGREEMENT = "disagreement"


def read_counters(exports: Sequence[str], command: str | None, kernel: str | None) -> Counters | None:
    """Read the exports and profile the command, before minutes of work; None where neither is given."""
    if not exports and command is None:
        return None
    return counters(CheckSettings(tuple(exports), command), kernel)


def held_against(
    files: list[ScannedFile], counters: Counters | None, again: str
) -> tuple[list[ScannedFile], Check | None]:
    """The files with what was counted of each access; the verdicts are as they were."""
    if counters is None:
        return files, None
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

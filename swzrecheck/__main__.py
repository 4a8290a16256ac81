"""`python -m swzrecheck DIR`: judges the certificates of a folder, one after the other, in this process."""

from __future__ import annotations

import os
import sys

# `python -m` puts the working folder first: a stranger's `json.py` in it must not come to run.
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:] = [each for each in sys.path if os.path.realpath(each or ".") != os.path.realpath(".")]
sys.path.append(_HERE)

import argparse  # noqa: E402
import time  # noqa: E402
from collections.abc import Sequence  # noqa: E402

from swzrecheck.errors import CertificateError  # noqa: E402
from swzrecheck.folder import load_list  # noqa: E402
from swzrecheck.memory import limit_memory  # noqa: E402
from swzrecheck.recheck import Limits, Recheck  # noqa: E402
from swzrecheck.solvers import NAMES, choose  # noqa: E402
from swzrecheck.told import ExitCode, exit_code, told  # noqa: E402


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge a folder; the exit code is that of `swzverify recheck`, which does it in several processes."""
    parser = argparse.ArgumentParser("python -m swzrecheck", description=__doc__)
    parser.add_argument("folder", metavar="DIR", help="what `swzverify prove PATH --certificates DIR` wrote")
    parser.add_argument("--solver", action="append", choices=NAMES, default=[], help="who judges; may be given again")
    parser.add_argument("--no-solver", action="store_true", help="check all but the formulas")
    parser.add_argument("--drat", action="store_true", help="have CaDiCaL prove each formula, and drat-trim check it")
    parser.add_argument("--timeout", type=float, default=300.0, metavar="SECONDS", help="of one formula (300)")
    parser.add_argument("--memory", type=int, default=4096, metavar="MIB", help="of this process (4096)")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what was rechecked, too")
    given = parser.parse_args(arguments)
    if given.solver and given.no_solver:
        parser.error("--solver and --no-solver cannot be used together")
    if given.timeout <= 0 or given.memory <= 0:
        parser.error("--timeout and --memory are above 0")
    limit_memory(given.memory)
    started = time.monotonic()
    try:
        solvers = () if given.no_solver else choose(tuple(given.solver))
        limits = Limits(solvers, given.timeout, given.memory, given.drat)
        entries = load_list(given.folder)
    except CertificateError as error:
        return _say([f"Error: {error}"], ExitCode.BROKEN)
    if not entries:
        return _say([f"Error: SWZ601 {given.folder}: the list is empty: nothing was proved"], ExitCode.BROKEN)
    recheck = Recheck(given.folder, limits, lambda _: None)
    outcomes = [recheck.entry(entry) for entry in entries]
    return _say(told(outcomes, limits, time.monotonic() - started, verbose=given.verbose), exit_code(outcomes))


def _say(lines: Sequence[str], code: ExitCode) -> int:
    """Print lines in ASCII: nothing in them acts on a terminal."""
    for line in "\n".join(lines).split("\n"):
        print(ascii(line)[1:-1])  # noqa: T201 - it has no other way to tell
    return int(code)


if __name__ == "__main__":
    sys.exit(main())

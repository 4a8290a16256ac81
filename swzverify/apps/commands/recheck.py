"""`swzverify recheck`: certificates in, a judgement by other solvers and an exit code out."""

from __future__ import annotations

import sys
import time
from typing import NoReturn

import click

from swzrecheck.folder import load_list
from swzrecheck.recheck import Limits, Rechecked
from swzrecheck.solvers import choose
from swzrecheck.told import exit_code, told
from swzverify.apps.commands.terminal import Failure, one_way_out, say
from swzverify.certificates.workers import recheck_all
from swzverify.core.processes import usable_cpus
from swzverify.report.escape import visible


def recheck(
    *,
    folder: str,
    solvers: tuple[str, ...],
    no_solver: bool,
    drat: bool,
    timeout_s: float,
    memory_mib: int,
    jobs: int | None,
    verbose: bool,
) -> NoReturn:
    """Judge certificates again, and tell what came out."""
    if solvers and no_solver:
        raise click.UsageError("--solver and --no-solver cannot be used together")
    if len(set(solvers)) < len(solvers):
        raise click.UsageError("--solver names one solver twice; two are bitwuzla and cvc5")
    with one_way_out("no judgement"):
        started = time.monotonic()
        limits = Limits(() if no_solver else choose(solvers), timeout_s, memory_mib, drat)
        entries = load_list(folder)
        if not entries:
            raise Failure(f"SWZ601 {visible(folder)}: the list is empty: nothing was proved")
        found: dict[int, Rechecked] = {}
        recheck_all(folder, entries, limits, min(jobs or usable_cpus(), len(entries)), found.__setitem__)
        outcomes = [found[place] for place in range(len(entries))]
        spent_s = time.monotonic() - started
    lines = told(outcomes, limits, spent_s, verbose=verbose)
    say("\n".join(map(visible, lines)) + "\n")
    sys.exit(int(exit_code(outcomes)))

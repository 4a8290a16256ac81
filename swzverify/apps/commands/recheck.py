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
from swzverify.apps.commands.terminal import Failure, say
from swzverify.apps.options.recheck import RecheckOptions
from swzverify.certificates.workers import recheck_all
from swzverify.core.processes import processes_for
from swzverify.report.escape import visible


def recheck_command(options: RecheckOptions) -> NoReturn:
    """Judge certificates again, and tell what came out."""
    if options.solvers and options.no_solver:
        raise click.UsageError("--solver and --no-solver cannot be used together")
    if len(set(options.solvers)) < len(options.solvers):
        raise click.UsageError("--solver names one solver twice; two are bitwuzla and cvc5")
    started = time.monotonic()
    solvers = () if options.no_solver else choose(options.solvers)
    limits = Limits(solvers, options.timeout_s, options.memory_mib, options.drat)
    entries = load_list(options.folder)
    if not entries:
        raise Failure(f"SWZ601 {visible(options.folder)}: the list is empty: nothing was proved")
    found: dict[int, Rechecked] = {}
    processes = processes_for(len(entries), options.jobs, few=1)
    recheck_all(options.folder, entries, limits, processes, found.__setitem__)
    outcomes = [found[place] for place in range(len(entries))]
    spent_s = time.monotonic() - started
    if options.form == "json":
        from swzverify.report.recheck_json import render_recheck_json  # noqa: PLC0415 - it loads the prover's layouts

        say(render_recheck_json(outcomes, limits, spent_s))
    else:
        say("\n".join(map(visible, told(outcomes, limits, spent_s, verbose=options.verbose))) + "\n")
    sys.exit(int(exit_code(outcomes)))

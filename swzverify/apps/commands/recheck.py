"""`swzverify recheck`: certificates in, a judgement by other solvers and an exit code out."""

from __future__ import annotations

import sys
import time
from enum import IntEnum
from typing import NoReturn

import click

from swzverify.apps.commands.terminal import Failure, one_way_out, say
from swzverify.certificates.folder import load_list
from swzverify.certificates.recheck import Limits, Rechecked, Status
from swzverify.certificates.solvers import choose, version
from swzverify.certificates.workers import recheck_all
from swzverify.core.processes import usable_cpus
from swzverify.report.escape import visible


class ExitCode(IntEnum):
    """The exit codes of `swzverify recheck`."""

    RECHECKED = 0
    CONTRADICTED = 1
    BROKEN = 2
    NOT_RECHECKED = 3


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
    sys.exit(int(_tell(outcomes, limits, spent_s, verbose)))


def _tell(outcomes: list[Rechecked], limits: Limits, spent_s: float, verbose: bool) -> ExitCode:
    """Write what came out, the summary last."""
    lines: list[str] = []
    for outcome in outcomes:
        if verbose or outcome.status is not Status.RECHECKED:
            lines.append(f"{outcome.status}  {visible(outcome.id)}")
            lines += [f"    {visible(why)}" for why in outcome.why]
    counts = {status: sum(outcome.status is status for outcome in outcomes) for status in Status}
    judges = " and ".join(version(name) for name in limits.solvers) or "no solver"
    formulas, witnesses, proofs = (
        sum(getattr(outcome, name) for outcome in outcomes) for name in ("formulas", "witnesses", "proofs")
    )
    parts = [
        f"{counts[status]} {status}" for status in reversed(Status) if counts[status] or status is Status.RECHECKED
    ]
    more = f", {proofs} proofs" if limits.drat else ""
    for name, words in (("once", "goals shown once"), ("folded", "folded goals")):
        count = sum(getattr(outcome, name) for outcome in outcomes)
        more += f", {count} {words}" if count else ""
    lines.append(
        f"{', '.join(parts)} of {len(outcomes)} claims in {spent_s:.1f} s: "
        f"{formulas} formulas by {judges}, {witnesses} native witnesses{more}"
    )
    say("\n".join(lines) + "\n")
    codes = {
        Status.BROKEN: ExitCode.BROKEN,
        Status.CONTRADICTED: ExitCode.CONTRADICTED,
        Status.NOT_RECHECKED: ExitCode.NOT_RECHECKED,
        Status.RECHECKED: ExitCode.RECHECKED,
    }
    return next(code for status, code in codes.items() if counts[status])

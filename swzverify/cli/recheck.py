"""`swzverify recheck`: certificates in, a judgement by other solvers and an exit code out."""

from __future__ import annotations

import sys
import time
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn

import click

from swzverify.cli.terminal import Failure, one_way_out, say

if TYPE_CHECKING:
    from swzverify.certificates.recheck import Limits, Rechecked

SOLVERS = ("bitwuzla", "cvc5")
"""The solvers; listed here, and checked against `certificates/solvers` by a test."""


class ExitCode(IntEnum):
    """The exit codes of `swzverify recheck`."""

    RECHECKED = 0
    CONTRADICTED = 1
    BROKEN = 2
    NOT_RECHECKED = 3


@click.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--solver",
    "solvers",
    type=click.Choice(SOLVERS),
    multiple=True,
    help="Who judges; may be given again, then each must agree.  [default: the first one installed]",
)
@click.option("--no-solver", is_flag=True, help="Ask no solver: check hashes, points, counts and witnesses only.")
@click.option("--drat", is_flag=True, help="Have CaDiCaL write a proof of every formula, and drat-trim check it.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="What one step may take.",
)
@click.option(
    "--memory",
    "memory_mib",
    type=click.IntRange(min=256),
    default=4096,
    show_default=True,
    metavar="MIB",
    help="What one process may hold.",
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use.  [default: one per CPU]")
@click.option("-v", "--verbose", is_flag=True, help="List what was rechecked too.")
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
    """Prove certificates again, without Z3 and without reading the specs.

    DIR is a folder that `swzverify prove PATH --certificates DIR` wrote.

    \b
    Exit codes:
      0  all were rechecked
      1  something contradicts a certificate
      2  a certificate is broken, or an error in the usage
      3  nothing contradicts, but something could not be rechecked
    """
    if solvers and no_solver:
        raise click.UsageError("--solver and --no-solver cannot be used together")
    if len(set(solvers)) < len(solvers):
        raise click.UsageError("--solver names one solver twice; two are bitwuzla and cvc5")
    with one_way_out("no judgement"):
        outcomes, limits, spent_s = _run(folder, solvers, no_solver, drat, timeout_s, memory_mib, jobs)
    sys.exit(int(_tell(outcomes, limits, spent_s, verbose)))


def _run(
    folder: str,
    solvers: tuple[str, ...],
    no_solver: bool,
    drat: bool,
    timeout_s: float,
    memory_mib: int,
    jobs: int | None,
) -> tuple[list[Rechecked], Limits, float]:
    from swzverify.certificates.folder import load_list  # noqa: PLC0415 - see cli/__init__.py
    from swzverify.certificates.recheck import Limits  # noqa: PLC0415
    from swzverify.certificates.solvers import choose  # noqa: PLC0415
    from swzverify.certificates.workers import recheck_all  # noqa: PLC0415
    from swzverify.errors import SwzError  # noqa: PLC0415
    from swzverify.processes import usable_cpus  # noqa: PLC0415
    from swzverify.report.escape import visible, visible_lines  # noqa: PLC0415

    started = time.monotonic()
    try:
        limits = Limits(() if no_solver else choose(solvers), timeout_s, memory_mib, drat)
        entries = load_list(folder)
    except SwzError as error:
        raise Failure("\n".join(visible_lines(str(error)))) from error
    if not entries:
        raise Failure(f"SWZ601 {visible(folder)}: the list is empty: nothing was proved")
    found: dict[int, Rechecked] = {}
    recheck_all(folder, entries, limits, min(jobs or usable_cpus(), len(entries)), found.__setitem__)
    return [found[place] for place in range(len(entries))], limits, time.monotonic() - started


def _tell(outcomes: list[Rechecked], limits: Limits, spent_s: float, verbose: bool) -> ExitCode:
    """Write what came out, the summary last."""
    from swzverify.certificates.recheck import Status  # noqa: PLC0415 - see cli/__init__.py
    from swzverify.certificates.solvers import version  # noqa: PLC0415
    from swzverify.report.escape import visible  # noqa: PLC0415

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

"""The options of `swzverify recheck`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import click

from swzverify.apps.options.declare import Options, argument, flag, option, several
from swzverify.apps.options.shared import jobs_option

SOLVERS = ("bitwuzla", "cvc5")
"""The solvers of `recheck`."""


@dataclass(frozen=True, slots=True)
class RecheckOptions(Options):
    """Prove certificates again, without Z3 and without reading specs or kernels.

    DIR is a folder that `swzverify prove PATH --certificates DIR` wrote, or `swzverify scan`.

    \b
    Exit codes:
      0  all were rechecked
      1  something contradicts a certificate
      2  a certificate is broken, or an error in the usage
      3  nothing contradicts, but something could not be rechecked
    """

    without: ClassVar[str] = "no judgement"
    folder: str = argument("DIR")
    solvers: tuple[str, ...] = several(
        "--solver",
        "The solver; may be given again, then all must agree.  [default: the first one installed]",
        SOLVERS,
    )
    no_solver: bool = flag("--no-solver", "Ask no solver: check hashes, points, counts and witnesses only.")
    drat: bool = flag("--drat", "Have CaDiCaL write a proof of every formula, and drat-trim check it.")
    timeout_s: float = option("--timeout SECONDS", "The time of one step.", click.FloatRange(min=0.1), default=300.0)
    memory_mib: int = option("--memory MIB", "The memory of one process.", click.IntRange(min=256), default=4096)
    jobs: int | None = jobs_option("Processes to use.  [default: one per CPU]")
    form: str = option("--format", "What to write the judgement as.", ("text", "json"), default="text")
    verbose: bool = flag("-v, --verbose", "List what was rechecked too.")

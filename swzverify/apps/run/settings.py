"""What a run is asked for, beside the files."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.core.processes import usable_cpus

STDIN = "<stdin>"
"""The name of the spec on standard input."""
FEW_SPECS = 4
"""Up to so many specs are proved in this process: starting others would take longer than it saves.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """Which claims to prove, and how.

    `select` keeps claims of these kinds only (empty: all); `target` overrides the specs' own;
    `rlimit` is the budget of one Z3 query (None: the prover's default), `time_limit_s` and
    `memory_limit_mib` run it in a process of its own, which they end; `jobs` is the number of
    processes (None: one for every usable processor, and no other process for a few specs);
    `certificates` is the folder that gets a certificate of every proof; `recording` and
    `calibration` are files with what a device measured; `stdin` has the bytes of the spec from
    standard input, whose file is called `STDIN`; `cures` looks for changes that would make refuted
    costs hold; `pictures` draws the case that breaks a cost, for reports that show it.
    """

    select: frozenset[str] = frozenset()
    target: str | None = None
    rlimit: int | None = None
    single_engine: bool = False
    jobs: int | None = None
    time_limit_s: float | None = None
    memory_limit_mib: int | None = None
    certificates: str | None = None
    recording: str | None = None
    calibration: str | None = None
    stdin: bytes | None = None
    cures: bool = True
    pictures: bool = False

    def processes(self, specs: int) -> int:
        """How many processes to prove so many specs in; 1 stands for this one alone.

        >>> Settings(jobs=8).processes(2), Settings().processes(2)
        (2, 1)
        """
        if self.jobs is None:
            return 1 if specs <= FEW_SPECS else min(usable_cpus(), specs)
        return max(1, min(self.jobs, specs))

"""Conditions that the examples of docs/errors/ run in: a machine without settings, and those that
are simulated.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from swzrecheck import solvers
from swzverify import testing
from swzverify.apps.commands import init as starter
from swzverify.apps.run import fault, reading, scan_jobs
from swzverify.apps.theorems import discover
from swzverify.claims.verdict import Outcome, Verdict
from swzverify.core import on_dask, pool
from swzverify.gpu import crosscheck as gpu_crosscheck
from swzverify.gpu.device_facts import DeviceFacts
from swzverify.gpu.launch import DeviceAnswer
from swzverify.gpu.plan import Plan
from swzverify.search.synth import pricing
from tests.binaries.fakes import cuobjdump, dump, only_tool
from tests.gpu.simulated import answers_of
from tests.gpu.specs import H100, priced
from tests.gpu.test_calibration import honest


def plain_conditions(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """No setting of this machine shows in what is printed, and no repository around the folder is
    seen by git.
    """
    for name in os.environ:
        if name in {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "SWZVERIFY_DEBUG"} or name.startswith(("GIT_", "PYTEST_ADD")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@example.org")
        monkeypatch.setenv(f"GIT_{who}_DATE", "2026-01-01T00:00:00Z")


def _a_gpu(condition: pytest.MonkeyPatch, _: Path) -> None:
    """A device of plain loops, which agrees."""

    def functions(plans: dict[str, Plan], *_: object) -> tuple[DeviceFacts, dict[str, list[DeviceAnswer]]]:
        return H100, {name: answers_of(plan) for name, plan in plans.items()}

    condition.setattr(gpu_crosscheck, "run_functions", functions)
    condition.setattr(gpu_crosscheck, "measure", lambda wanted, *_: priced(wanted))
    condition.setattr("swzverify.apps.commands.calibrate.measure", lambda *_: honest())


def _counters_of(body: str) -> Callable[[pytest.MonkeyPatch, Path], None]:
    """The same device, its costs taken by a profiler that does what the lines of shell say; none
    without them.
    """

    def simulate(condition: pytest.MonkeyPatch, folder: Path) -> None:
        measure = gpu_crosscheck.measure
        _a_gpu(condition, folder)
        condition.setattr(gpu_crosscheck, "measure", measure)
        programs = folder / "programs"
        programs.mkdir()
        condition.setenv("PATH", str(programs))
        if body:
            (programs / "ncu").write_text(f"#!/bin/sh\n{body}\n")
            (programs / "ncu").chmod(0o755)

    return simulate


def _worker_of(body: str) -> Callable[[pytest.MonkeyPatch, Path], None]:
    """A program in place of the Python that talks to the device; it finds the folder of the job as
    `$5`.
    """

    def simulate(condition: pytest.MonkeyPatch, folder: Path) -> None:
        program = folder / "python"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        work = gpu_crosscheck.work
        condition.setattr(gpu_crosscheck, "work", lambda at, arguments, _: work(at, arguments, str(program)))

    return simulate


def _no_proofs(condition: pytest.MonkeyPatch, folder: Path) -> None:
    condition.setattr(
        discover, "__file__", str(folder / "site-packages" / "swzverify" / "apps" / "theorems" / "discover.py")
    )


def _no_solver(condition: pytest.MonkeyPatch, _: Path) -> None:
    condition.setattr(solvers, "find_spec", lambda _: None)
    condition.setattr(solvers, "shutil", SimpleNamespace(which=lambda _: None))


def _no_resvg(condition: pytest.MonkeyPatch, _: Path) -> None:
    condition.setitem(sys.modules, "resvg_py", None)


def _no_sympy(condition: pytest.MonkeyPatch, _: Path) -> None:
    condition.setitem(sys.modules, "sympy", None)


def _no_flask(condition: pytest.MonkeyPatch, _: Path) -> None:
    condition.setitem(sys.modules, "flask", None)
    condition.delitem(sys.modules, "swzverify.apps.explorer.app", raising=False)


def _no_watchfiles(condition: pytest.MonkeyPatch, _: Path) -> None:
    condition.setitem(sys.modules, "watchfiles", None)


def _no_hypothesis(condition: pytest.MonkeyPatch, _: Path) -> None:
    condition.setitem(sys.modules, "hypothesis", None)
    condition.delitem(sys.modules, "swzverify.testing.strategies", raising=False)
    condition.delattr(testing, "strategies", raising=False)


def _no_git(condition: pytest.MonkeyPatch, folder: Path) -> None:
    condition.setenv("PATH", str(folder / "programs"))


def _a_claim_without_an_answer(condition: pytest.MonkeyPatch, _: Path) -> None:
    condition.setattr(starter, "prove", lambda *_, **__: Verdict(Outcome.VACUOUS, "", (), reason="no lane is active"))


def _a_search_that_errs(condition: pytest.MonkeyPatch, _: Path) -> None:
    """A search to which every access seems free of conflicts."""
    condition.setattr(pricing, "ranks", lambda columns, count: np.full(count, len(columns)))


def _a_fault(condition: pytest.MonkeyPatch, _: Path) -> None:
    """An exception from a line that no edit moves, reported with versions that no upgrade changes."""
    names: dict[str, Callable[..., None]] = {}
    exec(compile("\n" * 119 + "def load_spec(*_, **__): raise KeyError('stage')", "build.py", "exec"), names)  # noqa: S102
    condition.setattr(reading, "load_spec", names["load_spec"])
    condition.setattr(fault, "versions", lambda: "swzverify 0.2.0, z3-solver 5.0.0, Python 3.12.3")


def _a_killed_process(condition: pytest.MonkeyPatch, _: Path) -> None:
    def killed(*_: object, **__: object) -> tuple[object, object]:
        ours, theirs = Pipe()
        theirs.close()
        return SimpleNamespace(pid=None, exitcode=-9, join=lambda: None, kill=lambda: None), ours

    condition.setattr(pool, "start", killed)


def _no_pyarrow(condition: pytest.MonkeyPatch, _: Path) -> None:
    condition.setitem(sys.modules, "pyarrow", None)


def _no_scheduler(condition: pytest.MonkeyPatch, _: Path) -> None:
    condition.setattr(on_dask, "CONNECT_SECONDS", 1)


def _an_interrupt(condition: pytest.MonkeyPatch, _: Path) -> None:
    """Ctrl-C at the second function."""
    real, judged = scan_jobs.scan_function, list[str]()

    def scanned(*given: Any, **more: Any) -> Any:
        judged.append("")
        if len(judged) == 2:
            raise KeyboardInterrupt
        return real(*given, **more)

    condition.setattr(scan_jobs, "scan_function", scanned)


_COLUMNS = """.version 8.3
.target sm_90
.address_size 64
.shared .align 16 .b8 tile[4096];
.entry columns() {
    .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.u32 %r2, %r1, 4, %r2;
    st.shared.u32 [%r2], %r1;
    ret;
}
"""


def _only_the_shell(condition: pytest.MonkeyPatch, folder: Path) -> None:
    only_tool(condition, folder)


def _a_failing_nvcc(condition: pytest.MonkeyPatch, folder: Path) -> None:
    only_tool(condition, folder, "nvcc", "echo 'kernel.cu(1): error: expected a \";\"' >&2; exit 2")


def _cuobjdump_of(text: str) -> Callable[[pytest.MonkeyPatch, Path], None]:
    """NVIDIA's cuobjdump, which prints this."""

    def simulate(condition: pytest.MonkeyPatch, folder: Path) -> None:
        cuobjdump(condition, folder, text)

    return simulate


SIMULATED: dict[str, Callable[[pytest.MonkeyPatch, Path], None]] = {
    "a_gpu": _a_gpu,
    "no_gpu": _worker_of('printf "no NVIDIA driver: libcuda.so.1 was not found" > "$5/refused"; exit 3'),
    "lost_device": _worker_of("kill -9 $$"),
    "no_profiler": _counters_of(""),
    "counters_denied": _counters_of("echo '==ERROR== ERR_NVGPUCTRPERM'; exit 1"),
    "profiler_fails": _counters_of("echo '==ERROR== The application returned an error code (9).' >&2; exit 9"),
    "no_proofs": _no_proofs,
    "no_solver": _no_solver,
    "no_resvg": _no_resvg,
    "no_sympy": _no_sympy,
    "no_flask": _no_flask,
    "no_watchfiles": _no_watchfiles,
    "no_hypothesis": _no_hypothesis,
    "no_git": _no_git,
    "no_cuda_tools": _only_the_shell,
    "machine_code_only": _cuobjdump_of("ELF file    1: kernel.1.sm_90.cubin\n"),
    "ptx_inside": _cuobjdump_of(dump(("sm_90", _COLUMNS))),
    "a_failing_nvcc": _a_failing_nvcc,
    "a_claim_without_an_answer": _a_claim_without_an_answer,
    "a_fault": _a_fault,
    "a_search_that_errs": _a_search_that_errs,
    "a_killed_process": _a_killed_process,
    "no_pyarrow": _no_pyarrow,
    "no_scheduler": _no_scheduler,
    "an_interrupt": _an_interrupt,
}
"""What the pages' conditions stand for; no GPU and no profiler is asked, whether the machine has
them or not.
"""

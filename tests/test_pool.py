"""Jobs in processes: every job gets its last news, whatever becomes of the process that does it."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from swzverify.core import processes
from swzverify.core.pool import Lost, Service, lead_group, run_jobs


def serve(pipe: Connection, steps: int) -> None:
    """Tell some steps of each job, then its end; some jobs kill the process, hang, or start another one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lead_group()
    with contextlib.suppress(EOFError):
        while True:
            job: str = pipe.recv()
            for step in range(steps):
                pipe.send(f"{job} {step}")
            if job == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            if job == "ends":
                os._exit(7)
            if job.startswith("hangs"):
                _, _, file = job.partition(" ")
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
                if file:
                    Path(file).write_text(str(child.pid))
                time.sleep(300)
            pipe.send(f"{job} done")


def lost(job: Lost[str, str]) -> str:
    return f"{job.job} lost: {job.told} {job.last} {job.exit_code} {job.signal_name}"


def service(steps: int = 1, allowed_s: float | None = None) -> Service[str, str]:
    limit = None if allowed_s is None else lambda _: allowed_s
    return Service(serve, (steps,), lambda news: news.endswith("done") or " lost:" in news, lost, limit)


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_every_job_gets_its_news_in_order(processes: int) -> None:
    jobs = ["a", "b", "c"]
    found: dict[int, list[str]] = {place: [] for place in range(3)}
    for place, news, spent_s in run_jobs(jobs, processes, service(steps=2)):
        found[place].append(news)
        assert spent_s >= 0
    assert list(found.values()) == [[f"{job} 0", f"{job} 1", f"{job} done"] for job in jobs]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_process_that_dies_costs_its_job(processes: int) -> None:
    jobs = ["a", "dies", "b", "ends", "c"]
    last = {place: news for place, news, _ in run_jobs(jobs, processes, service())}
    assert last == {
        0: "a done",
        1: "dies lost: 1 dies 0 -9 SIGKILL",
        2: "b done",
        3: "ends lost: 1 ends 0 7 ",
        4: "c done",
    }


def test_a_process_that_is_silent_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    last = {place: news for place, news, _ in run_jobs([f"hangs {file}", "a"], 1, service(allowed_s=4.0))}
    assert last[0].startswith(f"hangs {file} lost: 1 ")
    assert last[0].endswith(" None ")
    assert last[1] == "a done"
    with pytest.raises(ProcessLookupError):
        _wait_for_the_end(int(file.read_text()))


def _wait_for_the_end(pid: int) -> None:
    for _ in range(100):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        os.kill(pid, 0)
        if Path(f"/proc/{pid}/stat").exists() and ") Z " in Path(f"/proc/{pid}/stat").read_text():
            raise ProcessLookupError
        time.sleep(0.1)


def test_leaving_early_ends_every_process() -> None:
    before = {process.pid for process in multiprocessing.active_children()}  # those of other tests
    jobs = run_jobs(["a", "hangs", "hangs"], 3, service())
    next(jobs)
    started = [process for process in multiprocessing.active_children() if process.pid not in before]
    jobs.close()
    assert len(started) == 3
    assert not any(process.is_alive() for process in started)


def test_no_job() -> None:
    assert list(run_jobs([], 4, service())) == []


@pytest.mark.parametrize(("processes", "most"), [(1, 3), (2, 5), (3, 6)])
def test_jobs_of_one_kin_go_to_one_process_as_long_as_there_are_others(processes: int, most: int) -> None:
    """Each process tells its number with the job. Who has nothing else left helps the others, so that a kin may have
    several.
    """

    def last(job: str) -> str:
        return job[0]

    jobs = [f"{kin}{number}" for kin in "abc" for number in range(6)]
    told = Service(_serve_with_number, (), lambda _: True, lost, kin=last)
    found = {place: news for place, news, _ in run_jobs(jobs, processes, told)}
    assert [found[place].split()[0] for place in range(len(jobs))] == jobs
    of_kin = {kin: {news.split()[1] for news in found.values() if news.startswith(kin)} for kin in "abc"}
    assert len(set().union(*of_kin.values())) == processes
    assert sum(map(len, of_kin.values())) <= most


def _serve_with_number(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError):
        while True:
            job: str = pipe.recv()
            time.sleep(0.05)
            pipe.send(f"{job} {os.getpid()}")


def test_the_first_search_for_garbage_comes_late_and_the_next_ones_sooner() -> None:
    before = gc.get_threshold()
    try:
        processes.collect_rarely()
        assert gc.get_threshold() == (300_000, 50, 100)
        gc.collect(0)
        assert gc.get_threshold() == (20_000, 50, 100)
        assert processes._after_first_search not in gc.callbacks
    finally:
        gc.set_threshold(*before)

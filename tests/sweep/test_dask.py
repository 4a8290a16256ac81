"""A sweep on a real Dask cluster of several processes, of which one is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from swzverify.apps.commands import sweep as run
from swzverify.apps.commands.sweep import Progress, run_sweep
from swzverify.apps.options.sweep import SweepOptions
from swzverify.core import on_dask
from swzverify.errors import SwzError

# A cluster that starts or goes warns of ports and sockets of its own.
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
distributed = pytest.importorskip("distributed", reason="Dask is an extra")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers, each a process."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1"
    ) as found:
        yield found


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of one group, so that there are several."""
    monkeypatch.setattr(run, "chunk_cases", lambda bench: bench.cases.group)


@pytest.mark.nightly
def test_a_killed_worker_costs_nothing(spec: Path, tmp_path: Path, cluster: Any) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    run_sweep(SweepOptions(str(spec), str(whole), jobs=1), lambda _: None)
    killed: list[int] = []

    def watch(progress: Progress) -> None:
        if progress.done and not killed:
            with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
                pids = client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    result = run_sweep(SweepOptions(str(spec), str(out), scheduler=cluster.scheduler_address), watch)
    assert killed
    assert result.measured == result.manifest["combinations"]
    assert (out / "cases.csv").read_bytes() == (whole / "cases.csv").read_bytes()


def test_no_scheduler(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "CONNECT_SECONDS", 1)
    with pytest.raises(SwzError, match=r"SWZ576.*127.0.0.1:9"):
        run_sweep(SweepOptions(str(spec), str(tmp_path / "out"), scheduler="tcp://127.0.0.1:9"), lambda _: None)


SBATCH = """\
#!/bin/sh
# Runs the job at once, as a Slurm that is never busy; the file goes when this ends.
job=$(cat "$1")
setsid sh -c "$job" > /dev/null 2>&1 &
echo "Submitted batch job $!"
"""
SCANCEL = "#!/bin/sh\nfor job; do kill -- -$job; done\n"


@pytest.mark.nightly
def test_slurm_jobs(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is an extra")
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    whole, out = tmp_path / "whole", tmp_path / "out"
    run_sweep(SweepOptions(str(spec), str(whole), jobs=1), lambda _: None)
    job = {"cores": 1, "processes": 1, "memory": "1GB", "interface": "lo", "local-directory": str(tmp_path)}
    with import_module("dask").config.set({f"jobqueue.slurm.{key}": value for key, value in job.items()}):
        run_sweep(SweepOptions(str(spec), str(out), slurm=1), lambda _: None)
    assert (out / "cases.csv").read_bytes() == (whole / "cases.csv").read_bytes()


def test_slurm_without_a_configuration(spec: Path, tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is an extra")
    with pytest.raises(SwzError, match=r"SWZ576.*cores"):
        run_sweep(SweepOptions(str(spec), str(tmp_path / "out"), slurm=2), lambda _: None)


def test_without_dask(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "find_spec", lambda _: None)
    with pytest.raises(SwzError, match=r"SWZ573.*\n.*swzverify\[dask\]"):
        run_sweep(SweepOptions(str(spec), str(tmp_path / "out"), scheduler="tcp://127.0.0.1:9"), lambda _: None)

"""Several processes: the same report in the same order, and a process that dies costs only its
file.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing

import pytest

from swzverify.apps.options.prove import Settings
from swzverify.apps.run.run import FEW_SPECS, run_specs
from swzverify.core import pool
from swzverify.core.processes import processes_for, usable_cpus
from swzverify.report.json import document


@pytest.fixture
def files(write, specs):
    texts = {"a.swz.yaml": specs.good, "b.swz.yaml": specs.broken, "c.swz.yaml": specs.documented}
    write(texts | {"d.swz.yaml": specs.bad})
    return ["c.swz.yaml", "d.swz.yaml", "b.swz.yaml", "a.swz.yaml", "missing.swz.yaml"]


def without_times(report):
    shape = json.loads(json.dumps(document(report)))
    shape["wall_ms"] = 0
    for claim in shape["claims"]:
        claim["time_ms"] = 0
    return shape


def test_one_process_or_several_give_the_same_report(files):
    seen = []
    several = run_specs(files, Settings(jobs=2), watch=lambda progress: seen.append(dataclasses.replace(progress)))
    assert without_times(several) == without_times(run_specs(files, Settings(jobs=1)))
    assert [result.spec for result in several.results] == ["c.swz.yaml"] * 2 + ["d.swz.yaml"] * 2 + ["a.swz.yaml"]
    assert [problem.file for problem in several.problems] == ["b.swz.yaml", "missing.swz.yaml"]
    assert (seen[-1].specs_done, seen[-1].specs, seen[-1].claims, seen[-1].unexpected) == (5, 5, 5, 1)


def test_a_process_that_dies_costs_only_its_file(files, monkeypatch):
    start = pool.start

    def start_and_kill(*arguments, first):
        process, pipe = start(*arguments, first=first)
        if first == "d.swz.yaml":
            process.kill()
        return process, pipe

    monkeypatch.setattr(pool, "start", start_and_kill)
    report = run_specs(files, Settings(jobs=2))
    assert {result.spec for result in report.results} == {"c.swz.yaml", "a.swz.yaml"}
    died = next(problem for problem in report.problems if problem.file == "d.swz.yaml")
    assert died.code == "SWZ902"
    assert "killed by SIGKILL after 0 of its claims" in died.message
    assert report.exit_code == 2


def test_an_interrupt_ends_every_process(files):
    started = []

    def interrupt(_):
        started.extend(multiprocessing.active_children())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_specs(files, Settings(jobs=2), watch=interrupt)
    assert started
    assert not any(process.is_alive() for process in started)


def test_when_other_processes_are_started():
    assert processes_for(FEW_SPECS, None, FEW_SPECS) == 1
    assert processes_for(FEW_SPECS + 1, None, FEW_SPECS) == min(usable_cpus(), FEW_SPECS + 1)
    assert processes_for(100, 1, FEW_SPECS) == 1
    assert processes_for(3, 8, FEW_SPECS) == 3
    assert processes_for(0, 8, FEW_SPECS) == 1

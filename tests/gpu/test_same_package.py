"""Every process that is started has the package of the one that starts it, wherever that was found,
and no more.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pytest

import swzverify
from swzverify.core.processes import command_of
from swzverify.gpu.crosscheck import plan_all
from swzverify.gpu.launch import pack
from tests.gpu.simulated import answers_of
from tests.gpu.specs import H100, claims_in
from tests.gpu.test_cli import SPEC

ROOT = Path(swzverify.__file__).parents[1]
OTHERS = Path(np.__file__).parents[1]
TRAP = "open({mark!r}, 'w').close()\nraise SystemExit('the wrong module')\n"


@dataclass(frozen=True)
class Place:
    """A copy of the package in `folder`, whose device is a fake, and a Python that has another
    package installed.
    """

    folder: Path
    python: str
    specs: Path

    @property
    def log(self) -> Path:
        return self.folder / "swzverify" / "gpu" / "worker.log"

    def run(self, way: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`python -m swzverify` with the package found in that way."""
        beside, elsewhere = self.folder.parent, self.specs
        here, path = {
            "the working folder": (self.folder, ""),
            "PYTHONPATH": (elsewhere, str(self.folder)),
            "PYTHONPATH, which is the working folder": (self.folder, str(self.folder)),
            "PYTHONPATH, from the working folder": (beside, self.folder.name),
            "an empty entry of PYTHONPATH": (self.folder, "."),
        }[way]
        self.log.unlink(missing_ok=True)
        return subprocess.run(
            [self.python, "-m", "swzverify", *arguments],
            cwd=here,
            env={
                "PATH": f"{self.folder.parent / 'bin'}:/usr/bin:/bin",
                "PYTHONPATH": os.pathsep.join([str(OTHERS), *filter(None, [path])]),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    def logged(self, way: str) -> list[str]:
        """What the workers were asked to do; each had the copy, and found nothing else beside it
        that is on no path.
        """
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        package = self.folder / "swzverify"
        for _, file, found_beside, program in lines:
            assert (Path(file), found_beside) == (package / "__init__.py", way == "PYTHONPATH")
            assert Path(program) == package / "gpu" / "worker.py"
        return [line[0] for line in lines]


WAYS = (
    "the working folder",
    "PYTHONPATH",
    "PYTHONPATH, which is the working folder",
    "PYTHONPATH, from the working folder",
    "an empty entry of PYTHONPATH",
)


@pytest.fixture(
    scope="module",
    # A process that does not get the package takes the other one, so that this is asked by day.
    params=[pytest.param(True, id="another one"), pytest.param(False, id="none", marks=pytest.mark.nightly)],
)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    top = tmp_path_factory.mktemp("found")
    folder, specs, bin_ = top / "checkout", top / "specs", top / "bin"
    # as a wheel has it
    for name, to in (("swzverify", "swzverify"), ("proofs", "swzverify/proofs"), ("swzrecheck", "swzrecheck")):
        shutil.copytree(ROOT / name, folder / to, ignore=shutil.ignore_patterns("__pycache__"))
    gpu = folder / "swzverify" / "gpu"
    shutil.copy(Path(__file__).with_name("fake_worker.py"), gpu / "worker.py")
    specs.mkdir()
    for name in ("a", "b"):
        (specs / f"{name}.swz.yaml").write_text(SPEC)
    plan = plan_all({"a": claims_in(SPEC)})["a"]
    (gpu / "answers").write_bytes(pack(answers_of(plan)))
    (gpu / "device.json").write_text(json.dumps(asdict(H100)))
    (folder / "only_beside.py").write_text("")
    for name in ("z3", "numpy", "cuda"):
        (folder / f"{name}.py").write_text(TRAP.format(mark=str(top / f"{name}.sprung")))
    venv.create(top / "python", symlinks=True)
    python = top / "python" / "bin" / "python"
    if request.param:
        found = subprocess.run(
            [python, "-c", "import site; print(site.getsitepackages()[0])"], capture_output=True, text=True, check=True
        )
        for name in ("swzverify", "swzrecheck"):
            other = Path(found.stdout.strip()) / name
            other.mkdir()
            (other / "__init__.py").write_text(TRAP.format(mark=str(top / f"{name}.sprung")))
    bin_.mkdir()
    profiler = bin_ / "ncu"
    profiler.write_text(f'#!/bin/sh\nwhile [ "$1" != "{python}" ]; do shift; done\nexec "$@"\n')
    profiler.chmod(0o755)
    return Place(folder, str(python), specs)


def unsprung(place: Place) -> bool:
    return not list(place.folder.parent.glob("*.sprung"))


@pytest.mark.parametrize("way", WAYS)
def test_the_worker_at_the_device(place: Place, way: str) -> None:
    ran = place.run(way, "crosscheck", str(place.specs / "a.swz.yaml"), "--cost", "none")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "agree" in ran.stdout
    assert place.logged(way) == ["functions"]
    assert unsprung(place)


@pytest.mark.nightly
@pytest.mark.parametrize("way", WAYS[:1])
@pytest.mark.parametrize(("cost", "kind"), [("counters", "counts"), ("clocks", "clocks")])
def test_the_workers_that_take_costs(place: Place, way: str, cost: str, kind: str) -> None:
    ran = place.run(way, "crosscheck", str(place.specs), "--cost", cost)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ("4 agree" if cost == "counters" else "2 agree, 0 disagree") in ran.stdout
    assert place.logged(way) == ["functions", kind]
    assert unsprung(place)


@pytest.mark.nightly
@pytest.mark.parametrize("way", WAYS[:1])
def test_the_processes_that_prove_and_recheck(place: Place, way: str, tmp_path: Path) -> None:
    for command in (
        ("prove", str(place.specs), "-j", "2", "--certificates", str(tmp_path)),
        ("recheck", str(tmp_path), "-j", "2"),
        ("theorems", "-j", "2", "-k", "swizzle-involution"),
    ):
        ran = place.run(way, *command)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert unsprung(place)


def test_a_module_is_run_as_python_would(tmp_path: Path) -> None:
    """From a folder with modules of the names that are imported first."""
    for name in ("runpy", "importlib", "swzverify", "numpy"):
        (tmp_path / f"{name}.py").write_text(TRAP.format(mark=str(tmp_path / "sprung")))
    command = command_of("swzverify.gpu.worker", "functions", str(tmp_path))
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (3, "")
    assert (tmp_path / "refused").exists()
    assert not (tmp_path / "sprung").exists()


def test_a_program_without_a_guard_is_not_run_again(tmp_path: Path) -> None:
    """A script that proves in several processes and has no `if __name__ == "__main__"`."""
    for name in "abcdef":
        (tmp_path / f"{name}.swz.yaml").write_text(SPEC)
    script = tmp_path / "script.py"
    script.write_text(
        "import glob, sys\nfrom swzverify.apps.run.run import run_specs\n"
        "from swzverify.apps.options.prove import Settings\n"
        "print('once')\nprint(run_specs(sorted(glob.glob('*.swz.yaml')), Settings(jobs=2)).exit_code)\n"
    )
    ran = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240
    )
    assert (ran.stdout.split(), ran.returncode) == (["once", "0"], 0), ran.stderr

"""The sample repositories as their users have them: each in a git repository of its own, its checks
run, its pull requests opened, which must fail for the reason that their page gives.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from swzverify.apps.cli import COMMANDS
from tests.docs.blocks import blocks_of, links_of

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NAMES = ("cuda-gemm", "gluon-transpose")
CUDA = pytest.mark.parametrize("repository", ["cuda-gemm"], indirect=True)
GLUON = pytest.mark.parametrize("repository", ["gluon-transpose"], indirect=True)
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
NVCC = shutil.which("nvcc")
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command's exit code and output, with this Python's `swzverify` and `pytest`."""
    program = [sys.executable, "-P", "-m", words[0]] if words[0] in ("swzverify", "pytest") else [words[0]]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "GIT_"))}
    # Hypothesis's plugin, which no example needs, takes longer to import than all else.
    environment |= {"NO_COLOR": "1", "COLUMNS": "120", "PYTHONDONTWRITEBYTECODE": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    environment["PYTEST_ADDOPTS"] = "-p no:hypothesispytest"
    return subprocess.run(
        [*program, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the example that the test names, committed."""
    name = str(request.param)
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache", "build"))
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "the example"]):
        done = ran(folder, *GIT, *words)
        assert done.returncode == 0, done.stderr
    return folder


def opened(folder: Path, patch: str) -> None:
    """A branch with a pull request's commit."""
    for words in (["checkout", "-q", "-b", "change"], ["apply", f"pull-requests/{patch}"], ["commit", "-qam", patch]):
        done = ran(folder, *GIT, *words)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("repository", NAMES, indirect=True)
def test_everything_is_proved(repository: Path) -> None:
    done = ran(repository, "swzverify", "prove", ".")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 unexpected" in done.stdout


@CUDA
def test_a_smaller_tile_is_refused_with_the_threads_that_collide(repository: Path) -> None:
    opened(repository, "smaller-tile.patch")
    done = ran(repository, "swzverify", "prove", "src")
    assert done.returncode == 1
    assert "read from src/gemm.cuh: BM = 64 (line 10), BK = 32 (line 10)" in done.stdout
    assert "is touched 2 times, not 1" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@CUDA
def test_proving_less_is_refused_though_everything_is_proved(repository: Path) -> None:
    opened(repository, "proves-less.patch")
    assert ran(repository, "swzverify", "prove", "src").returncode == 0
    workflow = YAML(typ="safe").load((repository / ".github/workflows/layouts.yml").read_text(encoding="utf-8"))
    (step,) = [each["run"] for each in workflow["jobs"]["prove"]["steps"] if "run" in each]
    program, *words = shlex.split(step.replace("origin/$BASE", "main"))
    folder, _, name = program.rpartition("/bin/")
    assert f'-m venv "{folder}"' in ACTION, "the action installs swzverify in this folder"
    done = ran(repository, name, *words)
    assert done.returncode == 1, done.stdout + done.stderr
    for words in ("src/gemm.cuh::B::bijective", "src/gemm.cuh::read_A,A::covers", "assuming kk < 32"):
        assert words in done.stdout
    assert "2 deleted, 2 weakened, 13 unchanged" in done.stdout


@CUDA
def test_the_pull_requests_change_nothing_else(repository: Path) -> None:
    """The patch that proves less touches comments only: the kernel is the same."""
    before = (repository / "src/gemm.cuh").read_text(encoding="utf-8")
    opened(repository, "proves-less.patch")
    after = (repository / "src/gemm.cuh").read_text(encoding="utf-8")
    assert before != after
    assert _code(before) == _code(after)


def _code(text: str) -> str:
    return re.sub(r"\s*//[^\n]*", "", text)


@pytest.mark.nightly
@CUDA
def test_the_hook_checks_the_commit(repository: Path) -> None:
    config = YAML(typ="safe").load((repository / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (hook,) = config["repos"][0]["hooks"]
    words = shlex.split(hook["entry"])
    assert hook["pass_filenames"] is False
    assert ran(repository, *words).returncode == 0
    opened(repository, "smaller-tile.patch")
    assert ran(repository, *words).returncode == 1


@CUDA
@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
def test_the_kernel_compiles_with_both_tile_sizes(repository: Path) -> None:
    """A compiler sees nothing wrong with the pull request either."""
    for _ in range(2):
        words = ["-arch=sm_80", "-cubin", "-o", os.devnull, "src/check.cu"]
        done = ran(repository, str(NVCC), *words)
        assert done.returncode == 0, done.stderr
        if "BK = 64" in (repository / "src/gemm.cuh").read_text(encoding="utf-8"):
            opened(repository, "smaller-tile.patch")


@GLUON
def test_the_projects_tests_prove_its_contracts_and_specs(repository: Path) -> None:
    done = ran(repository, "pytest", "-v", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"transpose\.py::load::conflict_free PASSED", done.stdout)
    assert re.search(r"alternatives\.swz\.yaml::plain_column::conflict_free PASSED", done.stdout)


@pytest.mark.nightly
@GLUON
def test_fewer_phases_fail_the_projects_tests(repository: Path) -> None:
    opened(repository, "fewer-phases.patch")
    done = ran(repository, "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"FAILED .*transpose\.py::tile,gluon::equivalent", done.stdout)
    assert "at (8, 0) tile gives 1056, gluon gives 1024" in done.stdout
    assert "1 failed" in done.stdout
    assert "Traceback" not in done.stdout


@GLUON
def test_the_layouts_docstring_is_true(repository: Path) -> None:
    done = ran(
        repository, "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", "src/transpose_kernels/layouts.py"
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", ["README.md", "cuda-gemm/README.md", "gluon-transpose/README.md"])
def test_the_pages_name_what_is_there(page: str) -> None:
    file = EXAMPLES / page
    text = file.read_text(encoding="utf-8")
    for link in links_of(text):
        assert (file.parent / link).exists(), link
    for block in blocks_of(text):
        for line in block.text.splitlines():
            words = shlex.split(line)
            assert words[:3] == ["python", "-m", "pytest"] or words[1] in COMMANDS, line


def test_every_pull_request_is_opened() -> None:
    """A patch that no test opens would be decoration."""
    own = Path(__file__).read_text(encoding="utf-8")
    for patch in EXAMPLES.rglob("*.patch"):
        assert f'"{patch.name}"' in own

"""The examples of compiled kernels, where the compilers are installed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "scan"
NVCC = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
TRITON = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")


def _has_nvrtc() -> bool:
    try:
        return importlib.util.find_spec("cuda.bindings.nvrtc") is not None
    except ModuleNotFoundError:
        return False


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment |= {"TRITON_CACHE_DIR": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "scan"))


@NVCC
@pytest.mark.parametrize(("pitch", "code", "verdicts"), [(33, 0, ["free", "free"]), (32, 1, ["free", "conflict"])])
def test_cuda(folder: Path, pitch: int, code: int, verdicts: list[str]) -> None:
    words = ("-P", "-m", "swzverify", "scan", "transpose.cu", "--block", "32,32", "--fail-on", "conflict")
    done = ran(folder, *words, "--format", "json", f"--nvcc-arg=-DPITCH={pitch}")
    assert done.returncode == code, done.stdout + done.stderr
    found = json.loads(done.stdout)["accesses"]
    assert [each["verdict"] for each in found] == verdicts
    assert [each["source"]["line"] for each in found] == [11, 15]
    assert found[0]["source"]["file"].endswith("transpose.cu")


@TRITON
def test_triton(folder: Path) -> None:
    done = ran(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_matmul.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


@pytest.mark.skipif(not _has_nvrtc(), reason="NVRTC's Python bindings are not installed")
def test_nvrtc(folder: Path) -> None:
    done = ran(folder, "turn_nvrtc.py")
    assert done.returncode == 0, done.stdout + done.stderr

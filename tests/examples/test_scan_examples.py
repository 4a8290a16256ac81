"""The examples of compiled kernels, where the compilers are installed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from swzverify.compiled.binaries.tools import find_tool
from swzverify.errors import SwzError

FOLDER = Path(__file__).parents[2] / "examples" / "scan"


def has(tool: str) -> bool:
    try:
        find_tool(tool)
    except SwzError:
        return False
    return True


NVCC = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
LIBRARY = pytest.mark.skipif(
    not (has("nvcc") and has("cuobjdump") and has("nvdisasm")), reason="nvcc, cuobjdump or nvdisasm is not installed"
)
CUTE = pytest.mark.skipif(
    importlib.util.find_spec("nvidia_cutlass_dsl") is None, reason="nvidia-cutlass-dsl is not installed"
)
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


def build(folder: Path, source: str, *options: str) -> None:
    """What the page says, with nvcc: a library with PTX and machine code."""
    words = ["-shared", "-Xcompiler", "-fPIC", "-lineinfo", "-gencode", "arch=compute_90,code=[compute_90,sm_90]"]
    subprocess.run([find_tool("nvcc"), *words, *options, source, "-o", "library.so"], cwd=folder, check=True)


def library_verdicts(folder: Path) -> tuple[int, list[tuple[str, str]]]:
    words = ("-P", "-m", "swzverify", "scan", "library.so", "--block", "32,32", "--fail-on", "conflict")
    done = ran(folder, *words, "--format", "json")
    found = [each for each in json.loads(done.stdout)["accesses"] if each["kernel"] == "transpose"]
    return done.returncode, [(each["verdict"], each["sass"]["verdict"]) for each in found]


@LIBRARY
@pytest.mark.parametrize(("pitch", "code", "last"), [(33, 0, "free"), (32, 1, "conflict")])
def test_shared_library(folder: Path, pitch: int, code: int, last: str) -> None:
    build(folder, "transpose.cu", f"-DPITCH={pitch}")
    assert library_verdicts(folder) == (code, [("free", "free"), (last, last)])


@LIBRARY
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch's headers are not installed")
def test_pytorch_extension(folder: Path) -> None:
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    include = Path(spec.origin).parent / "include"
    folders = [include, include / "torch/csrc/api/include", Path(sysconfig.get_paths()["include"])]
    options = ["-std=c++20", "-O1", "-DPITCH=32", "-DTORCH_EXTENSION_NAME=library", *(f"-I{each}" for each in folders)]
    build(folder, "transpose_extension.cu", *options)
    assert library_verdicts(folder) == (1, [("free", "free"), ("conflict", "conflict")])


@pytest.mark.skipif(
    importlib.util.find_spec("nvidia_cutlass_dsl") is None, reason="nvidia-cutlass-dsl is not installed"
)
def test_cute_dsl(folder: Path) -> None:
    done = ran(folder, "-W", "ignore", "turn_cute.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rows of 32 floats: 1 of 2 accesses" in done.stdout

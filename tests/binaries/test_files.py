"""PTX out of binaries and sources, with tools that are scripts, and with NVIDIA's where they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from swzverify.compiled.binaries import ptx_of_file
from swzverify.compiled.binaries.fatbin import texts_of_dump
from swzverify.compiled.binaries.tools import find_tool, run_tool
from swzverify.errors import SwzError
from tests.binaries.fakes import cuobjdump, dump, only_tool, ptx

ELF = b"\x7fELF\x02\x01" + bytes(58)
KERNEL = """extern "C" __global__ void columns(float *out, int pitch) {
    __shared__ float tile[1024];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x * pitch];
}
"""


@pytest.fixture
def binary(tmp_path: Path) -> str:
    path = tmp_path / "lib.so"
    path.write_bytes(ELF)
    return str(path)


def refused(path: str, target: str = "sm_90") -> SwzError:
    with pytest.raises(SwzError) as caught:
        ptx_of_file(path, target)
    return caught.value


def has_tool(name: str) -> bool:
    try:
        return bool(find_tool(name))
    except SwzError:
        return False


# ---- with scripts


def test_a_ptx_file_needs_no_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_tool(monkeypatch, tmp_path)
    (tmp_path / "k.ptx").write_text(ptx("sm_90"), encoding="utf-8")
    assert ptx_of_file(str(tmp_path / "k.ptx"), "sm_90") is None


def test_the_text_for_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str) -> None:
    cuobjdump(monkeypatch, tmp_path, dump(("sm_80", ptx("sm_80")), ("sm_90", ptx("sm_90"))))
    (found,) = ptx_of_file(binary, "sm_90") or []
    assert (found.text, found.origin) == (ptx("sm_90"), "PTX 2 of 2, of sm_90")
    (found,) = ptx_of_file(binary, "sm_86") or []
    assert (found.text, found.origin) == (ptx("sm_80"), "PTX 1 of 2, of sm_80")


def test_no_text_of_the_dump_is_lost() -> None:
    texts = [("sm_90", ptx("sm_90", name)) for name in "abc"]
    assert [each.text for each in texts_of_dump("\nFatbin elf code:\n=====\narch = sm_90\n" + dump(*texts))] == [
        text for _, text in texts
    ]


def test_ptx_for_newer_targets_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str) -> None:
    cuobjdump(monkeypatch, tmp_path, dump(("sm_100", ptx("sm_100"))))
    error = refused(binary)
    assert (error.code, "sm_100 only" in error.message) == ("SWZ541", True)
    assert "--target sm_100" in error.hint


def test_machine_code_alone_says_what_to_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str) -> None:
    body = 'case $1 in -ptx) echo "No PTX file found" >&2;; *) echo "ELF file    1: x.1.sm_86.cubin";; esac'
    only_tool(monkeypatch, tmp_path, "cuobjdump", body)
    error = refused(binary)
    assert (error.code, "machine code of sm_86 only" in error.message) == ("SWZ541", True)
    assert "-gencode arch=compute_86,code=compute_86" in error.hint


def test_a_program_without_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str) -> None:
    only_tool(monkeypatch, tmp_path, "cuobjdump", "echo 'File x does not contain device code' >&2; exit 255")
    error = refused(binary)
    assert (error.code, "no code for a GPU" in error.message) == ("SWZ541", True)


def test_what_the_tool_says_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str) -> None:
    only_tool(monkeypatch, tmp_path, "cuobjdump", "echo 'Invalid fatbin header' >&2; exit 1")
    error = refused(binary)
    assert (error.code, "Invalid fatbin header" in error.message) == ("SWZ543", True)


def test_without_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str) -> None:
    only_tool(monkeypatch, tmp_path)
    assert refused(binary).code == "SWZ542"
    (tmp_path / "k.cu").write_text(KERNEL, encoding="utf-8")
    error = refused(str(tmp_path / "k.cu"))
    assert (error.code, "nvcc" in error.message) == ("SWZ542", True)


def test_a_toolkit_that_CUDA_HOME_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str) -> None:  # noqa: N802
    tools = only_tool(monkeypatch, tmp_path, "cuobjdump", "echo no")
    (tmp_path / "home").mkdir()
    shutil.move(tools, tmp_path / "home" / "bin")
    assert refused(binary).code == "SWZ542"
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    assert find_tool("cuobjdump") == str(tmp_path / "home" / "bin" / "cuobjdump")


@pytest.mark.parametrize("name", ["-lelf", "a b;$(touch x)'\".so", "\u202ex.so", "lib\x1b[31m.so"])
def test_a_hostile_name_is_no_option_and_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    cuobjdump(monkeypatch, tmp_path, dump(("sm_90", ptx("sm_90"))))
    (tmp_path / "files").mkdir()
    monkeypatch.chdir(tmp_path / "files")
    Path(name).write_bytes(ELF)
    assert ptx_of_file(name, "sm_90") is not None
    only_tool(monkeypatch, tmp_path, "cuobjdump", "exit 1")
    assert str(refused(name)).isprintable()
    assert os.listdir() == [name]


def test_nothing_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    cuobjdump(monkeypatch, tmp_path, dump(("sm_90", ptx("sm_90"))))
    ptx_of_file(binary, "sm_90")
    only_tool(monkeypatch, tmp_path, "cuobjdump", "touch left; exit 1")
    refused(binary)
    assert os.listdir(tmp_path / "temporary") == []


def _runs(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_a_tool_without_an_end_is_ended_with_its_children(tmp_path: Path) -> None:
    child = "import os, subprocess, sys, time; p = subprocess.Popen(['sleep', '600']); print(p.pid, flush=True)"
    with pytest.raises(SwzError, match=r"SWZ543: .*longer than 2 s"):
        run_tool([sys.executable, "-c", f"{child}; time.sleep(600)"], tmp_path, 2)
    number = int((tmp_path / "stdout").read_text())
    while _runs(number):  # until the signal has arrived; for ever where none was sent
        time.sleep(0.01)


def test_a_tool_that_writes_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swzverify.compiled.binaries.tools.MOST_BYTES", 10_000)
    with pytest.raises(SwzError, match=r"SWZ543: .*it wrote more than"):
        run_tool([sys.executable, "-c", "while True: print('x' * 1000, flush=True)"], tmp_path)


def test_nvcc_gets_the_target_and_the_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.cu").write_text(KERNEL, encoding="utf-8")
    body = f'echo "$@" > {tmp_path}/seen; while [ "$1" != -o ]; do shift; done; echo "// of nvcc" > "$2"'
    only_tool(monkeypatch, tmp_path, "nvcc", body)
    (found,) = ptx_of_file(str(tmp_path / "k.cu"), "sm_86", ("-DN=3",)) or []
    assert (found.text, found.origin) == ("// of nvcc\n", "compiled with nvcc")
    assert (tmp_path / "seen").read_text().startswith("-ptx -lineinfo -arch=sm_86 -DN=3 -o ")
    ptx_of_file(str(tmp_path / "k.cu"), "sm_86", ("-gencode=arch=compute_80,code=compute_80",))
    assert "-arch=" not in (tmp_path / "seen").read_text().replace("-gencode=arch", "")


def test_nvccs_error_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.cu").write_text("x", encoding="utf-8")
    only_tool(monkeypatch, tmp_path, "nvcc", "echo 'k.cu(1): error: expected a declaration' >&2; exit 2")
    error = refused(str(tmp_path / "k.cu"))
    assert (error.code, "k.cu(1): error: expected a declaration" in error.hint) == ("SWZ543", True)


@pytest.mark.parametrize("name", ["a;b.cu", "$(x).cu", "a`b`.cu", 'a"b.cu', "a'b.cu", "a&b.cu", "a\nb.cu"])
def test_nvcc_is_not_given_a_name_that_a_shell_acts_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    only_tool(monkeypatch, tmp_path, "nvcc", f"touch {tmp_path}/ran")
    (tmp_path / name).write_text(KERNEL, encoding="utf-8")
    assert refused(str(tmp_path / name)).code == "SWZ543"
    assert not (tmp_path / "ran").exists()


# ---- with NVIDIA's tools


@pytest.mark.skipif(not has_tool("nvcc"), reason="nvcc is not installed")
def test_nvcc_itself(tmp_path: Path) -> None:
    (tmp_path / "a b.cu").write_text(KERNEL, encoding="utf-8")
    (found,) = ptx_of_file(str(tmp_path / "a b.cu"), "sm_90") or []
    assert ".entry columns" in found.text
    assert "a b.cu" in found.text  # of .file
    (tmp_path / "bad.cu").write_text("int x = y;", encoding="utf-8")
    assert 'identifier "y" is undefined' in refused(str(tmp_path / "bad.cu")).hint


@pytest.mark.skipif(not (has_tool("nvcc") and has_tool("cuobjdump")), reason="no nvcc, or no cuobjdump")
def test_binaries_of_nvcc(tmp_path: Path) -> None:
    for folder, kernel in (("a", "columns"), ("b", "rows")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "k.cu").write_text(KERNEL.replace("columns", kernel), encoding="utf-8")

    def nvcc(*words: str) -> None:
        subprocess.run([find_tool("nvcc"), *words], cwd=tmp_path, check=True)

    codes = ["-gencode", "arch=compute_80,code=compute_80", "-gencode", "arch=compute_90,code=[sm_90,compute_90]"]
    nvcc("-fatbin", *codes, "a/k.cu", "-o", "k.fatbin")
    nvcc("-cubin", "-arch=sm_90", "a/k.cu", "-o", "k.cubin")
    for folder in ("a", "b"):
        nvcc("-c", "-Xcompiler", "-fPIC", *codes, f"{folder}/k.cu", "-o", f"{folder}.o")
    nvcc("-shared", "a.o", "b.o", "-o", "k.so")
    for name in ("k.fatbin", "a.o"):
        (found,) = ptx_of_file(str(tmp_path / name), "sm_90") or []
        assert found.origin == "PTX 2 of 2, of sm_90"
    # Two objects of one name: cuobjdump -xptx would write one over the other.
    texts = ptx_of_file(str(tmp_path / "k.so"), "sm_90") or []
    assert [".entry columns" in each.text for each in texts] == [True, False]
    assert "machine code of sm_90 only" in refused(str(tmp_path / "k.cubin")).message
    (tmp_path / "cut").write_bytes((tmp_path / "k.fatbin").read_bytes()[:3000])
    assert refused(str(tmp_path / "cut")).code == "SWZ543"

"""NVIDIA's tools: where they are, and running one with limits on time and output.

No shell is started. A tool that does not end is killed, with all processes that it started.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from swzverify.errors import SwzError

LIMIT_S: Final = 120.0
"""Seconds that cuobjdump may take; nvcc has `COMPILE_S`."""
COMPILE_S: Final = 600.0
MOST_BYTES: Final = 256 * 1024 * 1024
"""Bytes that a tool may write."""
_FOLDERS: Final = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
_USUAL: Final = "/usr/local/cuda"
_WHEELS: Final = {
    "cuobjdump": ("nvidia-cuda-cuobjdump", "nvidia-cuda-cuobjdump-cu12"),
    "nvcc": ("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu12"),
    "nvdisasm": ("nvidia-cuda-nvdisasm", "nvidia-cuda-nvdisasm-cu12"),
}
_STEPS: Final = {
    "cuobjdump": "`pip install 'swzverify[binaries]'` brings it, as does the CUDA toolkit; or give the .ptx",
    "nvcc": "install the CUDA toolkit, or set CUDA_HOME; without it give the .ptx, .cubin or program instead",
    "ncu": "NVIDIA Nsight Compute has it; --check FILE.csv reads an export that was made elsewhere",
    "nvdisasm": "`pip install 'swzverify[binaries]'` brings it, as does the CUDA toolkit",
}


@dataclass(frozen=True, slots=True)
class Ran:
    """How a tool ended, and what it wrote: `out` is the file with its standard output."""

    code: int
    out: Path
    err: str


def find_tool(name: str) -> str:
    """The path of a tool: from PATH, CUDA_HOME, /usr/local/cuda, or the PyPI wheels.

    Raises:
        SwzError: SWZ542 if it is not found.

    >>> import sys
    >>> find_tool(sys.executable) == sys.executable
    True
    """
    if found := shutil.which(name):
        return found
    folders = [folder for each in _FOLDERS if (folder := os.environ.get(each))]
    for folder in (*folders, _USUAL):
        if found := shutil.which(os.path.join(folder, "bin", name)):
            return found
    for wheel in _WHEELS.get(name, ()):
        if found := _in_wheel(wheel, name):
            return found
    message = f"{name} is not found: looked in PATH, CUDA_HOME, /usr/local/cuda and the PyPI wheels"
    raise SwzError("SWZ542", message, hint=_STEPS.get(name, ""))


def _in_wheel(wheel: str, name: str) -> str | None:
    from importlib import metadata  # noqa: PLC0415 - it takes a while, and few runs look for a tool there

    with contextlib.suppress(metadata.PackageNotFoundError):
        for file in metadata.distribution(wheel).files or ():
            if file.stem == name and file.parent.name == "bin":
                return shutil.which(str(file.locate()))
    return None


def run_tool(command: list[str], folder: Path, limit_s: float = LIMIT_S, cwd: Path | None = None) -> Ran:
    """Run a tool, by default in the folder that gets what it writes.

    Raises:
        SwzError: SWZ543 for one that cannot be started, takes too long, or writes too much.
    """
    name = Path(command[0]).name
    out, err = folder / "stdout", folder / "stderr"
    with open(out, "wb") as out_file, open(err, "wb") as err_file:
        try:
            process = subprocess.Popen(  # noqa: S603 - a list of arguments; the tool is the user's own
                command,
                cwd=folder if cwd is None else cwd,
                stdin=subprocess.DEVNULL,
                stdout=out_file,
                stderr=err_file,
                start_new_session=True,
            )
        except OSError as error:
            raise SwzError("SWZ543", f"{name} cannot be started: {error.strerror or error}") from error
        try:
            _wait(process, name, folder, limit_s)
        finally:
            _end(process)
    # What a tool says beyond a page helps nobody.
    told = err.read_bytes()[:20_000].decode("utf-8", "replace")
    return Ran(process.returncode, out, told)


def _wait(process: subprocess.Popen[bytes], name: str, folder: Path, limit_s: float) -> None:
    deadline = time.monotonic() + limit_s
    pause = 0.01
    while process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(pause)
        pause = min(0.2, pause * 2)
        if _bytes_in(folder) > MOST_BYTES:
            raise SwzError("SWZ543", f"{name} was ended: it wrote more than {MOST_BYTES >> 20} MiB")
        if time.monotonic() > deadline and process.poll() is None:
            raise SwzError("SWZ543", f"{name} was ended: it took longer than {limit_s:g} s")


def _bytes_in(folder: Path) -> int:
    """What lies in a folder and below it; links count as links."""
    total = 0
    for each in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += each.lstat().st_size
    return total


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a tool and what it started, which is in its session."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.poll() is None:
        process.kill()
        process.wait()

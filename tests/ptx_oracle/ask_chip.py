"""Asks a GPU for the answers that `test_chip.py` compares with.

Run by hand on a machine that has one.

    python -m tests.ptx_oracle.ask_chip OUT.npz

It needs CuPy and ptxas. The file holds:

- `about`: the device, the driver's CUDA version, and the date, as JSON;
- `answers`: the answers of all cases, a row of 64 lanes each; `checksums`: of each case's body;
- `lasts`: of each random program a checksum of the last registers of all lanes;
- `traces`: which lanes were together at each trace point of the random programs.
"""

from __future__ import annotations

import datetime
import json
import random
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from . import random_programs
from .case_list import THREADS, all_cases, checksum, inputs, text_of

PROGRAMS = 150


def program_inputs(seed: int) -> np.ndarray:
    """The first registers of all lanes of a random program."""
    shape = (THREADS, random_programs.REGISTERS)
    return np.random.default_rng(seed).integers(0, 2**32, shape, dtype=np.uint32)


def program_of(seed: int) -> list[random_programs.Statement]:
    """The random program with this number."""
    return random_programs.draw(random.Random(seed), 4, 0)


def assembled(text: str) -> str:
    """Assemble PTX; give the path of the machine code."""
    folder = Path(tempfile.mkdtemp())
    source, target = folder / "cases.ptx", folder / "cases.cubin"
    source.write_text(text)
    subprocess.run(["ptxas", "-arch=sm_90", str(source), "-o", str(target)], check=True)
    return str(target)


def answers(cupy: Any) -> dict[str, np.ndarray]:
    """The answers of all cases."""
    found = all_cases()
    module = cupy.RawModule(path=assembled(text_of(found)))
    given, rows = cupy.asarray(inputs()), []
    for case in found:
        out = cupy.zeros(THREADS, cupy.uint64)
        module.get_function(case.name)((1,), (THREADS,), (given, out))
        rows.append(out.get())
    sums = np.array([checksum(case.body) for case in found], np.uint32)
    return {"answers": np.array(rows), "checksums": sums}


def programs(cupy: Any) -> dict[str, np.ndarray]:
    """Registers and traces of random programs."""
    lasts, traces = [], []
    for seed in range(PROGRAMS):
        kernel = cupy.RawModule(path=assembled(random_programs.text_of(program_of(seed)))).get_function("program")
        last = cupy.zeros((THREADS, random_programs.REGISTERS), cupy.uint32)
        trace = cupy.zeros((THREADS, random_programs.TRACES), cupy.uint32)
        kernel((1,), (THREADS,), (cupy.asarray(program_inputs(seed)), last, trace))
        lasts.append(zlib.crc32(last.get().tobytes()))
        traces.append(trace.get())
    return {"lasts": np.array(lasts, np.uint32), "traces": np.array(traces)}


def about(cupy: Any) -> dict[str, np.ndarray]:
    """Where the answers come from."""
    told = {
        "device": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    return {"about": np.array(json.dumps(told))}


def main() -> None:
    """Write the file."""
    import cupy

    np.savez_compressed(sys.argv[1], **about(cupy), **answers(cupy), **programs(cupy))


if __name__ == "__main__":
    main()

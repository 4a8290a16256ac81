"""The scan's verdicts beside what a GPU's counters said of kernels with a known truth, by the code of
`scan --check`: of the folder that SWZVERIFY_PTX_TRUTH names.

`python -m tests.scan.check_truth` prints the figures; ptxas (through nvcc) and nvdisasm make the
machine code again, and an instruction counts only where its text is the one that was profiled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from swzverify.compiled.binaries import machine_of_file
from swzverify.compiled.binaries.tools import find_tool
from swzverify.compiled.profiler import Counts, spelled
from swzverify.compiled.ptx import Module, read_module
from swzverify.compiled.sass import Listing, read_listing
from swzverify.compiled.scan import Given, ScannedAccess, Verdict, scan_function
from swzverify.compiled.scan.measured import Measured, Status, measured

FOLDER = Path(os.environ.get("SWZVERIFY_PTX_TRUTH", ""))
MISSING = not os.environ.get("SWZVERIFY_PTX_TRUTH") or not (FOLDER / "truth.json").exists()
KERNELS: list[Any] = [] if MISSING else json.loads((FOLDER / "truth.json").read_text())["kernels"]


@dataclass(frozen=True)
class Held:
    """An access that was counted: the kernel, what the scan says, and how counters stand to it;
    `lost` are machine instructions that were counted and are not in the machine code.
    """

    kernel: str
    access: ScannedAccess
    found: Measured
    lost: int


@cache
def built(name: str) -> tuple[Module, Listing]:
    """A PTX file and its machine code. Errors: SWZ542 without the tools."""
    path = FOLDER / "ptx" / f"{name}.ptx"
    find_tool("nvdisasm")
    nvcc = find_tool("nvcc")
    text = path.read_text("utf-8")
    with TemporaryDirectory() as folder:
        cubin = f"{folder}/k.cubin"
        subprocess.run([nvcc, "-cubin", "-lineinfo", "-arch=sm_90a", str(path), "-o", cubin], check=True)
        (machine,) = machine_of_file(str(path), [text], "sm_90", [cubin])
    assert not machine.reason, machine.reason
    return read_module(text, path.name), read_listing(machine.listing, machine.shift)


def held(kernel: Mapping[str, Any], tamper: int = 1) -> Iterator[Held]:
    """Each access of a kernel that was counted; all wavefronts are multiplied by `tamper`."""
    module, listing = built(kernel["file"])
    function = module.function(kernel["mangled"])
    assert function is not None
    block = tuple(kernel["block"])
    found = {each.line: each for each in scan_function(module, function, block, machine=listing)}
    if any(each.chip and each.chip.decision.verdict is Verdict.DEPENDS for each in found.values()):
        # The launch that was counted has values for the parameters.
        values = tuple(f"{at}={each}" for at, each in enumerate(kernel["params"].values()) if isinstance(each, int))
        given = scan_function(module, function, block, given=Given(values), machine=listing)
        found |= {each.line: each for each in given if found[each.line].decision.verdict is Verdict.DEPENDS}
    lines = Counter(each["ptx_line"] for each in kernel["accesses"])
    for truth in kernel["accesses"]:
        if not (hardware := truth.get("hardware")):
            continue
        access = found[truth["ptx_line"]]
        assert access.chip is not None
        counted: dict[tuple[str, int], Counts] = {}
        lost = 0
        left = list(access.chip.code)
        for each in hardware["sass"]:
            text = spelled(each["sass"])
            fit = next((one for one in left if spelled(one.text) == text), None)
            if fit is None:
                lost += 1
                continue
            left.remove(fit)
            counted[fit.section, fit.offset_bytes] = Counts(
                each["executed"], each["wavefronts"] * tamper, each["ideal"], each["active"]
            )
        yield Held(kernel["kernel"], access, measured(access, counted, is_alone=lines[access.line] == 1), lost)


def main() -> None:
    """Print the figures."""
    every = [each for kernel in KERNELS for each in held(kernel)]
    counts = Counter(
        (each.access.chip.decision.verdict.value, each.found.status.value) for each in every if each.access.chip
    )
    lost = sum(each.lost for each in every)
    print(f"{len(KERNELS)} kernels, {len(every)} accesses that were counted, {lost} instructions lost")
    for (verdict, status), count in sorted(counts.items()):
        print(f"{verdict:9} {status:10} {count}")
    for each in every:
        if each.found.status is Status.DISAGREES or (each.found.status is Status.OPEN and "-v" in sys.argv):
            print(each.kernel, each.access.line, each.access.instruction, each.found.reason)


if __name__ == "__main__":
    main()

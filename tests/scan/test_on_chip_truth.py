"""Machine code against what a GPU's counters said of each machine instruction: of the folder that
SWZVERIFY_PTX_TRUTH names, where ptxas (through nvcc) and nvdisasm are.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from swzverify.compiled.binaries import machine_of_file
from swzverify.compiled.binaries.tools import find_tool
from swzverify.compiled.ptx import read_module
from swzverify.compiled.sass import Listing, read_listing
from swzverify.compiled.scan import scan_function
from swzverify.errors import SwzError

FOLDER = Path(os.environ.get("SWZVERIFY_PTX_TRUTH", ""))
MISSING = not os.environ.get("SWZVERIFY_PTX_TRUTH") or not (FOLDER / "truth.json").exists()
KERNELS: list[Any] = [] if MISSING else json.loads((FOLDER / "truth.json").read_text())["kernels"]
RELATIONS = {
    "exact": {"same"},
    "same instruction, other wavefronts": {"same"},
    "not executed": {"same"},
    "wider instruction": {"merged"},
    "no SASS (merged into another line's instruction, or removed)": {"merged", "none"},
    "other instructions (ATOMS, LDS)": {"split"},
}


@cache
def machine(name: str) -> Listing:
    path = FOLDER / "ptx" / f"{name}.ptx"
    try:
        find_tool("nvdisasm")
        nvcc = find_tool("nvcc")
    except SwzError as error:
        pytest.skip(error.message)
    with TemporaryDirectory() as folder:
        cubin = f"{folder}/k.cubin"
        subprocess.run([nvcc, "-cubin", "-lineinfo", "-arch=sm_90a", str(path), "-o", cubin], check=True)
        (found,) = machine_of_file(str(path), [path.read_text("utf-8")], "sm_90", [cubin])
    assert not found.reason
    return read_listing(found.listing, found.shift)


@pytest.mark.skipif(MISSING, reason="SWZVERIFY_PTX_TRUTH names no folder with truth.json")
@pytest.mark.parametrize("kernel", KERNELS, ids=[each["kernel"] for each in KERNELS])
def test_what_the_counters_saw(kernel: Any) -> None:
    listing = machine(kernel["file"])
    module = read_module((FOLDER / "ptx" / f"{kernel['file']}.ptx").read_text("utf-8"), "k.ptx")
    function = module.function(kernel["mangled"])
    assert function is not None
    chips = {each.line: each.chip for each in scan_function(module, function, tuple(kernel["block"]), machine=listing)}
    for access in kernel["accesses"]:
        if not (hardware := access.get("hardware")):
            continue
        chip = chips[access["ptx_line"]]
        assert chip is not None
        assert chip.relation.value in RELATIONS[hardware["relation"]], access
        mine = sorted((each.opcode.width_bits or 0) // 8 for each, count in chip.instructions for _ in range(count))
        if hardware["sass"]:
            assert mine == sorted(each["width"] for each in hardware["sass"]), access
        for each in hardware["sass"]:
            if chip.decision.verdict == "free":
                assert each["wavefronts"] <= each["ideal"], access
            if chip.decision.wavefronts is not None and not chip.decision.at_least:
                assert each["wavefronts"] <= chip.decision.wavefronts * each["executed"], access

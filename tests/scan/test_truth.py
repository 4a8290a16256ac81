"""The scan against an interpreter: of the shipped texts, and of the folder with the truth that
SWZVERIFY_PTX_TRUTH names.
"""

from __future__ import annotations

import json
import os
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import pytest

from swzverify.compiled.ptx import Module, read_module_file
from swzverify.compiled.scan import NOTHING_GIVEN, ScannedAccess
from tests.ptx.texts import HERE
from tests.ptx_oracle import OracleError, run_auto
from tests.scan.whole import scan_module, scan_operands

FOLDER = Path(os.environ.get("SWZVERIFY_PTX_TRUTH", ""))
MISSING = not os.environ.get("SWZVERIFY_PTX_TRUTH") or not (FOLDER / "truth.json").exists()
KERNELS: list[Any] = [] if MISSING else json.loads((FOLDER / "truth.json").read_text())["kernels"]
SHIPPED = [(path, shape) for path in sorted(HERE.glob("*.ptx")) for shape in ((32, 8, 1), (128, 1, 1))]


@cache
def module(path: Path) -> Module:
    return read_module_file(path)


def by_line(path: Path, kernel: str, shape: tuple[int, int, int]) -> dict[int, ScannedAccess]:
    return {each.line: each for each in scan_module(module(path), shape, kernel)}


@pytest.mark.skipif(MISSING, reason="SWZVERIFY_PTX_TRUTH names no folder with truth.json")
@pytest.mark.parametrize("kernel", KERNELS, ids=[each["kernel"] for each in KERNELS])
def test_no_free_of_the_truth_is_wrong_and_every_access_is_listed(kernel: Any) -> None:
    path = FOLDER / "ptx" / f"{kernel['file']}.ptx"
    found = by_line(path, kernel["mangled"], tuple(kernel["block"]))
    for access in kernel["accesses"]:
        scanned = found[access["ptx_line"]]
        if scanned.decision.verdict == "free":
            assert access.get("degree", 1) <= 1, (access["ptx_line"], access["text"])
        if scanned.decision.verdict == "conflict" and access["class"] == "free":
            pytest.fail(f"line {access['ptx_line']}: {access['text']} is free")


# A wait for a copy may never end in the interpreter: few steps show as many accesses.
@pytest.mark.parametrize("steps", [pytest.param(3000, marks=pytest.mark.nightly), 200])
@pytest.mark.parametrize(
    ("path", "shape"), SHIPPED, ids=lambda value: value.stem if isinstance(value, Path) else str(value)
)
def test_what_an_interpreter_sees_is_no_worse(path: Path, shape: tuple[int, int, int], steps: int) -> None:
    for function in module(path).functions:
        if not function.is_entry:
            continue
        most = function.most_threads or prod(shape)
        chosen = function.required_threads or (shape if prod(shape) <= most else (most, 1, 1))
        found = by_line(path, function.name, chosen)
        try:
            seen = run_auto(path.read_text(encoding="utf-8"), function.name, chosen, steps=steps)
        except OracleError:
            continue
        for line in seen.lines.values():
            if line.kind == "mbarrier":  # no access: the scan counts it
                assert line.line not in found, line
                continue
            if line.kind == "wgmma":  # operands have no verdict on bank conflicts
                operands = scan_operands(module(path), function, chosen, NOTHING_GIVEN, None)
                assert line.line in {each.line for each in operands} | set(found), line
                continue
            assert line.line in found, line
            decision = found[line.line].decision
            if decision.verdict == "free":
                assert line.ways <= 1, line
            if decision.verdict == "conflict" and not decision.at_least:
                assert line.ways <= (decision.ways or 0), line

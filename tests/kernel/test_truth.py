"""Real kernels: those of the folder that SWZVERIFY_PTX_TRUTH names, against the interpreter."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from swzverify.compiled.kernel import accesses, inlined
from swzverify.compiled.ptx import Instruction, Module, read_module_file
from tests.kernel.differential import Tally, compare_all, watched
from tests.ptx.texts import HERE
from tests.ptx_oracle import launch
from tests.ptx_oracle.test_truth import argument

FOLDER = Path(os.environ.get("SWZVERIFY_PTX_TRUTH", ""))
MISSING = not os.environ.get("SWZVERIFY_PTX_TRUTH") or not (FOLDER / "truth.json").exists()
needs_truth = pytest.mark.skipif(MISSING, reason="SWZVERIFY_PTX_TRUTH names no folder with truth.json")
LAUNCHES: list[Any] = [] if MISSING else json.loads((FOLDER / "launches.json").read_text())
FILES = [*sorted(HERE.glob("*.ptx")), *([] if MISSING else sorted((FOLDER / "ptx").glob("*.ptx")))]
MOST = 3


@cache
def module(path: Path) -> Module:
    return read_module_file(path)


def path_of(kernel: Any) -> Path:
    return FOLDER / "ptx" / f"{kernel['file']}.ptx"


@needs_truth
@pytest.mark.parametrize("kernel", LAUNCHES, ids=[each["kernel"] for each in LAUNCHES])
def test_every_execution_is_explained(kernel: Any) -> None:
    path = path_of(kernel)
    function = module(path).function(kernel["mangled"])
    assert function is not None
    total = Tally()
    for one in kernel["launches"]:
        shape = tuple(one["block"])
        found = accesses(module(path), function, shape)
        for each in module(path).functions:
            if not each.is_entry and not each.is_declaration:
                found = found + accesses(module(path), each, shape)
        given = [argument(a["type"], a["value"], a["name"], one["set"]) for a in kernel["args"]]
        with watched() as events:
            result = launch(path.read_text(), kernel["mangled"], one["grid"], shape, one["smem"], given, one["seed"])
        assert not result.error
        tally = compare_all(found, events, shape, lambda _: None, MOST)
        assert tally.wrong == ()
        total.explained += tally.explained
        total.undecided += tally.undecided
    assert total.explained > total.undecided


@needs_truth
@pytest.mark.parametrize("kernel", LAUNCHES, ids=[each["kernel"] for each in LAUNCHES])
def test_every_access_of_the_truth_is_listed(kernel: Any) -> None:
    truth = {each["mangled"]: each for each in json.loads((FOLDER / "truth.json").read_text())["kernels"]}
    shape = tuple(kernel["launches"][0]["block"])
    listed = {
        access.site.line
        for function in module(path_of(kernel)).functions
        if function.name == kernel["mangled"] or not function.is_entry
        for access in accesses(module(path_of(kernel)), function, shape)
    }
    assert {each["ptx_line"] for each in truth[kernel["mangled"]]["accesses"]} <= listed


SPACED = re.compile(
    r"^\s*(?:\{\s*)?(?:@!?[%\w$]+\s+)?((?:ld|ldu|st|atom|red|ldmatrix|stmatrix|cp|mbarrier|wgmma|wmma|tcgen05|multimem|call|"
    r"tensormap|clusterlaunchcontrol)\b[\w.:]*)"
)
ELSEWHERE = re.compile(
    r"\.(?:global|local|const|param)\b(?!.*shared)|async\.(?:commit|wait|bulk\.(?:commit|wait))|wgmma\.(?:fence|commit|wait)"
    r"|wmma\.mma|prefetch|tcgen05\.(?:ld|st|wait|fence|dealloc|relinq|shift)|pending_count"
)


def is_call(instruction: Instruction) -> bool:
    return instruction.opcode.startswith("call")


@pytest.mark.parametrize("path", FILES, ids=[each.name for each in FILES])
def test_every_instruction_that_names_shared_or_generic_memory_is_listed(path: Path) -> None:
    """The lines are read here by a pattern of their own, so that one that is passed over is seen."""
    expected = set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = SPACED.match(line.partition("//")[0])
        if found and not ELSEWHERE.search(found[1]):
            expected.add(number)
    found = (access for function in module(path).functions for access in accesses(module(path), function))
    listed = {access.site.line: access for access in found}
    followed: set[int] = set()
    for function in module(path).functions:
        left = {each.line for each in inlined(module(path), function).function.instructions if is_call(each)}
        followed |= {each.line for each in function.instructions if is_call(each)} - left
    assert expected - set(listed) - followed == set()
    assert not [access for access in listed.values() if access.address is None and not access.reason]

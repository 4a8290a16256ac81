"""All accesses or operands of a module, as lists."""

from __future__ import annotations

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.scan import (
    NOTHING_GIVEN,
    Given,
    ScannedAccess,
    ScannedOperand,
    scan_function,
    scan_operands_and_stages,
    scanned_functions,
)


def scan_module(
    module: Module,
    block: BlockShape | None = None,
    kernel: str | None = None,
    target: str = "sm_90",
    given: Given = NOTHING_GIVEN,
    smem: int | None = None,
) -> list[ScannedAccess]:
    """All accesses of all kernels, in the order of the text; with `kernel`, of that one alone."""
    found: list[ScannedAccess] = []
    for place in scanned_functions(module, kernel):
        found += scan_function(module, module.functions[place], block, target, given, smem)
    return found


def scan_operands(
    module: Module, function: Function, block: BlockShape | None, given: Given, smem: int | None
) -> list[ScannedOperand]:
    """The operands of a function, without the balance of its stages."""
    return scan_operands_and_stages(module, function, block, given, smem)[0]

"""Conflicts that a trial met, of accesses that are free in a grid of one block.

A trial has numbers for the registers of the grid. How many blocks there are is the launch's choice:
where an access is proved free for one block, the verdict is `depends`, as for a parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swzverify.compiled.kernel import accesses, inlined
from swzverify.compiled.kernel.special import is_of_grid
from swzverify.compiled.ptx import Function, Module, SpecialRegister
from swzverify.compiled.scan.assuming import Decide, NeverMade, judged
from swzverify.compiled.scan.tried import Kernel
from swzverify.compiled.scan.verdict import Decision, Verdict
from swzverify.compiled.trial import ONE_BLOCK
from swzverify.hardware import capability_of


def for_one_block(
    kernel: Kernel, decisions: Sequence[Decision], decide: Decide, is_never_made: NeverMade
) -> list[Decision]:
    """The decisions on all accesses of a kernel, `depends` where one block alone has no conflict."""
    found = [*decisions]
    met = [at for at, each in enumerate(found) if each.launch is not None and each.launch.grid != ONE_BLOCK]
    names = _registers(kernel.module, kernel.function) if met and kernel.facts.arguments.grid is None else ()
    if not names:
        return found
    arguments = replace(kernel.facts.arguments, grid=ONE_BLOCK)
    alone = accesses(kernel.module, kernel.function, kernel.block, arguments, capability_of(kernel.target))
    for at in met:
        access, there = judged(alone[at], decide, is_never_made)
        if there.verdict is Verdict.FREE:
            found[at] = replace(
                found[at],
                verdict=Verdict.DEPENDS,
                reason=f"free for a grid of one block; {found[at].reason}",
                parameters=names,
                engines=(*there.engines, *found[at].engines),
                assumes=(*found[at].assumes, *access.assumes, *there.assumes),
            )
    return found


def _registers(module: Module, function: Function) -> tuple[str, ...]:
    """The registers of the grid that a kernel reads."""
    whole = inlined(module, function).function
    read = {
        operand.name[1:]
        for each in whole.instructions
        for operand in each.operands
        if isinstance(operand, SpecialRegister)
    }
    return tuple(sorted(filter(is_of_grid, read)))

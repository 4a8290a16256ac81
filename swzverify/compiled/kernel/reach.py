"""Which accesses may reach the memory of other blocks of a cluster."""

from __future__ import annotations

from swzverify.compiled.kernel.arithmetic import sub
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.whole import Kernel
from swzverify.ir.expr import variables


def may_leave(kernel: Kernel, index: int) -> bool:
    """Whether an access that is no operation on a barrier may reach another block."""
    own = kernel.ranks.own
    addresses = [each.address for each in kernel.parts[index] if each.operand is None]
    relative = [sum_of(sub(each, own)).expression() for each in addresses]
    return any(each in variables(own) for each in variables(*relative))

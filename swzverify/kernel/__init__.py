"""Compiled kernels: from PTX to the addresses of their shared-memory accesses, as expressions.

`accesses` is the way in. `flow` cuts a function into blocks, `slices` finds the value of a register
at an instruction, `evaluate` and `meaning` what an instruction computes, `induction` what loops do,
`uniform` what all lanes of a warp share. Imports `ptx`, `hardware`, `ir` and `errors`.
"""

from swzverify.kernel.accesses import KernelAccess, LoopAround, accesses
from swzverify.kernel.leaves import Kind, Leaf

__all__ = ["KernelAccess", "Kind", "Leaf", "LoopAround", "accesses"]

"""Compiled kernels: from PTX to the addresses of their shared-memory accesses, as expressions.

`accesses` is the entry point: it lists the accesses of a function, each with its address and with the condition
under which a thread makes it. `whole` reads all accesses of a kernel at once, for questions about two of them.
docs/architecture.md, "Which file has which rule", lists the files by topic.

What it relies on: lanes that part meet again at the place to which all their ways lead; lanes run
an access together only in the same trip of a loop that all of them leave at one trip; an address
computed from a shared generic one stays in the shared window, and one that begins with a pointer of
the kernel's parameters is never in it; addresses of the window are below 2^24; lanes of a warp are
32 successive threads, counted along x first; the given block is the launch's.
"""

from swzverify.compiled.kernel.access import KernelAccess, LoopAround
from swzverify.compiled.kernel.accesses import accesses
from swzverify.compiled.kernel.arguments import Arguments, Box, Field
from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.fills import KernelFill
from swzverify.compiled.kernel.leaves import (
    ArrayLeaf,
    CarriedLeaf,
    LaneLeaf,
    Leaf,
    LoopLeaf,
    OpaqueLeaf,
    TripsLeaf,
    UniformLeaf,
    parameter_variable,
)
from swzverify.compiled.kernel.listing import count_synchronizations
from swzverify.compiled.kernel.mma import FragmentLoad, KernelFragment, read_fragments
from swzverify.compiled.kernel.operands import KernelOperand, operands, read_operands
from swzverify.compiled.kernel.transfers import KernelTransfer

__all__ = [
    "Arguments",
    "ArrayLeaf",
    "Box",
    "CarriedLeaf",
    "Field",
    "FragmentLoad",
    "KernelAccess",
    "KernelFill",
    "KernelFragment",
    "KernelOperand",
    "KernelTransfer",
    "LaneLeaf",
    "Leaf",
    "LoopAround",
    "LoopLeaf",
    "OpaqueLeaf",
    "TripsLeaf",
    "UniformLeaf",
    "accesses",
    "count_synchronizations",
    "inlined",
    "operands",
    "parameter_variable",
    "read_fragments",
    "read_operands",
]

"""Addresses of variables, and the windows of generic addresses.

Source: PTX ISA, State Spaces; Data Movement and Conversion Instructions: cvta; Generic Addressing.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.kernel.arithmetic import add, widened
from swzverify.compiled.kernel.leaves import Leaves
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.ptx import Function, Module, Space, Symbol, SymbolRef
from swzverify.ir.expr import Expr, Var, const

ADDRESSES: Final = 1 << 32
"""Addresses of 32 bits count modulo this."""
DYNAMIC: Final = "dynamic shared memory"
"""What all dynamic arrays of a kernel are called, as they begin at one place."""
SHARED_LIMIT: Final = 1 << 24
"""Addresses of the shared window are below this; the most that a block can have is 227 KiB.

Source: CUDA Programming Guide 13, 5.1.3, table 31.
"""
SHARED_WINDOW: Final = "window of shared"
"""The name of the leaf that says where shared memory begins in generic addresses."""
WINDOW_ALIGN_BYTES: Final = 1 << 18
WINDOW_ALIGNED: Final = f"shared memory begins at a multiple of {WINDOW_ALIGN_BYTES} in generic addresses"
"""What a shared address assumes that a kernel takes from the low bits of a generic address.

No manual says it; on an H200 it held in each launch (`tests/data/h200_tma_counters.csv`). A matrix descriptor with such
bits is right only where it holds, as its field is the address in shared memory.
"""


class Symbols:
    """Addresses of the variables that a function sees."""

    def __init__(self, module: Module, function: Function, leaves: Leaves) -> None:
        self.module, self.function, self.leaves = module, function, leaves
        self.parameters: set[str] = set()
        """The names of leaves that are bytes of a kernel's parameters."""

    def find(self, name: SymbolRef) -> Symbol | None:
        """The variable; None for a parameter or a function."""
        if name.scope == 0:
            return self.module.symbol(name.name)
        return self.function.symbol(name.name, name.scope)

    def address(self, name: SymbolRef, width: int) -> Expr:
        """The address in the variable's own space, as so many bits."""
        symbol = self.find(name)
        label = self._label(name)
        if symbol is None:
            what = "parameter" if self.function.parameter(name.name) and name.scope == 1 else "name"
            base = self.leaves.uniform(f"address of {what} {label}", 64, f"the address of {name.name}")
        else:
            space = symbol.space.value
            size, limit = (32, SHARED_LIMIT) if symbol.space is Space.SHARED else (64, 1 << 64)
            multiple = min(_power(symbol.align_bytes), limit)
            reason = f"the {space} address of {name.name}, a multiple of {symbol.align_bytes}"
            base = self.leaves.address(f"{space} {label}", size, multiple, limit, reason, symbol)
        return add(widened(base, width), const(name.offset, width))

    def _label(self, name: SymbolRef) -> str:
        """A text that no other variable has: inner scopes, and the function, may hide an outer one."""
        hides = name.scope == 1 and self.find(name) is not None and self.module.symbol(name.name) is not None
        return f"{name.name}:{name.scope}" if hides or name.scope > 1 else name.name

    def is_parameter(self, leaf: Var) -> bool:
        """Whether a leaf is made of bytes of a kernel's parameter."""
        return leaf.name in self.parameters

    def window(self, space: str, width: int) -> Expr:
        """Where the addresses of a space begin among generic addresses."""
        return widened(
            self.leaves.uniform(f"window of {space}", 64, f"where .{space} begins in generic addresses"), width
        )

    def parameter(self, place: Expr) -> tuple[str, int] | None:
        """The kernel's parameter at an address, with the offset in it; None for other addresses."""
        found = sum_of(place)
        if not self.function.is_entry or len(found.terms) != 1:
            return None
        for parameter in self.function.parameters:
            if self.function.symbol(parameter.name) is not None:
                continue
            base = self.leaves.uniform(f"address of parameter {parameter.name}", 64, f"the address of {parameter.name}")
            if found.terms == {widened(base, place.width): 1}:
                return parameter.name, found.number
        return None


def _power(align: int) -> int:
    """The largest power of two that divides an alignment."""
    return align & -align or 1

"""Calls of functions: how arguments and results get from one frame to another."""

from __future__ import annotations

import numpy as np

from .block import BlockState
from .errors import FaultError, UnsupportedError
from .fetch import Array, Batch
from .model import WIDTHS, Group, Instr, Operand, Reg, Sym, Symbol
from .program import Code, Program
from .spaces import UINT

DEEPEST = 128
"""Calls deeper than this are a fault."""


def parts(call: Instr) -> tuple[list[Operand], Operand, list[Operand]]:
    """The results, the target and the arguments of a call."""
    rest = list(call.operands)
    results = list(rest.pop(0).items) if isinstance(rest[0], Group) else []
    target = rest.pop(0)
    arguments = list(rest[0].items) if rest and isinstance(rest[0], Group) else []
    return results, target, arguments


def outside(program: Program, target: Operand, line: int) -> bool:
    """Say whether a call goes to a function of the driver that changes nothing.

    A failed assertion is a fault.
    """
    if not isinstance(target, Sym):
        return False
    if target.name == "__assertfail":
        raise FaultError("an assertion failed", line)
    function = program.layout.module.function(target.name)
    return target.name == "vprintf" and (function is None or not function.body)


def enter(block: BlockState, caller: Code, callee: Code, call: Instr, mask: Array, depth: int) -> None:
    """Copy the arguments of a call into the frame at depth + 1."""
    if depth + 1 > DEEPEST:
        raise FaultError(f"calls deeper than {DEEPEST}", call.line)
    block.grow(depth + 1)
    _, _, arguments = parts(call)
    if len(arguments) != len(callee.function.params):
        raise UnsupportedError(f"call of {callee.function.name} with {len(arguments)} arguments", call.line)
    for argument, formal in zip(arguments, callee.function.params, strict=True):
        copy(block, mask, (caller, argument, depth), (callee, formal, depth + 1), call.line)


def leave(block: BlockState, callee: Code, caller: Code, call: Instr, mask: Array, depth: int) -> None:
    """Copy the results of a call from the frame at `depth` to its caller's."""
    results, _, _ = parts(call)
    for result, formal in zip(results, callee.function.returns, strict=False):
        copy(block, mask, (callee, formal, depth), (caller, result, depth - 1), call.line)


End = tuple[Code, Operand | Symbol, int]
"""One end of a copy: the function, the parameter or register, and the depth of its frame."""


def copy(block: BlockState, mask: Array, source: End, into: End, line: int) -> None:
    """Copy a parameter or a register to another one."""
    code, what, depth = into
    if isinstance(what, Reg):
        width = max(8, WIDTHS[what.type]) // 8
        value = np.ascontiguousarray(_bytes(block, source, width, line)).view(UINT[width]).reshape(-1)
        code.env.dst(what, line)(_batch(block, code, mask, depth), value, mask)
        return
    symbol = _symbol(code, what, line)
    at = block.layout.at[id(symbol)] + depth * block.layout.param_stride
    block.params.rows()[mask, at : at + symbol.size] = _bytes(block, source, symbol.size, line)[mask]


def _symbol(code: Code, what: Operand | Symbol, line: int) -> Symbol:
    found = what if isinstance(what, Symbol) else code.env.layout.find(what) if isinstance(what, Sym) else None
    if found is None or found.space != "param":
        raise UnsupportedError(f"{what} as a parameter of a call", line)
    return found


def _bytes(block: BlockState, source: End, width: int, line: int) -> Array:
    """The value of an end as bytes, a row for each lane."""
    code, what, depth = source
    if isinstance(what, Symbol | Sym) and (isinstance(what, Symbol) or code.env.layout.find(what) is not None):
        symbol = _symbol(code, what, line)
        at = block.layout.at[id(symbol)] + depth * block.layout.param_stride
        return block.params.rows()[:, at : at + width].copy()
    everyone = np.ones(block.lanes, bool)
    value = code.env.src(what, f"b{8 * width}", line)(_batch(block, code, everyone, depth))
    return np.ascontiguousarray(np.broadcast_to(value, everyone.shape)).view(np.uint8).reshape(block.lanes, width)


def _batch(block: BlockState, code: Code, mask: Array, depth: int) -> Batch:
    return Batch(block, block.registers(code, depth), mask, depth, 0)

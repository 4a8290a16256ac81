"""Gives every variable of a module its address, as the driver does for one entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .errors import OracleError, UnsupportedError
from .model import Addr, Function, Group, Imm, Module, Not, Operand, Pair, Sym, Symbol, Vec
from .spaces import GENERIC, GLOBAL_BASE, SHARED_BASE, Arena, Flat, round_up

CODE_BASE = 0x7400_0000_0000
"""Addresses of functions."""


def leaves(operands: Sequence[Operand]) -> Iterator[Operand]:
    """Give the operands that consist of no others, at any depth."""
    for operand in operands:
        if isinstance(operand, Vec | Group):
            yield from leaves(operand.items)
        elif isinstance(operand, Addr):
            yield from leaves((operand.base, *operand.extra))
        elif isinstance(operand, Pair):
            yield from leaves((operand.first, operand.second))
        elif isinstance(operand, Not):
            yield from leaves((operand.item,))
        else:
            yield operand


def names_in(operands: Sequence[Operand]) -> list[Sym]:
    """All names that operands mention, at any depth."""
    return [operand for operand in leaves(operands) if isinstance(operand, Sym)]


def reachable(module: Module, entry: Function) -> list[Function]:
    """The entry and every function that it may call, also by pointers in code or variables."""
    found, todo, seen = [entry], [entry], set()
    for function in todo:
        names = [name for instr in function.instrs for name in names_in(instr.operands)]
        for name in names:
            symbol = name.scope.find("symbols", name.name)
            if isinstance(symbol, Symbol) and id(symbol) not in seen:
                seen.add(id(symbol))
                names += [item for _, _, item in symbol.init if isinstance(item, Sym)]
            other = module.function(name.name)
            if other is not None and other not in found and other.body:
                found.append(other)
                todo.append(other)
    return found


class Layout:
    """Addresses of all variables, and the memories whose contents the module gives."""

    def __init__(self, module: Module, entry: Function, dynamic: int, arena: Arena) -> None:
        self.module = module
        self.functions = reachable(module, entry)
        self.codes = {name: CODE_BASE + 16 * at for at, name in enumerate(module.functions)}
        self.at: dict[int, int] = {}
        """Address of each symbol (by id) in its space.

        The address of locals and parameters is relative to the frame.
        """
        self.arena = arena
        self.shared_end = 0
        self._place_shared(dynamic)
        self.const = self._place_const()
        self._globals = [s for s in module.scope.symbols.values() if s.space == "global"]
        for function in self.functions:
            self._globals += [s for s in function.symbols if s.space == "global"]
        for symbol in self._globals:
            self.at[id(symbol)] = arena.add(np.zeros(max(symbol.size, 16), np.uint8))
        self.local_stride = max(self._place_frame(function, "local") for function in self.functions)
        self.param_stride = max(self._place_frame(function, "param") for function in self.functions)

    def fill_globals(self) -> None:
        """Write the initial values of global variables, once the arena is laid out."""
        for symbol in self._globals:
            base = self.at[id(symbol)] - GLOBAL_BASE
            self._write(self.arena.bytes, base, symbol)

    def _mentioned(self) -> set[int]:
        """Module variables that the kernel or a function of its mentions."""
        found = set()
        for function in self.functions:
            for instr in function.instrs:
                for name in names_in(instr.operands):
                    symbol = name.scope.find("symbols", name.name)
                    found.add(id(symbol))
        return found

    def _place_shared(self, dynamic: int) -> None:
        """Place static variables in the order of their lines, and all dynamic ones after them."""
        used = self._mentioned()
        symbols = [s for s in self.module.scope.symbols.values() if s.space == "shared" and id(s) in used]
        for function in self.functions:
            symbols += [s for s in function.symbols if s.space == "shared"]
        symbols.sort(key=lambda symbol: symbol.line)
        at = SHARED_BASE
        for symbol in symbols:
            if not symbol.extern:
                at = round_up(at, symbol.align)
                self.at[id(symbol)] = at
                at += symbol.size
        outside = [symbol for symbol in symbols if symbol.extern]
        start = round_up(at, max((symbol.align for symbol in outside), default=16))
        for symbol in outside:
            self.at[id(symbol)] = start
        self.dynamic_start = start
        self.static_end = at
        self.shared_end = start + dynamic if dynamic else at

    def _place_const(self) -> Flat:
        """Lay out .const variables with their initial values."""
        symbols = [s for s in self.module.scope.symbols.values() if s.space == "const"]
        for function in self.functions:
            symbols += [s for s in function.symbols if s.space == "const"]
        at = 0
        for symbol in symbols:
            at = round_up(at, symbol.align)
            self.at[id(symbol)] = at
            at += symbol.size
        memory = Flat(at, "const", lenient=self.arena.lenient)
        self._const_symbols = symbols
        return memory

    def fill_const(self) -> None:
        """Write the initial values of .const variables."""
        for symbol in self._const_symbols:
            self._write(self.const.bytes, self.at[id(symbol)], symbol)

    def _place_frame(self, function: Function, space: str) -> int:
        """Lay out a function's local variables or its parameters; give the size of the frame."""
        formal = [item for item in [*function.params, *function.returns] if isinstance(item, Symbol)]
        at = 0
        for symbol in [*formal, *function.symbols]:
            if symbol.space == space:
                at = round_up(at, symbol.align)
                self.at[id(symbol)] = at
                at += symbol.size
        return round_up(at, 16)

    def _write(self, memory: np.ndarray, base: int, symbol: Symbol) -> None:
        """Write the initial values of one variable."""
        for at, width, item in symbol.init:
            if isinstance(item, Imm):
                bits = item.value if item.bits or isinstance(item.value, int) else float_bits(item.value, width)
                value = int(bits)
            else:
                value = self.generic(item)
            data = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            memory[base + at : base + at + width] = np.frombuffer(data, np.uint8)

    def find(self, name: Sym) -> Symbol | None:
        """The variable that a name means."""
        found = name.scope.find("symbols", name.name)
        return found if isinstance(found, Symbol) else None

    def address(self, name: Sym, line: int = 0) -> tuple[str, int]:
        """Give the space of a name, and its address there (for local and param, in the frame)."""
        symbol = self.find(name)
        if symbol is not None:
            return symbol.space, self.at[id(symbol)] + name.offset
        function = self.module.function(name.name)
        if function is not None:
            return "code", self.codes[function.name]
        raise UnsupportedError(f"unknown name {name.name}", line)

    def generic(self, name: Sym) -> int:
        """The generic address of a module variable."""
        space, at = self.address(name)
        return at + GENERIC.get(space, 0)


def float_bits(value: float, width: int) -> int:
    """The bits of a decimal number as a float of 2, 4 or 8 bytes."""
    kind = {2: np.float16, 4: np.float32, 8: np.float64}.get(width)
    if kind is None:
        raise OracleError(f"no float of {width} bytes")
    return int.from_bytes(np.array(value, kind).tobytes(), "little")

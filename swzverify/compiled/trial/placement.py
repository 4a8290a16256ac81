"""Where a launch has its parameters, variables and buffers, and its block in the grid."""

from __future__ import annotations

from typing import Final

import numpy as np

from swzverify.compiled.ptx import Function, Module, Space, Symbol, SymbolRef
from swzverify.compiled.trial.launch import Launch
from swzverify.compiled.trial.memory import (
    BUFFER_BASE,
    BUFFER_STEP,
    CONSTANT_BASE,
    LOCAL_BASE,
    PARAMETER_BASE,
    SHARED_WINDOW,
    SYMBOL_BASE,
    Region,
)

SHARED_BEGIN: Final = 1024
"""Where a block's variables begin in shared memory."""
MOST_LOCAL_BYTES: Final = 1 << 16
MOST_SYMBOL_BYTES: Final = 1 << 22


def coordinates_of(launch: Launch) -> dict[str, int]:
    """What special registers say of the block's place in the grid."""
    found: dict[str, int] = {}
    for axis, extent, place in zip("xyz", launch.grid, launch.place, strict=True):
        found |= {f"ctaid.{axis}": place, f"nctaid.{axis}": extent}
        found |= {f"clusterid.{axis}": place, f"nclusterid.{axis}": extent}
        found |= {f"cluster_ctaid.{axis}": 0, f"cluster_nctaid.{axis}": 1}
    return found | {
        "cluster_ctarank": 0,
        "cluster_nctarank": 1,
        "is_explicit_cluster": 0,
        "dynamic_smem_size": launch.dynamic_bytes,
    }


class Placement:
    """Where parameters, variables and buffers are."""

    def __init__(self, module: Module, function: Function, launch: Launch) -> None:
        self.regions: list[Region] = []
        self.addresses: dict[SymbolRef, int] = {}
        self._next = {
            Space.LOCAL: LOCAL_BASE,
            Space.PARAM: 2 * LOCAL_BASE,
            Space.CONST: CONSTANT_BASE,
            Space.GLOBAL: SYMBOL_BASE,
        }
        at = PARAMETER_BASE
        for parameter in function.parameters:
            raw = launch.parameters.get(parameter.name, b"")
            if raw:
                at = -(-at // 16) * 16
                self.addresses[SymbolRef(parameter.name, 1)] = at
                self.regions.append(Region(at, len(raw), np.frombuffer(raw, dtype=np.uint8)))
                at += len(raw)
        self._shared([*module.symbols, *function.symbols], launch.dynamic_bytes)
        for symbol in (*module.symbols, *function.symbols):
            if symbol.space is not Space.SHARED:
                self._variable(symbol)
        for number, buffer in enumerate(launch.buffers):
            data = buffer.content
            self.regions.append(Region(BUFFER_BASE + number * BUFFER_STEP, len(data), data))

    def array_at(self, byte: int) -> tuple[str, int]:
        """The array that has a byte of the block's shared memory, and the byte's offset in it."""
        begin, name = max((each for each in self.arrays if each[0] <= byte), default=(0, ""))
        return name, byte - begin

    def _shared(self, symbols: list[Symbol], dynamic_bytes: int) -> None:
        at = SHARED_BEGIN
        inside = [each for each in symbols if each.space is Space.SHARED]
        starts: dict[int, int] = {}
        self.arrays: list[tuple[int, str]] = []
        for symbol in sorted(inside, key=lambda each: each.is_extern or each.size_bytes is None):
            at = -(-at // symbol.align_bytes) * symbol.align_bytes
            self.addresses[SymbolRef(symbol.name, symbol.scope)] = at
            starts[at] = min(symbol.align_bytes, starts.get(at, symbol.align_bytes))
            self.arrays.append((at - SHARED_BEGIN, symbol.name))
            if not symbol.is_extern:
                at += symbol.size_bytes or 0
        self.starts = tuple(sorted(starts.items()))
        size = at - SHARED_BEGIN + (dynamic_bytes if any(each.is_extern for each in inside) else 0)
        if size:
            self.regions.append(Region(SHARED_WINDOW + SHARED_BEGIN, size))

    def _variable(self, symbol: Symbol) -> None:
        """Place a variable of global, constant or local memory, or one through which calls pass values."""
        space, size = symbol.space, symbol.size_bytes
        is_own = space in (Space.LOCAL, Space.PARAM)
        if symbol.is_extern or not size or size > (MOST_LOCAL_BYTES if is_own else MOST_SYMBOL_BYTES) or symbol.note:
            return
        begin = -(-self._next[space] // max(16, symbol.align_bytes)) * max(16, symbol.align_bytes)
        self._next[space] = begin + size
        self.addresses[SymbolRef(symbol.name, symbol.scope)] = begin
        data = np.frombuffer((symbol.data or b"").ljust(size, b"\0"), dtype=np.uint8)
        self.regions.append(Region(begin, size, None if is_own else data, per_thread=is_own))

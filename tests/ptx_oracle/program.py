"""A kernel and the functions that it calls, compiled into steps for one layout of memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

# the modules that fill the table of opcodes
from . import async_ops, atomics, bits, convert, matrices, mbarriers, moves, warp_ops  # noqa: F401
from .errors import OracleError, UnsupportedError
from .fetch import Array, Batch, Env, Step
from .flow import Block, Flow, waits
from .layout import Layout
from .model import WIDTHS, Function, Instr, Reg
from .record import Access
from .spaces import UINT
from .table import compile_instr

Run = Callable[[Batch], None]


def guarded(step: Step, pred: Reg | None, *, negated: bool) -> Run:
    """Let a step see the lanes that its guard lets through."""
    if pred is None:
        return lambda batch: step(batch, batch.mask)
    slot = pred.slot

    def run(batch: Batch) -> None:
        mask = batch.mask & (~batch.regs[slot] if negated else batch.regs[slot])
        if mask.any():
            step(batch, mask)

    return run


def failing(error: OracleError) -> Step:
    """A step that says why the oracle cannot run this instruction, if it is ever reached."""

    def step(_batch: Batch, _mask: Array) -> None:
        reached = UnsupportedError(str(error))
        reached.line = error.line
        raise reached

    return step


@dataclass(eq=False)
class Code:
    """A compiled function."""

    function: Function
    order: int
    flow: Flow
    env: Env
    steps: list[list[tuple[int, Run]]] = field(default_factory=list)
    waits: dict[int, mbarriers.Wait] = field(default_factory=dict)
    """The wait for an mbarrier that ends a block, by the block."""

    def registers(self, lanes: int) -> list[Array]:
        """A register file for a block of so many lanes."""
        kinds = [np.dtype(bool) if kind == "pred" else storage(kind) for kind in self.function.slots]
        files = {kind: np.zeros((kinds.count(kind), lanes), kind) for kind in set(kinds)}
        used = dict.fromkeys(files, 0)
        found = []
        for kind in kinds:
            found.append(files[kind][used[kind]])
            used[kind] += 1
        return found


def storage(kind: str) -> np.dtype:
    """How registers of a type are kept: as unsigned numbers of their width."""
    return np.dtype(UINT.get(WIDTHS[kind] // 8, np.uint64))


class Program:
    """All functions of a launch, compiled.

    `records` has every access, `unknown` what could not be compiled.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.records: list[Access] = []
        self.unknown: list[str] = []
        self.codes: dict[str, Code] = {}
        for order, function in enumerate(layout.functions):
            env = Env(function, layout, self.records)
            self.codes[function.name] = Code(function, order, Flow(function), env)
        for code in self.codes.values():
            for block in code.flow.blocks:
                code.steps.append(self._compile(code, block))
        self.records.sort(key=lambda record: record.line)
        self.entry = self.codes[layout.functions[0].name]
        self.by_address = {layout.codes[name]: code for name, code in self.codes.items()}

    def _compile(self, code: Code, block: Block) -> list[tuple[int, Run]]:
        """Compile the instructions of a block."""
        steps = []
        for instr in code.function.instrs[block.start : block.stop]:
            step = self._step(instr, code.env)
            steps.append((instr.line, guarded(step, instr.pred, negated=instr.negated)))
        if block.end is not None and waits(block.end):
            code.waits[block.index] = mbarriers.Wait(block.end, code.env)
        return steps

    def _step(self, instr: Instr, env: Env) -> Step:
        try:
            return compile_instr(instr, env)
        except OracleError as error:
            self.unknown.append(str(error))
            return failing(error)
        except (KeyError, IndexError, StopIteration, ValueError, TypeError, AttributeError) as error:
            known = UnsupportedError(f"cannot compile {instr.opcode}: {error!r}", instr.line)
            self.unknown.append(str(known))
            return failing(known)

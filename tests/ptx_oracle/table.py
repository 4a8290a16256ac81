"""The table of opcodes: each family registers a function that compiles its instructions."""

from __future__ import annotations

from collections.abc import Callable

from .errors import UnsupportedError
from .fetch import Array, Batch, Env, Step
from .model import Instr

Compile = Callable[[Instr, Env], Step]
TABLE: dict[str, Compile] = {}


def opcode(*names: str) -> Callable[[Compile], Compile]:
    """Register a compiler for opcodes; a name is the opcode's first part."""

    def register(compiler: Compile) -> Compile:
        for name in names:
            TABLE[name] = compiler
        return compiler

    return register


def compile_instr(instr: Instr, env: Env) -> Step:
    """Compile any instruction that is not the end of a block."""
    compiler = TABLE.get(instr.op)
    if compiler is None:
        raise UnsupportedError(f"unknown opcode {instr.opcode}", instr.line)
    return compiler(instr, env)


def simple(instr: Instr, env: Env, kinds: tuple[str, ...], function: Callable[..., Array]) -> Step:
    """Compile an instruction that computes its first operand from the others, lane by lane."""
    put, sources = env.operands(instr, len(kinds), *kinds)
    if len(sources) == 1:
        only = sources[0]
        return lambda batch, mask: put(batch, function(only(batch)), mask)
    if len(sources) == 2:
        first, second = sources
        return lambda batch, mask: put(batch, function(first(batch), second(batch)), mask)

    def step(batch: Batch, mask: Array) -> None:
        put(batch, function(*(source(batch) for source in sources)), mask)

    return step


def nothing(_batch: Batch, _mask: Array) -> None:
    """The step of instructions that change nothing that the oracle keeps."""

"""Small PTX texts, and what a module says apart from the lines and blanks of its text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from swzverify.compiled.ptx import Function, Location, Module, read_module

HERE = Path(__file__).parent
HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
REGISTERS = ".reg .b32 %r<40>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>, q;"
OWN = ("rows.ptx", "debug.ptx", "hopper.ptx")


def own(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def module(text: str, header: str = HEADER) -> Module:
    return read_module(header + text, "k.ptx")


def kernel(body: str, outside: str = "") -> Function:
    """A kernel with registers, a parameter `pp` and the body, which begins on line 5 plus the lines
    outside.
    """
    text = f"{outside}.entry k(.param .u64 pp) {{ {REGISTERS}\n{body}\n}}"
    found = module(text)
    assert not found.problems, found.problems
    function = found.function("k")
    assert function is not None
    return function


def sound(body: str, outside: str = "") -> Function:
    function = kernel(body, outside)
    assert function.problem is None, function.problem
    return function


def place(location: Location | None) -> Any:
    if location is None:
        return None
    return location.file, location.line, location.column, location.function_name, place(location.inlined_at)


def meaning(function: Function) -> Any:
    """All that a function says but for lines: equal for two texts that say the same."""
    instructions = [
        (each.index, each.opcode, each.guard, each.operands, each.scope, place(each.location))
        for each in function.instructions
    ]
    symbols = [(each.name, each.scope, each.space, each.size_bytes, each.data) for each in function.symbols]
    head = (function.name, function.is_entry, function.is_declaration, function.parameters, function.results)
    tables = (dict(function.labels), dict(function.targets))
    problem = function.problem and function.problem.code
    return (head, function.tuning, symbols, instructions, tables, problem)


def said(found: Module) -> Any:
    """All that a module says but for lines."""
    head = (found.version, found.target, found.address_size, dict(found.files))
    symbols = [(each.name, each.space, each.align_bytes, each.size_bytes, each.data) for each in found.symbols]
    return (head, symbols, dict(found.aliases), [meaning(each) for each in found.functions], len(found.problems))

"""Atheris target: PTX text, read whole, with every operand, guard and call in it.

The input is a PTX text; where it does not begin with `.version`, it is taken for the body of a
kernel. What the reader may not do is raise anything but its own errors, tell a line that the text
does not have, give instructions of a function with a problem, read other operands in a hurry than
with care, or hang; see README.md beside this file.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["swzverify"]):  # pyright: ignore
    from swzverify.compiled.ptx import Function, Instruction, Module, PtxError, raised, read_module
    from swzverify.compiled.ptx.operand_text import read_operands
    from swzverify.compiled.ptx.problems import UnreadableError

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .b8 smem[];\n"
REGISTERS = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>;\n"
CODES = ("SWZ531", "SWZ532", "SWZ533")
LONGEST_MESSAGE = 1000
"""Characters of one error on the screen."""


class FindingError(Exception):
    """The reader did something that it may not do."""


def check_error(error: PtxError, last: int) -> None:
    """An error has a known code, a line of the text, and can be shown."""
    shown = str(error)
    if error.code not in CODES or not 0 <= error.line <= last:
        raise FindingError(f"{error.code} in line {error.line} of {last}")
    if len(shown) > LONGEST_MESSAGE or "\x1b" in shown or "\u202e" in shown:
        raise FindingError("an error that cannot be shown")


def check_instruction(instruction: Instruction, last: int) -> None:
    """Its operands can be read, quickly and with care to the same, or it says why not."""
    if not 1 <= instruction.line <= last:
        raise FindingError(f"an instruction in line {instruction.line} of {last}")
    is_call = instruction.opcode.startswith("call")
    try:
        careful = read_operands(instruction.text, instruction.resolve, is_call=is_call)
    except UnreadableError:
        careful = None
    try:
        if instruction.operands != careful:
            raise FindingError(f"other operands: {instruction.text}")
        _ = instruction.guard
        if is_call:
            instruction.call_parts()
    except PtxError as error:
        check_error(error, last)


def check_function(function: Function, last: int) -> None:
    """Labels lead into the function; a problem leaves nothing that could be taken for the whole."""
    if function.problem is not None:
        check_error(raised(function.problem, "k.ptx"), last)
        if function.instructions or function.labels or function.symbols:
            raise FindingError("half a function")
    if any(not 0 <= index <= len(function.instructions) for index in function.labels.values()):
        raise FindingError("a label that leads nowhere")
    for place, instruction in enumerate(function.instructions):
        if instruction.index != place:
            raise FindingError("an instruction with the index of another one")
        check_instruction(instruction, last)


def check_module(module: Module, last: int) -> None:
    """All that was read, and all that was not."""
    for problem in module.problems:
        check_error(raised(problem, "k.ptx"), last)
    for function in module.functions:
        check_function(function, last)


def one_input(data: bytes) -> None:
    """Read one input."""
    text = data.decode("utf-8", "surrogateescape")
    if not text.startswith(".version"):
        text = f"{HEADER}.entry k(.param .u64 pp) {{ {REGISTERS}{text}\n}}"
    last = text.count("\n") + text.count("\r") + 1
    try:
        module = read_module(text, "k.ptx")
    except PtxError as error:
        check_error(error, last)
    else:
        check_module(module, last)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()

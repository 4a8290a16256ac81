"""Reads PTX, the text that compilers hand to ptxas: `read_module` gives an immutable `Module`.

It only reads: other folders look at control flow and the meaning of opcodes.
`module`, `instruction` and `operands` hold the records; `read` reads what stands outside of
functions, `body` their statements, `operand_text` the operands.
"""

from swzverify.compiled.ptx.instruction import Guard, Instruction, Location
from swzverify.compiled.ptx.module import Function, Module, Parameter, Symbol, Tuning
from swzverify.compiled.ptx.operands import (
    Address,
    Bracketed,
    FloatImmediate,
    Group,
    Immediate,
    Indexed,
    Label,
    Minus,
    Negated,
    Operand,
    Pair,
    Part,
    Plus,
    Register,
    Sink,
    SpecialRegister,
    SymbolRef,
    Vector,
)
from swzverify.compiled.ptx.problems import MAX_BYTES, PtxError, raised
from swzverify.compiled.ptx.read import read_module, read_module_file
from swzverify.compiled.ptx.types import Space, size_of_type

__all__ = [
    "MAX_BYTES",
    "Address",
    "Bracketed",
    "FloatImmediate",
    "Function",
    "Group",
    "Guard",
    "Immediate",
    "Indexed",
    "Instruction",
    "Label",
    "Location",
    "Minus",
    "Module",
    "Negated",
    "Operand",
    "Pair",
    "Parameter",
    "Part",
    "Plus",
    "PtxError",
    "Register",
    "Sink",
    "Space",
    "SpecialRegister",
    "Symbol",
    "SymbolRef",
    "Tuning",
    "Vector",
    "raised",
    "read_module",
    "read_module_file",
    "size_of_type",
]

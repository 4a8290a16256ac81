"""What is prepared of an instruction once, before it is run again and again.

Source: PTX ISA, Instruction Set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from swzverify.compiled.kernel.arithmetic import either
from swzverify.compiled.kernel.effects import width_of, written
from swzverify.compiled.kernel.evaluate import space_of
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.opcodes import operation
from swzverify.compiled.ptx import Address, Immediate, Instruction, Operand, Register, size_of_type
from swzverify.compiled.trial.floats import COMPARED
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, Program
from swzverify.ir.expr import FALSE, Expr, const, postorder, var


@dataclass(frozen=True, slots=True)
class Formula:
    """An instruction as expressions of its sources.

    Attributes:
        sources: Its operands that are no numbers, and their widths, in the order in which `program` takes them.
        numbers: The numbers that it names.
        program: Its results, and behind them whether they are undefined, if they may be.
        may_be_undefined: Whether they may be.
        targets: What it writes, and from which width it is extended with its sign: 0 without a sign, None if the
            register is as wide as the result.
        compares: Whether it compares numbers.
    """

    sources: list[tuple[Operand, int]]
    numbers: list[int]
    program: Program
    may_be_undefined: bool
    targets: list[tuple[Operand, int | None]]
    compares: bool


@lru_cache(maxsize=1 << 14)
def formula_of(instruction: Instruction) -> Formula | None:
    """An instruction as a formula; None if `meaning` does not know it, or its values are too wide."""
    operands = instruction.operands[1:]
    meaning = operation(instruction.opcode, len(operands))
    if meaning is None or COMPARED.fullmatch(instruction.opcode):
        return None
    sources: dict[str, tuple[Operand, int]] = {}
    values: list[Expr] = []
    numbers: list[int] = []
    for at, (operand, width) in enumerate(zip(operands, meaning.sources, strict=True)):
        if isinstance(operand, Immediate):
            numbers.append(operand.value)
            values.append(const(operand.value, width) if width > 1 else const(int(operand.value != 0), 1))
        else:
            sources[f"operand {at}"] = operand, width
            values.append(var(f"operand {at}", 1 << width))
    built = meaning.build(tuple(values))
    if built is None:
        return None
    undefined = FALSE if meaning.undefined is None else either(*meaning.undefined(tuple(values)))
    if any(node.width > MAX_ARRAY_WIDTH for node in postorder(undefined, *built)):
        return None
    program = Program(tuple(built) if undefined is FALSE else (*built, undefined), tuple(sources))
    return Formula(
        [*sources.values()],
        numbers,
        program,
        undefined is not FALSE,
        [
            (each, None if isinstance(each, Register) and width_of(each) == width else width * meaning.signed)
            for each, width in zip(written(instruction), meaning.results, strict=False)
        ],
        base_name(instruction) == "setp",
    )


def as_offset(offset: int) -> int:
    """The low 64 bits of a number, as a number with a sign."""
    return (offset + (1 << 63)) % (1 << 64) - (1 << 63)


@lru_cache(maxsize=1 << 14)
def address_of(instruction: Instruction) -> tuple[Address | None, bool]:
    """The first address of an instruction, and whether it is one in shared memory."""
    operand = next((each for each in instruction.operands if isinstance(each, Address)), None)
    return operand, space_of(instruction.opcode) == "shared"


@lru_cache(maxsize=1 << 14)
def load_of(instruction: Instruction) -> tuple[tuple[Operand, ...], int, bool]:
    """What a load writes, the bytes of each number, and whether they have a sign."""
    kind = instruction.opcode.rpartition(".")[2]
    return written(instruction), size_of_type(kind) or 0, kind[0] == "s"

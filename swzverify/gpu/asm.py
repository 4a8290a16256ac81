"""Each instruction of the table as a statement of CUDA C++ with inline PTX.

The statements use `at` (uint32_t, a shared-memory address), `r` (uint32_t[4], the registers that
are loaded or stored) and `from` (a pointer to global memory, for copies).

Source: PTX ISA 8.7, "Data Movement and Conversion Instructions" and "Parallel Synchronization
Instructions: atom".
"""

from __future__ import annotations

from swzverify.hardware import Instruction
from swzverify.hardware.instructions import Kind


def statement(instruction: Instruction) -> str:
    """The statement that runs the instruction in the lanes that reach it.

    >>> from swzverify.hardware import find_instruction
    >>> print(statement(find_instruction("ld.shared.b32")))
    asm volatile("ld.volatile.shared.b32 %0, [%1];" : "=r"(r[0]) : "r"(at) : "memory");
    >>> print(statement(find_instruction("cp.async.16")))
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
    """
    if instruction.kind is Kind.CP_ASYNC:
        path, width = "cg" if instruction.by_octets else "ca", instruction.width_bytes
        return f'asm volatile("cp.async.{path}.shared.global [%0], [%1], {width};" :: "r"(at), "l"(from) : "memory");'
    if instruction.kind is Kind.ATOMIC:
        return f'asm volatile("{instruction.name} %0, [%1], %2;" : "=r"(r[0]) : "r"(at), "r"(r[1]) : "memory");'
    return _matrix(instruction) if instruction.kind.moves_matrices else _plain(instruction)


def is_transposed(instruction: Instruction) -> bool:
    """Whether a matrix instruction hands out columns."""
    return instruction.name.endswith(".trans")


def matrix_count(instruction: Instruction) -> int:
    """The 8x8 matrices of a matrix instruction, and with it the registers of each lane."""
    return instruction.address_lanes // 8


def register_words(instruction: Instruction) -> int:
    """The 32-bit registers of a lane that a load fills."""
    if instruction.kind.moves_matrices:
        return matrix_count(instruction)
    return instruction.words


def _plain(instruction: Instruction) -> str:
    """A load or store of 32-bit registers, or of 64-bit ones that are pairs of them."""
    suffix = instruction.name.split(".shared.")[1]
    vector = suffix[: suffix.index(".") + 1] if "." in suffix else ""
    element = suffix.removeprefix(vector)
    count = int(vector[1]) if vector else 1
    loads = instruction.kind.loads
    opcode = f"{'ld' if loads else 'st'}.volatile.shared.{suffix}"
    if element != "b64":
        return _asm(opcode, [f'"r"(r[{i}])' for i in range(count)], loads=loads, braces=count > 1)
    each = _asm(opcode, [f'"l"(w{i})' for i in range(count)], loads=loads, braces=count > 1)
    if loads:
        apart = " ".join(f"r[{2 * i}] = (uint32_t)w{i}; r[{2 * i + 1}] = (uint32_t)(w{i} >> 32);" for i in range(count))
        return f"{{ uint64_t {', '.join(f'w{i}' for i in range(count))}; {each} {apart} }}"
    pairs = [f"const uint64_t w{i} = r[{2 * i}] | (uint64_t)r[{2 * i + 1}] << 32;" for i in range(count)]
    return f"{{ {' '.join(pairs)} {each} }}"


def _matrix(instruction: Instruction) -> str:
    transposed = ".trans" if is_transposed(instruction) else ""
    opcode = f"{instruction.kind.value}.sync.aligned.m8n8.x{matrix_count(instruction)}{transposed}.shared.b16"
    registers = [f'"r"(r[{i}])' for i in range(matrix_count(instruction))]
    return _asm(opcode, registers, loads=instruction.kind.loads, braces=True)


def _asm(opcode: str, registers: list[str], *, loads: bool, braces: bool) -> str:
    """One instruction between registers and the shared memory at `at`."""
    first = 0 if loads else 1
    names = ", ".join(f"%{first + i}" for i in range(len(registers)))
    held = f"{{{names}}}" if braces else names
    if loads:
        outputs = ", ".join(each.replace('"', '"=', 1) for each in registers)
        return f'asm volatile("{opcode} {held}, [%{len(registers)}];" : {outputs} : "r"(at) : "memory");'
    return f'asm volatile("{opcode} [%0], {held};" :: "r"(at), {", ".join(registers)} : "memory");'

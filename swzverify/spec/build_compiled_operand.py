"""From `compiled:` of an operand to the descriptors that instructions of a PTX file read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.scan import Given
from swzverify.compiled.scan.stated_operand import OperandsOfCode, StatedOperand
from swzverify.core.words import counted
from swzverify.errors import SwzError
from swzverify.hardware.tensor_cores import Family, Major, OperandRole, TensorInstruction
from swzverify.ir.c_formula import CFormula, literal
from swzverify.ir.c_parse import expression
from swzverify.search.synth.descriptors import start_text
from swzverify.spec.compiled_code import (
    NOT_STATED,
    alignment,
    arguments,
    by_iteration,
    check_block,
    check_parameters,
    find_kernel,
    given_parameters,
    loop_of_lines,
    no_lines_from,
    refuse_unstated,
    stated_lines,
)
from swzverify.spec.operand_models import CompiledOperandPart, OperandPart
from swzverify.spec.read_code import ReadCode, named_files
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Base, Descriptor, MemoryBase
from swzverify.subjects.listed_loop import AnyLoop
from swzverify.subjects.memory import origin
from swzverify.subjects.operand import FromCode

_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class CompiledOperand:
    """The descriptor of an operand in every iteration, and the code that it is read from."""

    descriptor: Descriptor
    start: CFormula
    place: FromCode
    code: ReadCode


@dataclass(frozen=True, slots=True)
class _Axes:
    """What the loops of an operand stand for; None for what is one alone."""

    lines: AnyLoop | None
    groups: AnyLoop | None
    stages: AnyLoop | None

    @property
    def loops(self) -> tuple[AnyLoop, ...]:
        return tuple(each for each in (self.lines, self.groups, self.stages) if each is not None)


def build_compiled_operand(
    operand: OperandPart,
    part: CompiledOperandPart,
    instruction: TensorInstruction,
    values: Values,
    loops: Sequence[AnyLoop],
    block: tuple[int, ...],
    base: Base,
) -> CompiledOperand:
    """The descriptors of the instructions of the compiled file.

    `base` is where the array of the start addresses begins.

    Raises:
        Broken: Something is wrong; it is noted before.
    """
    lines, source = stated_lines(part, values)
    given = given_parameters(part, values)
    values.require_sound()
    with values.noted(values.key("compiled")):
        if instruction.family is not Family.WGMMA:
            message = f"{instruction.name} is not read from compiled code: a value of the kernel says its shape"
            raise SwzError(NOT_STATED, message, hint="state its `descriptor:`; `swzverify scan` lists the fields")
        module, function = find_kernel(part, values.problems.file)
        check_parameters(given, function, values)
        x, y, z = (*block, 1, 1)[:3]
        check_block(function, (x, y, z))
        size = _size(base)
        held = _operands(module, function, (x, y, z), tuple(f"{name}={each}" for name, each in given.items()), size)
        role = OperandRole(operand.role)
        if source is not None:
            lines = _from_source(held, source, instruction.name, role, function)
        axes = _axes(part, values, loops, len(lines))
        values.require_sound()
        found: list[StatedOperand] = []
        for line in lines:
            with refuse_unstated(f"line {line} of kernel {function.name}", known="descriptor"):
                found.append(held.at(line, role))
        _check(operand, part, instruction.name, found, base, function)
        start = _start(axes, loops, found, function)
        values.made(start.text, values.key("compiled"))
        file, beside = named_files(part.file, values.problems.file)
        among = held.lines_of(instruction.name, role)
        code = ReadCode(
            "",
            file,
            beside,
            part.kernel or "",
            function.name,
            tuple(among.index(line) + 1 for line in lines),
            len(among),
            part.array or "",
            arguments(function, given),
            tuple(dict.fromkeys(text for each in found for text in each.assumed)),
        )
        stages = "" if axes.stages is None else axes.stages.name
        return CompiledOperand(found[0].descriptor, start, FromCode(_place(lines, beside), stages), code)
    raise Broken


def _size(base: Base) -> int | None:
    """The bytes of dynamic shared memory from the array on, if the spec's memory says them."""
    if not isinstance(base, MemoryBase):
        return None
    return max(0, base.memory.bytes - base.offset_bytes)


@lru_cache(maxsize=8)
def _operands(
    module: Module, function: Function, block: tuple[int, int, int], parameters: tuple[str, ...], size: int | None
) -> OperandsOfCode:
    """The operands of a kernel: A and B, in each case of the constants, are read once."""
    return OperandsOfCode(module, function, block, Given(parameters), size)


def _from_source(
    held: OperandsOfCode, source: int, instruction: str, role: OperandRole, function: Function
) -> list[int]:
    with refuse_unstated(f"kernel {function.name}"):
        found = held.lines_from(source, instruction, role)
    if not found:
        has_lines = any(each.access.site.location is not None for each in held.held)
        raise no_lines_from(
            source, f"{instruction} with operand {role} in shared memory", function, has_lines=has_lines
        )
    return found


def _axes(part: CompiledOperandPart, values: Values, loops: Sequence[AnyLoop], lines: int) -> _Axes:
    """What each loop of `for` stands for; mistakes are noted."""
    names = ", ".join(each.name for each in loops) or "none"
    found: list[AnyLoop | None] = []
    for key, name in (("groups", part.groups), ("stages", part.stages)):
        loop = next((each for each in loops if each.name == name), None)
        if name is not None and loop is None:
            hint = f"`{key}` names one of the loops of `for` ({names})"
            values.fail("SWZ105", f"no loop '{name}'", values.at("compiled", key), hint)
        found.append(loop)
    groups, stages = found
    taken = {each.name for each in found if each is not None}
    over = loop_of_lines(part, values, loops, lines, taken)
    axes = _Axes(over, groups, stages)
    if len({each.name for each in axes.loops}) < len(axes.loops):
        hint = "a loop stands for the lines, for the warp groups or for the start addresses of a line"
        values.fail("SWZ105", "`over`, `groups` and `stages` name one loop twice", values.key("compiled"), hint)
    for loop in loops if values.sound else ():
        if loop not in axes.loops:
            hint = f"`over`, `groups` or `stages` says what '{loop.name}' is; or leave it out of `for`"
            values.fail(
                "SWZ105", f"nothing in the code stands for the loop '{loop.name}'", values.key("compiled"), hint
            )
    return axes


def _check(
    operand: OperandPart,
    part: CompiledOperandPart,
    instruction: str,
    found: Sequence[StatedOperand],
    base: Base,
    function: Function,
) -> None:
    """Refuse code that is not what the spec says, and lines that read through different fields."""
    first = found[0]
    for each in found:
        where = f"line {each.line} of kernel {function.name}"
        if each.instruction != instruction:
            raise SwzError(NOT_STATED, f"{where} has {each.instruction}, not {instruction}")
        if each.major is not Major(operand.major):
            hint = f"`major: {each.major}` if the code is right; the last immediates of the instruction say it"
            raise SwzError(NOT_STATED, f"{where}: operand {operand.role} is {each.major}-major there", hint=hint)
        wanted = part.array or first.symbol.name
        if each.symbol.name != wanted:
            message = f"{where}: the start address begins with {each.symbol.name}, not {wanted}"
            raise SwzError(NOT_STATED, message, hint="one operand is in one array; state the others apart")
        if (each.symbol, each.rounded) != (first.symbol, first.rounded):
            message = f"lines {first.line} and {each.line} count from different places"
            raise SwzError(NOT_STATED, message, hint="state two operands, each with its own lines")
        if each.descriptor != first.descriptor:
            message = f"lines {first.line} and {each.line} have descriptors with different fields: {_fields(first)}; "
            raise SwzError(NOT_STATED, message + _fields(each), hint="state two operands, each with its own lines")
    _check_base(first, base)


def _check_base(found: StatedOperand, base: Base) -> None:
    """Refuse a base where the array, or its rounded address, does not begin in every launch."""
    rounded = f" rounded up to {found.rounded}" if found.rounded > 1 else ""
    needed, place = alignment(base), origin(base)
    if needed > found.multiple:
        message = f"{found.symbol.name}{rounded} is at a multiple of {found.multiple} only, and `base` says {needed}"
        hint = f"__align__({needed}) in the kernel, or the address of this launch as `base: number`"
        raise SwzError(NOT_STATED, message, hint=hint)
    if place.count == 1 and place.start_bytes % found.multiple:
        message = f"{found.symbol.name}{rounded} is at a multiple of {found.multiple}, and {place.start_bytes} is none"
        raise SwzError(NOT_STATED, message, hint="`base` says where the array of the start address begins")


def _fields(found: StatedOperand) -> str:
    fields = found.descriptor
    offset = f", base offset {fields.base_offset}" if fields.base_offset else ""
    return f"LBO {fields.lbo_bytes}, SBO {fields.sbo_bytes}, swizzle {fields.swizzle}{offset}"


def _start(axes: _Axes, loops: Sequence[AnyLoop], found: Sequence[StatedOperand], function: Function) -> CFormula:
    """The start address from the base on, over the loops."""
    table = [_offsets(each, axes, function) for each in found]
    order = [axes.loops.index(loop) for loop in loops]
    text = start_text(loops, np.asarray(table).reshape([each.count or 0 for each in axes.loops]).transpose(order))
    if text is not None:
        return expression(text)
    return by_iteration(
        [
            by_iteration(
                [
                    by_iteration([CFormula.of(literal(offset)) for offset in offsets], axes.stages)
                    for offsets in of_groups
                ],
                axes.groups,
            )
            for of_groups in table
        ],
        axes.lines,
    )


def _offsets(found: StatedOperand, axes: _Axes, function: Function) -> list[tuple[int, ...]]:
    """The offsets of each value of the loop over warp groups, in ascending order.

    Raises:
        SwzError: SWZ553 if there are more or fewer warp groups or offsets than the loops have values.
    """
    where = f"line {found.line} of kernel {function.name}"
    spelled = ", ".join(f"{list(numbers)} in warp group {group}" for group, numbers in found.offsets.items())
    groups = sorted(found.offsets)
    if axes.groups is not None and axes.groups.count != len(groups):
        message = f"{where} runs in warp groups {groups}, and '{axes.groups.name}' has {axes.groups.count} values"
        raise SwzError(NOT_STATED, message, hint="give the loop of `groups` one value for each warp group")
    if axes.groups is None and len({found.offsets[each] for each in groups}) > 1:
        message = f"{where}: the start address is not the same in all warp groups: {found.symbol.name} + {spelled}"
        raise SwzError(NOT_STATED, message, hint="`groups: wg` names a loop of `for` over the warp groups")
    chosen = groups if axes.groups is not None else groups[:1]
    count = 1 if axes.stages is None else axes.stages.count
    for group in chosen:
        numbers = found.offsets[group]
        if len(numbers) != count:
            one = "`stages` names no loop" if axes.stages is None else f"'{axes.stages.name}' has {count} values"
            message = (
                f"{where} may start at {counted(len(numbers), 'offset')}, {found.symbol.name} + {spelled}, and {one}"
            )
            hint = "`stages: s` names a loop of `for` with as many values; the first one is the smallest offset"
            raise SwzError(NOT_STATED, message, hint=hint)
        if numbers[0] < 0:
            message = f"{where} may start {-numbers[0]} bytes before {found.symbol.name}"
            raise SwzError(NOT_STATED, message, hint="no offset of an operand is negative")
    return [found.offsets[each] for each in chosen]


def _place(lines: Sequence[int], file: str) -> str:
    """The lines in words."""
    if len(lines) == 1:
        return f"line {lines[0]} of {file}"
    if len(lines) > _MOST_NAMED:
        return f"{len(lines)} lines from {min(lines)} to {max(lines)} of {file}"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]} of {file}"

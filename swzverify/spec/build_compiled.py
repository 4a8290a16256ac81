"""From `compiled:` of an access to what an instruction of a PTX file does, as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.scan import Given
from swzverify.compiled.scan.stated import Stated, lines_from, read_accesses, stated_at
from swzverify.errors import SwzError
from swzverify.hardware import MOST_SHARED_BYTES, Instruction, find_instruction
from swzverify.ir.c_ast import Binary, BinaryOp, CExpr, Name
from swzverify.ir.c_formula import CFormula, joined, literal
from swzverify.spec.access_models import AccessPart, CompiledPart
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
from swzverify.spec.read_code import ReadCode, named_files
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Base, Memory, MemoryBase
from swzverify.subjects.listed_loop import AnyLoop
from swzverify.subjects.loop import Loop


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the instruction does in every iteration; without a predicate every lane makes it."""

    address: CFormula
    predicate: CFormula | None
    base: Base
    code: ReadCode


def build_compiled(
    access: AccessPart,
    part: CompiledPart,
    values: Values,
    loops: Sequence[AnyLoop],
    block: tuple[int, ...],
    base: Base | None,
) -> Compiled:
    """The instructions of the compiled file.

    Without a `base`, the array starts anywhere that PTX allows.

    Raises:
        Broken: Something is wrong; it is noted before.
    """
    if access.if_ is not None:
        hint = "the code says itself which lanes take part"
        values.fail("SWZ105", "`if` does not go with `compiled`", values.key("if"), hint)
    if access.lanes:
        values.fail("SWZ105", "`lanes` does not go with `compiled`", values.key("lanes"), "leave it out")
    lines, source = stated_lines(part, values)
    starts = {name: values.number(line, "compiled", "loops", name, least=1) for name, line in part.loops.items()}
    given = given_parameters(part, values)
    values.require_sound()
    with values.noted(values.key("compiled")):
        module, function = find_kernel(part, values.problems.file)
        check_parameters(given, function, values)
        x, y, z = (*block, 1, 1)[:3]
        shape = (x, y, z)
        held = _accesses(module, function, shape, tuple(f"{name}={each}" for name, each in given.items()))
        lines = lines if source is None else _from_source(held, source, access, function)
        over = loop_of_lines(part, values, loops, len(lines), starts)
        values.require_sound()
        found: list[Stated] = []
        for line in lines:
            with refuse_unstated(f"line {line} of kernel {function.name}", known="line"):
                found.append(stated_at(held, line, shape))
        place = _wherever(found[0]) if base is None else base
        _check(access, part, found, place, function)
        others = [each for each in loops if each is not over]
        told = [_in_loops(each, others, starts) for each in found]
        address = by_iteration([each for each, _ in told], over)
        values.made(address.text, values.key("compiled"))
        condition = _condition([each for _, each in told], over)
        code = _code(part, values.problems.file, function, held, found[0].instruction, lines)
        return Compiled(address, condition, place, replace(code, arguments=arguments(function, given)))
    raise Broken


def _code(
    part: CompiledPart,
    spec: str,
    function: Function,
    held: Sequence[KernelAccess],
    instruction: Instruction,
    lines: Sequence[int],
) -> ReadCode:
    """Which code was read: the file, the kernel, and which of the kernel's instructions of this name."""
    among = sorted(
        {each.site.line for each in held if each.cost.row is not None and each.cost.row.name == instruction.name}
    )
    places = tuple(among.index(line) + 1 for line in lines)
    file, beside = named_files(part.file, spec)
    return ReadCode("", file, beside, part.kernel or "", function.name, places, len(among), part.array or "")


def _accesses(
    module: Module, function: Function, block: tuple[int, int, int], parameters: tuple[str, ...]
) -> tuple[KernelAccess, ...]:
    check_block(function, block)
    return read_accesses(module, function, block, Given(parameters))


def _from_source(held: Sequence[KernelAccess], source: int, access: AccessPart, function: Function) -> list[int]:
    """The lines of the PTX that come from a line of the source."""
    with refuse_unstated(f"kernel {function.name}"):
        found = lines_from(held, source, find_instruction(access.instruction))
    if not found:
        has_lines = any(each.site.location is not None for each in held)
        raise no_lines_from(source, access.instruction, function, has_lines=has_lines)
    return found


def _check(access: AccessPart, part: CompiledPart, found: list[Stated], base: Base, function: Function) -> None:
    """Refuse what is another instruction, or lies in another array than the spec says."""
    for each in found:
        if find_instruction(access.instruction).name != each.instruction.name:
            raise SwzError(NOT_STATED, f"the code has {each.instruction.name} there, not {access.instruction}")
        wanted = part.array or found[0].array
        if each.array != wanted:
            message = f"kernel {function.name}: the address begins with {each.array}, not {wanted}"
            raise SwzError(NOT_STATED, message, hint="one access is in one array; state the others apart")
        if each.symbol != found[0].symbol:
            lines = f"lines {found[0].symbol.line} and {each.symbol.line}"
            message = f"kernel {function.name}: two arrays are called {each.array}, at {lines}"
            raise SwzError(NOT_STATED, message, hint="one access is in one array; state the others apart")
        needed = alignment(base)
        if needed > each.align_bytes:
            message = f"PTX aligns {each.array} to {each.align_bytes} bytes only, and `base` says {needed}"
            hint = f"__align__({needed}) in the kernel, or the address of this launch as `base: number`"
            raise SwzError(NOT_STATED, message, hint=hint)


def _wherever(found: Stated) -> MemoryBase:
    """The begin of an array at an unknown place: only its own bytes lie at known distances."""
    size = found.symbol.size_bytes or MOST_SHARED_BYTES
    return MemoryBase(Memory(f"{found.array}@{found.symbol.line}", size, found.align_bytes), 0)


def _in_loops(found: Stated, loops: Sequence[AnyLoop], starts: dict[str, int]) -> tuple[CFormula, CFormula | None]:
    """The address and the condition over the spec's loops, in place of trips."""
    by_line = {line: name for name, line in starts.items()}
    for line, name in by_line.items():
        if all(each.line != line for each in found.loops):
            message = f"neither the address nor the active lanes depend on a loop that begins at line {line}"
            raise SwzError(NOT_STATED, message, hint=f"leave '{name}' out of `loops` and of `for`")
    free = [each for each in loops if each.name not in starts]
    trips: dict[str, CExpr] = {}
    bound: set[str] = set()
    for each in found.loops:
        loop = next((one for one in loops if one.name == by_line.get(each.line)), None)
        if loop is None and len(free) == 1 and len([one for one in found.loops if one.line not in by_line]) == 1:
            loop = free[0]
        if loop is None:
            lines = ", ".join(f"line {one.line}: {one.count} trips" for one in found.loops)
            message = f"the code's loops ({lines}) are not all among the access's"
            raise SwzError(NOT_STATED, message, hint=f"`loops: {{k: {each.line}}}` says which of `for` begins there")
        if loop.count != each.count:
            message = f"the loop at line {each.line} makes {each.count} trips, '{loop.name}' has {loop.count}"
            raise SwzError(NOT_STATED, message, hint="give the loop in `for` as many values as the code has trips")
        trips[each.name] = _trip(loop)
        bound.add(loop.name)
    for loop in loops:
        if loop.name not in bound:
            message = f"the code has no loop for '{loop.name}': neither the address nor the active lanes depend on one"
            raise SwzError(NOT_STATED, message, hint="leave it out of `for`; an access that is repeated is stated once")
    return found.address.replaced(trips), None if found.condition is None else found.condition.replaced(trips)


def _trip(loop: AnyLoop) -> CExpr:
    """The number of an iteration, from 0, by the loop's value."""
    value = Name(loop.name)
    if isinstance(loop, Loop):
        gone = value if loop.start == 0 else joined(value, BinaryOp.SUBTRACT, loop.start)
        return gone if loop.step == 1 else joined(gone, BinaryOp.DIVIDE, loop.step)
    before = [joined(value, BinaryOp.GREATER, loop.value(at)) for at in range(loop.count - 1)]
    return reduce(partial(Binary, BinaryOp.ADD), before)


def _condition(found: list[CFormula | None], over: AnyLoop | None) -> CFormula | None:
    if all(each is None for each in found):
        return None
    return by_iteration([CFormula.of(literal(1)) if each is None else each for each in found], over)

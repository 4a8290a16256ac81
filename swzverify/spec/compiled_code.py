"""What accesses and operands that are read from compiled code have in common: the kernel, its lines, their loop."""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache

from swzverify.compiled.ptx import Function, Module, PtxError, read_module_file
from swzverify.compiled.scan import block_of_launch
from swzverify.compiled.scan.given import named
from swzverify.compiled.scan.unwrapped import NotWrittenError
from swzverify.errors import SwzError, nearest
from swzverify.ir.c_ast import BinaryOp, Conditional, Name
from swzverify.ir.c_formula import CFormula, joined
from swzverify.spec.access_models import CodePart
from swzverify.spec.beside import PTX_SUFFIX, UNREADABLE, below
from swzverify.spec.read_code import Argument
from swzverify.spec.values import Values
from swzverify.subjects import AlignedBase, Base, MemoryBase
from swzverify.subjects.listed_loop import AnyLoop

NOT_STATED = "SWZ553"
MAX_ALIGN_BYTES = 1 << 30
"""More than any array is aligned to; for a place in a memory at no multiple of its alignment."""


def stated_lines(part: CodePart, values: Values) -> tuple[list[int], int | None]:
    """The lines of the PTX, and the line of the source; one of them is given, or a mistake is noted."""
    stated = part.line if isinstance(part.line, list) else [] if part.line is None else [part.line]
    lines = [values.number(each, "compiled", "line", least=1) for each in stated]
    source = None if part.source is None else values.number(part.source, "compiled", "source", least=1)
    if (source is None) == (not lines):
        hint = "`line` is that of the PTX, `source` that of the source"
        values.fail("SWZ105", "an instruction has `line` or `source`, one of both", values.key("compiled"), hint)
    for line in sorted({each for each in lines if lines.count(each) > 1}):
        hint = "give one line per iteration; a loop of the code has one line and `for`"
        values.fail("SWZ105", f"line {line} stands there twice", values.at("compiled", "line"), hint)
    return lines, source


def given_parameters(part: CodePart, values: Values) -> dict[str, int]:
    """The values of the kernel's parameters."""
    return {name: values.number(each, "compiled", "parameters", name) for name, each in part.parameters.items()}


def check_parameters(given: Mapping[str, int], function: Function, values: Values) -> None:
    """Note names that are no parameter of the kernel."""
    known = [each.name.removeprefix(f"{function.name}_") for each in function.parameters]
    for name in (each for each in given if named(each, function) is None):
        numbers = f"its parameters by number are param0 to param{len(known) - 1}" if known else "it has none"
        hint = nearest(name, known) or f"{numbers}; nvcc drops the names of the source"
        where = values.key("compiled", "parameters", name)
        values.fail("SWZ551", f"kernel {function.name} has no parameter '{name}'", where, hint)
    values.require_sound()


@contextmanager
def refuse_unstated(place: str, known: str = "") -> Generator[None]:
    """Raise SWZ553, with the place, for what a spec cannot state; the hint says that `scan` lists each `known`."""
    try:
        yield
    except NotWrittenError as error:
        hint = f"`swzverify scan` lists what it knows of each {known}; values of `parameters` may help" if known else ""
        raise SwzError(NOT_STATED, f"{place}: {error}", hint=hint) from error


def no_lines_from(source: int, what: str, function: Function, *, has_lines: bool) -> SwzError:
    """The error of a line of the source from which no such instruction comes."""
    message = f"kernel {function.name} has no {what} from line {source} of the source"
    hint = "`swzverify scan` lists what comes from where" if has_lines else "build it with -lineinfo"
    return SwzError(NOT_STATED, message, hint=hint)


def check_block(function: Function, block: tuple[int, int, int]) -> None:
    """Refuse a block that the kernel does not run with.

    Raises:
        SwzError: SWZ553, and those of `block_of_launch`.
    """
    required = function.required_threads
    if required is not None and required != block:
        raise SwzError(NOT_STATED, f"kernel {function.name} runs with blocks of {required} only, not {block}")
    block_of_launch(function, block)


def arguments(function: Function, given: Mapping[str, int]) -> tuple[Argument, ...]:
    """The values of parameters, each with its number in the kernel."""
    found: list[Argument] = []
    for text, value in given.items():
        parameter = named(text, function)
        number = -1 if parameter is None else function.parameters.index(parameter)
        found.append(Argument(text, number, value))
    return tuple(found)


def loop_of_lines(
    part: CodePart, values: Values, loops: Sequence[AnyLoop], lines: int, taken: Collection[str]
) -> AnyLoop | None:
    """The loop whose iterations the lines are; None for a single line. Loops that are `taken` are something else."""
    if lines == 1 and part.over is None:
        return None
    free = [each for each in loops if each.name not in taken]
    found = next((each for each in loops if each.name == part.over), None) if part.over else None
    if part.over is None and len(free) == 1:
        found = free[0]
    if found is None:
        named = ", ".join(each.name for each in loops) or "none"
        message = f"no loop '{part.over}'" if part.over else "several lines are the iterations of a loop: which?"
        values.fail("SWZ105", message, values.key("compiled"), f"`over` names one of the loops of `for` ({named})")
    elif found.count != lines:
        count = "no bound" if found.count is None else f"{found.count} iterations"
        message = f"{lines} lines, but the loop '{found.name}' has {count}"
        values.fail("SWZ105", message, values.key("compiled"), "one line per iteration, in order")
    return found


@lru_cache(maxsize=4)
def _module(path: str, _changed: tuple[int, int]) -> Module:
    """The file, read once as long as it does not change."""
    return read_module_file(path)


def find_kernel(part: CodePart, spec: str) -> tuple[Module, Function]:
    """The function of the file that is meant."""
    shown, real = below(spec, part.file)
    if not shown.endswith(PTX_SUFFIX) or not real.endswith(PTX_SUFFIX):
        raise SwzError(UNREADABLE, f"'{part.file}' is no PTX file", hint="nvcc -ptx, or cuobjdump -ptx, writes one")
    try:
        status = os.stat(real)
        module = _module(real, (status.st_mtime_ns, status.st_size))
    except OSError as error:
        hint = "build it first; the name is read from the spec's folder"
        raise SwzError(UNREADABLE, f"{shown}: {error.strerror or error}", hint=hint) from error
    except PtxError as error:
        raise SwzError(error.code, f"{shown}: {error.message}", hint=error.hint) from error
    kernels = [each for each in module.functions if each.is_entry]
    wanted = [each for each in kernels if part.kernel in (None, each.name)]
    if len(wanted) != 1:
        names = ", ".join(each.name for each in kernels) or "none"
        message = f"{shown} has no kernel '{part.kernel}'" if part.kernel else f"{shown} has {len(kernels)} kernels"
        raise SwzError(NOT_STATED, message, hint=f"`kernel` names one of: {names}")
    return module, wanted[0]


def alignment(base: Base) -> int:
    """What the spec says that the array's begin is a multiple of, at every launch."""
    if isinstance(base, AlignedBase):
        return base.align_bytes
    if isinstance(base, MemoryBase) and base.memory.base_bytes is None:
        align = base.memory.align_bytes or 1
        return align if base.offset_bytes % align == 0 else MAX_ALIGN_BYTES
    return 1


def by_iteration(found: list[CFormula], over: AnyLoop | None) -> CFormula:
    """One formula for all iterations of a loop: in each one its own."""
    if over is None or all(each.text == found[0].text for each in found):
        return found[0]
    whole = found[-1].root
    for at in reversed(range(len(found) - 1)):
        whole = Conditional(joined(Name(over.name), BinaryOp.EQUAL, over.value(at)), found[at].root, whole)
    return CFormula.of(whole)

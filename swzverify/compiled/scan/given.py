"""What the user says of a kernel's parameters: values of some, and conditions on others.

A parameter is named as PTX names it, or by its number: `3`, `param3` and `arg3` are the fourth one,
as is `<kernel>_param_3`. PTX does not tell whether an integer has a sign. So a launch fulfils a
condition if the condition holds with or without a sign for each parameter that it reads, in numbers
that never wrap: whatever the source says, no launch is left out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from swzverify.compiled.kernel import (
    Arguments,
    ArrayLeaf,
    Box,
    Field,
    KernelAccess,
    Leaf,
    UniformLeaf,
    parameter_variable,
)
from swzverify.compiled.kernel.arithmetic import either
from swzverify.compiled.kernel.fragments import MADE_BY_PTXAS
from swzverify.compiled.kernel.symbols import WINDOW_ALIGNED
from swzverify.compiled.ptx import Function, Module, Parameter, Space, size_of_type
from swzverify.compiled.scan.asker import Asker, OutOfClockError
from swzverify.compiled.scan.candidates import candidates
from swzverify.compiled.scan.tensor_maps import MAP_BYTES, POINTER_BYTES, box_of, name_in, words_of
from swzverify.core.demangle import demangled
from swzverify.engines.obligations import Answer
from swzverify.errors import SwzError, nearest
from swzverify.ir import integers
from swzverify.ir.c_parse import parse
from swzverify.ir.expr import FALSE, TRUE, Expr, conjunction, variables
from swzverify.ir.formula import Reading
from swzverify.ir.integers import Integer

MOST_READ: Final = 5
"""Parameters that conditions may read together: each may have a sign or none."""
_SETTING: Final = re.compile(r"([\w$%.]+)(?:\+(\d{1,6}):([1248]))?=(-?(?:0[xX][0-9a-fA-F]{1,16}|\d{1,20}))", re.ASCII)
_NUMBERED: Final = re.compile(r"(?:param|arg)?(\d{1,4})", re.ASCII)
_MOST_SIZE: Final = 8


MOST_ALIGN: Final = 1024
"""The largest alignment that is believed of dynamic shared memory: more would need measurements."""


@dataclass(frozen=True, slots=True)
class Given:
    """What is given of a kernel's launches.

    `parameters` are texts such as `lda=128`, and `assumptions` are C conditions such as `lda % 32 == 0`.
    Dynamic shared memory starts at a multiple of `smem_align` bytes, a power of two. `grid` has the blocks
    of every launch along x, y and z, and `cluster` those of each cluster, for kernels that do not say it. `tensor_maps`
    are texts such as `a=64x128xf16,128B`.
    """

    parameters: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    smem_align: int | None = None
    grid: tuple[int, int, int] | None = None
    tensor_maps: tuple[str, ...] = ()
    cluster: tuple[int, int, int] | None = None


NOTHING_GIVEN: Final = Given()


@dataclass(frozen=True, slots=True)
class Assumed:
    """Conditions that have parameters in common: the texts, one expression, and its parameters."""

    texts: tuple[str, ...]
    condition: Expr
    leaves: Mapping[str, UniformLeaf]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is given of one kernel: its arguments with the texts that say them, and conditions.

    `applied` are all texts that name a parameter of this kernel. `aligned` are the arrays of which
    more is given than PTX says, with the text that says it.
    """

    arguments: Arguments
    settings: tuple[str, ...] = ()
    assumed: tuple[Assumed, ...] = ()
    aligned: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def applied(self) -> tuple[str, ...]:
        """The texts that this kernel has parameters for."""
        return (*self.settings, *(text for each in self.assumed for text in each.texts))

    def on(self, access: KernelAccess) -> KernelAccess:
        """The access with what is assumed of the parameters that it depends on."""
        concerned = self._concerned(access)
        leaves = {leaf.name: leaf for leaf in access.leaves}
        if not concerned and len(leaves) == len(access.leaves):
            return access
        for each in concerned:
            for name, leaf in each.leaves.items():
                leaves[name] = replace(leaves.get(name, leaf), assumed=(each.condition,), candidates=leaf.candidates)
        return replace(access, leaves=tuple(leaves.values()))

    def texts_on(self, access: KernelAccess) -> tuple[str, ...]:
        """What an access's verdict rests on, by what is given and by the reading of the access."""
        given = (text for each in self._concerned(access) for text in each.texts)
        made = () if access.site.piece is None else (MADE_BY_PTXAS,)
        window = (WINDOW_ALIGNED,) if access.is_window_aligned else ()
        return (*self.settings, *given, *self.alignments(access.leaves), *access.assumes, *window, *made)

    def alignments(self, leaves: Iterable[Leaf]) -> list[str]:
        """What is given of the starts of the dynamic arrays among some leaves."""
        arrays = [leaf.symbol for leaf in leaves if isinstance(leaf, ArrayLeaf) and leaf.symbol.is_extern]
        return list(dict.fromkeys(self.aligned[each.name] for each in arrays if each.name in self.aligned))

    def _concerned(self, access: KernelAccess) -> list[Assumed]:
        if not self.assumed:
            return []
        read = {leaf.name for leaf in access.leaves}
        return [each for each in self.assumed if read & each.leaves.keys()]


NO_FACTS: Final = Facts(Arguments())


def module_and_facts(module: Module, function: Function, given: Given) -> tuple[Module, Facts]:
    """The module with dynamic shared memory as it is given, and what is given of a function.

    Raises:
        SwzError: SWZ551 or SWZ552, as `facts_of`.

    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.0 .target sm_90 .address_size 64 .extern .shared .align 16 .b8 smem[]; .entry k() { ret; }"
    >>> module = read_module(text, "k.ptx")
    >>> aligned, facts = module_and_facts(module, module.functions[0], Given(smem_align=128))
    >>> aligned.symbols[0].align_bytes, facts.aligned
    (128, {'smem': 'smem begins at a multiple of 128 bytes'})
    """
    facts, align = facts_of(function, given), given.smem_align or 1
    raised = [
        each for each in module.symbols if each.is_extern and each.space is Space.SHARED and each.align_bytes < align
    ]
    if not raised:
        return module, facts
    symbols = tuple(replace(each, align_bytes=align) if each in raised else each for each in module.symbols)
    told = {each.name: f"{each.name} begins at a multiple of {align} bytes" for each in raised}
    return replace(module, symbols=symbols), replace(facts, aligned=told)


def facts_of(function: Function, given: Given) -> Facts:
    """What is given of a function, which has facts only if it is a kernel.

    Texts that name no parameter of this kernel do not count.

    Raises:
        SwzError: SWZ551 for what is no such text, or does not fit the parameter; SWZ552 for conditions
            that no values fulfil.

    >>> from swzverify.compiled.ptx import read_module
    >>> module = read_module(".version 8.0 .target sm_90 .address_size 64 .entry k(.param .u32 n) { ret; }", "k")
    >>> facts_of(module.functions[0], Given(("n=128",))).arguments.known["n"][0].value
    128
    """
    if not function.is_entry or given == NOTHING_GIVEN:
        return NO_FACTS
    known: dict[str, tuple[Field, ...]] = {}
    settings: list[str] = []
    for text in given.parameters:
        setting = _setting(text, function)
        if setting is not None:
            name, field = setting
            end = field.offset + field.size
            if any(each.offset < end and field.offset < each.offset + each.size for each in known.get(name, ())):
                raise SwzError("SWZ551", f"{text!r}: {name} has a value already", hint="give each parameter once")
            known[name] = (*known.get(name, ()), field)
            part = f"+{field.offset}:{field.size}" if "+" in text.partition("=")[0] else ""
            settings.append(f"{name}{part} = {field.value}")
    boxes: dict[tuple[str, int], Box] = {}
    for text in given.tensor_maps:
        offset, box = box_of(text)
        parameter = named(name_in(text), function)
        if parameter is None:
            continue
        is_pointer = (parameter.size_bytes, offset) == (POINTER_BYTES, 0)
        if parameter.size_bytes is not None and offset + MAP_BYTES > parameter.size_bytes and not is_pointer:
            message = f"{text!r}: {parameter.name} has {parameter.size_bytes} bytes, and a tensor map has {MAP_BYTES}"
            raise SwzError("SWZ551", message, hint="of a struct give the byte at which the map begins, such as p+128")
        if any(name == parameter.name and abs(offset - at) < MAP_BYTES for name, at in boxes):
            raise SwzError("SWZ551", f"{text!r}: this tensor map has a box already", hint="give each tensor map once")
        boxes[parameter.name, offset] = box
        settings.append(f"the tensor map at {parameter.name}+{offset} has {words_of(box)}")
    read = {text: found for text in given.assumptions if (found := _names(text, function)) is not None}
    if given.grid is not None:
        cluster = function.tuning.cluster or given.cluster or (1, 1, 1)
        if any(blocks % of for blocks, of in zip(given.grid, cluster, strict=True) if of):
            message = f"a grid of {given.grid} blocks does not consist of clusters of {cluster}"
            name = demangled(function.name).short
            hint = f"kernel {name} runs in whole clusters (.reqnctapercluster or --cluster): --kernel"
            raise SwzError("SWZ552", message, hint=hint)
        settings.append(f"the grid has {','.join(map(str, given.grid))} blocks")
    whole = frozenset(each.name for found in read.values() for each in found.values())
    arguments = Arguments(known, whole, given.grid, boxes)
    return Facts(arguments, tuple(settings), tuple(_groups(read, function, arguments)))


def named(text: str, function: Function) -> Parameter | None:
    """The parameter that a name or a number means; None if the function has no such parameter.

    nvcc puts the kernel's name before those of its parameters; it may be left out.
    """
    found = function.parameter(text)
    number = _NUMBERED.fullmatch(text)
    if found is None and number is not None and int(number[1]) < len(function.parameters):
        found = function.parameters[int(number[1])]
    return found or (None if number else function.parameter(f"{function.name}_{text}"))


def _setting(text: str, function: Function) -> tuple[str, Field] | None:
    matched = _SETTING.fullmatch(text)
    if matched is None:
        hint = "give NAME=VALUE with a name or number of a parameter, such as lda=128, 3=128, or p+8:4=128 in a struct"
        raise SwzError("SWZ551", f"{text!r} is no value of a parameter", hint=hint)
    parameter = named(matched[1], function)
    if parameter is None:
        return None
    value = int(matched[4], 0)
    if matched[2] is None:
        size = _size(parameter, text)
        begin = 0
    else:
        begin, size = int(matched[2]), int(matched[3])
        if parameter.size_bytes is None or begin + size > parameter.size_bytes:
            message = f"{text!r}: {parameter.name} has {parameter.size_bytes} bytes"
            raise SwzError("SWZ551", message, hint="the offset and the size are in bytes")
    if not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
        message = f"{text!r}: {value} is no number of {8 * size} bits"
        raise SwzError("SWZ551", message, hint=f"{parameter.name} is .{parameter.type}")
    return parameter.name, Field(begin, size, value)


def _size(parameter: Parameter, text: str) -> int:
    """The bytes of a parameter that is one integer."""
    size = parameter.size_bytes
    if size is None or size > _MOST_SIZE or size != size_of_type(parameter.type) or parameter.type[0] not in "usb":
        what = f"{size} bytes of .{parameter.type}" if size is not None else f".{parameter.type}[]"
        hint = "of a struct give the bytes and their size, such as p+8:4=128; conditions take integers only"
        raise SwzError("SWZ551", f"{text!r}: {parameter.name} is no integer but {what}", hint=hint)
    return size


# ---- conditions


def _names(text: str, function: Function) -> dict[str, Parameter] | None:
    """The parameters that a condition reads, by the names in it; None if the kernel lacks one."""
    found: dict[str, Parameter] = {}
    for name in sorted(parse(text).names):
        parameter = named(name, function)
        if parameter is None:
            return None
        found[name] = parameter
    if not found:
        raise SwzError("SWZ551", f"{text!r} reads no parameter", hint="such as 'lda % 32 == 0' or 'param3 > 0'")
    return found


def _condition(texts: Sequence[str], function: Function, names: Sequence[str], arguments: Arguments) -> Expr:
    """The conjunction of some conditions, for signed and for unsigned readings of each parameter.

    One of these readings is meant, the same one of a parameter in all conditions.
    """
    found: Expr = FALSE
    parameters = [function.parameter(name) for name in names]
    readings = [_readings(each, _size(each, texts[0]), arguments) for each in parameters if each is not None]
    for values in itertools.product(*readings):
        by_name = dict(zip(names, values, strict=True))
        parts: list[Expr] = []
        for text in texts:
            env = {word: by_name[each.name] for word, each in (_names(text, function) or {}).items()}
            parts.append(integers.truth(parse(text).lowered(Reading(env, leaving=[]))))
        found = either(found, conjunction(parts))
    return found


def _readings(parameter: Parameter, size: int, arguments: Arguments) -> list[Integer]:
    bits = 8 * size
    known = arguments.value(parameter.name, 0, size)
    if known is not None:
        both = {known, known - (1 << bits) if known >> (bits - 1) else known}
        return [integers.integer(value) for value in sorted(both)]
    node = parameter_variable(parameter.name, 0, size)
    signed = Integer(node, -(1 << bits - 1), (1 << bits - 1) - 1)
    return [signed] if parameter.type[0] == "s" else [integers.variable(node), signed]


def _groups(read: Mapping[str, Mapping[str, Parameter]], function: Function, arguments: Arguments) -> list[Assumed]:
    """Conditions with parameters in common, together; each group is fulfilled by some values."""
    groups: list[tuple[list[str], list[str]]] = []
    for text, found in read.items():
        texts, names = [text], _distinct(found)
        rest: list[tuple[list[str], list[str]]] = []
        for others, of_others in groups:
            if set(of_others) & set(names):
                texts, names = [*others, *texts], list(dict.fromkeys((*of_others, *names)))
            else:
                rest.append((others, of_others))
        groups = [*rest, (texts, names)]
    return [_assumed(tuple(texts), names, function, arguments) for texts, names in groups]


def _assumed(texts: tuple[str, ...], names: list[str], function: Function, arguments: Arguments) -> Assumed:
    if len(names) > MOST_READ:
        message = f"{_quoted(texts)} read {len(names)} parameters together, more than {MOST_READ}"
        raise SwzError("SWZ551", message, hint="give the values of some with --param")
    whole = _condition(texts, function, names, arguments)
    if whole is TRUE:
        return Assumed(texts, whole, {})
    try:
        found = Asker(most_open=1, share=1).possible(whole)
    except OutOfClockError as error:
        raise SwzError("SWZ552", f"{_quoted(texts)}: {error}", hint="nothing is known of the conditions") from error
    if found.answer is Answer.EMPTY:
        message = f"no values of the parameters of {demangled(function.name).short} fulfil {_quoted(texts)}"
        raise SwzError("SWZ552", message, hint="no launch satisfies these conditions together: correct one of them")
    if found.answer is not Answer.HOLDS:
        message = f"whether some values fulfil {_quoted(texts)} is not decided within the budget"
        raise SwzError("SWZ552", message, hint="give simpler conditions")
    alone = [_condition((text,), function, _distinct(_names(text, function) or {}), arguments) for text in texts]
    leaves: dict[str, UniformLeaf] = {}
    for each in variables(whole):
        name = each.name.rpartition("+")[0]
        values = candidates(each, alone, (found.point or {}).get(each.name))
        leaves[each.name] = UniformLeaf(
            each, f"the parameter {name}", function.line, None, uniform=True, candidates=values or ()
        )
    return Assumed(texts, whole, leaves)


def _distinct(found: Mapping[str, Parameter]) -> list[str]:
    return list(dict.fromkeys(each.name for each in found.values()))


def _quoted(texts: tuple[str, ...]) -> str:
    return " and ".join(map(repr, texts))


def with_whole_names(given: Given, functions: list[Function]) -> Given:
    """What is given, with the whole names of parameters for the beginnings of names.

    A beginning counts if no kernel has a parameter of that name, and one name alone begins so.

    >>> from swzverify.compiled.ptx import read_module
    >>> module = read_module(".version 8.0 .target sm_90 .address_size 64 .entry k(.param .u32 pitch) { ret; }", "k")
    >>> found = with_whole_names(Given(("pi=33",), ("pi % 2 == 1",)), [*module.functions])
    >>> found.parameters, found.assumptions
    (('pitch=33',), ('pitch % 2 == 1',))
    """
    kernels = [each for each in functions if each.is_entry]
    known = {each.name for kernel in kernels for each in kernel.parameters}
    for name in {name for _, name in _wanted_names(given)}:
        whole = [each for each in known if name and each.startswith(name)]
        if len(whole) == 1 and not any(named(name, kernel) for kernel in kernels):
            word = re.compile(rf"(?<![\w$%.]){re.escape(name)}(?![\w$%.])", re.ASCII)
            parameters, maps, assumptions = (
                tuple(word.sub(lambda _, to=whole[0]: to, each, count) for each in texts)
                for texts, count in ((given.parameters, 1), (given.tensor_maps, 1), (given.assumptions, 0))
            )
            given = replace(given, parameters=parameters, tensor_maps=maps, assumptions=assumptions)
    return given


def _wanted_names(given: Given) -> list[tuple[str, str]]:
    """Each text with the names of parameters in it."""
    found = [(text, name_in(text)) for text in (*given.parameters, *given.tensor_maps)]
    return found + [(text, name) for text in given.assumptions for name in sorted(parse(text).names)]


def unknown_names(given: Given, functions: list[Function]) -> str:
    """A sentence on the first text whose parameters no kernel has; empty if there is none."""
    kernels = [each for each in functions if each.is_entry]
    known = list(dict.fromkeys(each.name for kernel in kernels for each in kernel.parameters))
    for text, name in _wanted_names(given):
        if not name:
            return f"{text!r} names no parameter"
        if not any(named(name, kernel) for kernel in kernels):
            hint = nearest(name, known) or f"there are {', '.join(known[:8])}" + (", ..." if len(known) > 8 else "")
            return f"{text!r}: no kernel has a parameter {name}; {hint if known else 'there are none'}"
    for text in given.assumptions:
        if not any(_names(text, kernel) is not None for kernel in kernels):
            return f"{text!r}: no kernel has all of these parameters"
    return ""

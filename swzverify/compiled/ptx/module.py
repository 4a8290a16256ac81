"""The contents of a PTX text as immutable values: symbols, functions and their instructions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Any

from swzverify.compiled.ptx.instruction import Instruction
from swzverify.compiled.ptx.operands import Label, SymbolRef
from swzverify.compiled.ptx.types import Space
from swzverify.errors import Problem


def _nothing() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable.

    The host may write other bytes into constant and global memory before a launch.

    Attributes:
        name: The name.
        space: The state space.
        element: The type of an element (`b8`, `v4.f32`).
        align_bytes: The alignment.
        size_bytes: The size; None for `.extern .shared .b8 smem[]`.
        is_extern: Whether the variable is external.
        scope: 0 for the module, else as in `Register`.
        line: The line of the text, from 1.
        data: The bytes of the initialiser, padded with zeros; None without one.
        note: Why there are no bytes of an initialiser.

    Source: PTX ISA, Variables: Variable Declarations, Array Declarations, Initializers, Alignment.
    """

    name: str
    space: Space
    element: str
    align_bytes: int
    size_bytes: int | None
    is_extern: bool
    scope: int
    line: int
    data: bytes | None = field(default=None, repr=False)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter or result: type, alignment, size and offset in bytes in the parameter space.

    Offsets follow from the order and alignments; they are None of a register. `size_bytes` is None
    for an array without a size.

    Source: PTX ISA, Parameter State Space.
    """

    name: str
    type: str
    align_bytes: int
    size_bytes: int | None
    offset_bytes: int | None


@dataclass(frozen=True, slots=True)
class Tuning:
    """The directives between a function's parameters and its body that state shapes of launches.

    None stands for a directive that the text does not have. Other directives are not kept.

    Attributes:
        max_threads: The three numbers of `.maxntid`, 1 where the text has none.
        required_threads: The three numbers of `.reqntid`, likewise.
        cluster: The three numbers of `.reqnctapercluster`, likewise.

    Source: PTX ISA, Performance-Tuning Directives; Cluster Dimension Directives.
    """

    max_threads: tuple[int, int, int] | None = None
    required_threads: tuple[int, int, int] | None = None
    cluster: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A kernel or device function.

    With a `problem`, the body has a statement that cannot be read: then there are no instructions,
    labels or symbols. For an example see `read_module`.

    Attributes:
        name: The name.
        is_entry: Whether it is a kernel.
        is_extern: Whether it is external.
        is_declaration: Whether it has no body.
        line: Its first line, from 1.
        parameters: The parameters.
        results: The results of a device function.
        tuning: The performance-tuning directives.
        symbols: The variables that it declares.
        instructions: The instructions in order.
        labels: The index of the instruction after each label; the number of instructions for a label
            at the end.
        targets: The tables of branch or call targets, by their labels.
        problem: The statement of the body that cannot be read.

    Source: PTX ISA, Kernel and Function Directives; Control Flow Directives.
    """

    name: str
    is_entry: bool
    is_extern: bool
    is_declaration: bool
    line: int
    parameters: tuple[Parameter, ...] = ()
    results: tuple[Parameter, ...] = ()
    tuning: Tuning = field(default_factory=Tuning)
    symbols: tuple[Symbol, ...] = ()
    instructions: tuple[Instruction, ...] = field(default=(), repr=False)
    labels: Mapping[Label, int] = field(default_factory=_nothing, repr=False)
    targets: Mapping[Label, tuple[Label | SymbolRef, ...]] = field(default_factory=_nothing, repr=False)
    problem: Problem | None = None

    @property
    def required_threads(self) -> tuple[int, int, int] | None:
        """`.reqntid`, the only block; None if the text does not say."""
        return self.tuning.required_threads

    @property
    def most_threads(self) -> int | None:
        """The most threads of a block, the product of `.maxntid`; None if the text has none.

        Source: PTX ISA, Performance-Tuning Directives: .maxntid.
        """
        extents = self.tuning.max_threads
        return None if extents is None else prod(extents)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of this name; None if there is none."""
        return next((each for each in self.parameters if each.name == name), None)

    def symbol(self, name: str, scope: int = 1) -> Symbol | None:
        """The variable that this scope of the function declares under the name; None if there is none."""
        return next((each for each in self.symbols if each.name == name and each.scope == scope), None)


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A PTX text.

    For an example see `read_module`.

    Attributes:
        name: The name of the file, for messages.
        version: The ISA version.
        target: The target, such as `sm_90a`.
        address_size: The bits of an address.
        files: The source files by number.
        symbols: The variables of the module.
        functions: The functions in the order of the text, without declarations of functions that the
            text also defines.
        aliases: The function that each `.alias` stands for, by name.
        problems: The statements outside of functions that cannot be read.

    Source: PTX ISA, PTX Module Directives.
    """

    name: str
    version: tuple[int, int]
    target: str
    address_size: int
    files: Mapping[int, str]
    symbols: tuple[Symbol, ...]
    functions: tuple[Function, ...]
    aliases: Mapping[str, str]
    problems: tuple[Problem, ...] = ()

    def function(self, name: str) -> Function | None:
        """The function of this name; None if there is none."""
        return next((each for each in self.functions if each.name == name), None)

    def symbol(self, name: str) -> Symbol | None:
        """The variable of this name at module scope; None if there is none."""
        return next((each for each in self.symbols if each.name == name), None)

"""What a PTX text holds, as values that do not change: symbols, functions and their
instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Any

from swzverify.compiled.ptx.instruction import Instruction
from swzverify.compiled.ptx.names import Registers
from swzverify.compiled.ptx.operands import Label, SymbolRef
from swzverify.compiled.ptx.types import Space
from swzverify.errors import Problem


def _nothing() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable: its space, alignment and size in bytes, element type (`b8`, `v4.f32`), scope and
    line (from 1).

    `size_bytes` is None for `.extern .shared .b8 smem[]`. `scope` is 0 for the module, else as in
    `Register`. `data` are the bytes of an initialiser, padded with zeros; None without one, or
    where `note` says why not. The host may have written other bytes into constant and global memory
    before a launch.

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
    for an array without a size. `is_pointer` tells `.ptr`, `pointer_space` where it points (None:
    anywhere), and `pointer_align_bytes` the alignment of what it points to.

    Source: PTX ISA, Parameter State Space; Kernel Function Parameter Attributes: .ptr.
    """

    name: str
    type: str
    align_bytes: int
    size_bytes: int | None
    offset_bytes: int | None
    is_pointer: bool = False
    pointer_space: Space | None = None
    pointer_align_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Prototype:
    """What the function that an indirect call calls takes and gives.

    Source: PTX ISA, Control Flow Directives: .callprototype.
    """

    parameters: tuple[Parameter, ...]
    results: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Tuning:
    """What stands between a function's parameters and its body: how it may be launched.

    `max_threads` (`.maxntid`), `required_threads` (`.reqntid`) and `cluster` (`.reqnctapercluster`)
    have three numbers, 1 where the text has none; `min_ctas` is `.minnctapersm`, `max_ctas`
    `.maxnctapersm`, `max_registers` `.maxnreg`. None where the text says nothing. `others` are the
    names of all further directives.

    Source: PTX ISA, Performance-Tuning Directives; Cluster Dimension Directives.
    """

    max_threads: tuple[int, int, int] | None = None
    required_threads: tuple[int, int, int] | None = None
    cluster: tuple[int, int, int] | None = None
    min_ctas: int | None = None
    max_ctas: int | None = None
    max_registers: int | None = None
    max_cluster_rank: int | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A kernel (`is_entry`) or device function; `is_declaration` tells one without a body, `line`
    (from 1) its begin.

    `labels` gives the index of the instruction behind each label, the number of instructions for
    one at the end. `targets` are tables of branch or call targets, `prototypes` those of indirect
    calls, by their labels. With a `problem` the body has a statement that cannot be read: there are
    no instructions, labels or symbols then. Example: see `read_module`.

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
    registers: Registers = field(default_factory=Registers, repr=False)
    instructions: tuple[Instruction, ...] = field(default=(), repr=False)
    labels: Mapping[Label, int] = field(default_factory=_nothing, repr=False)
    targets: Mapping[Label, tuple[Label | SymbolRef, ...]] = field(default_factory=_nothing, repr=False)
    prototypes: Mapping[Label, Prototype] = field(default_factory=_nothing, repr=False)
    problem: Problem | None = None

    @property
    def required_threads(self) -> tuple[int, int, int] | None:
        """`.reqntid`, the only block; None if the text does not say."""
        return self.tuning.required_threads

    @property
    def most_threads(self) -> int | None:
        """How many threads a block may have, the product of `.maxntid`; None if the text does not
        say.

        Source: PTX ISA, Performance-Tuning Directives: .maxntid.
        """
        extents = self.tuning.max_threads
        return None if extents is None else prod(extents)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of this name; None if there is none."""
        return next((each for each in self.parameters if each.name == name), None)

    def symbol(self, name: str, scope: int = 1) -> Symbol | None:
        """The variable that this scope of the function declares under the name; None if it declares
        none.
        """
        return next((each for each in self.symbols if each.name == name and each.scope == scope), None)


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A PTX text: ISA version, target (`sm_90a`), bits of an address, source files by number,
    symbols and functions.

    `functions` are in the order of the text; a declaration is left out where the text defines the
    function too. `problems` are statements outside of functions that could not be read. Example:
    see `read_module`.

    Source: PTX ISA, PTX Module Directives.
    """

    name: str
    version: tuple[int, int]
    target: str
    target_options: tuple[str, ...]
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

"""The declaration that a name means: nested blocks, and the module around them.

A name belongs to the innermost block that declares it before the instruction that uses it; labels
hold in the whole of their block. A range (`%r<40>`) is one entry: `%r7` is looked up by its front
and its number, never built ahead.

Source: PTX ISA, Scoping of Names; Parameterized Variable Names. That the number is the longest run
of digits at the name's end, and which names shadow others, was tried with ptxas 13.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from swzverify.compiled.ptx.operands import Label, Operand, Register, SpecialRegister, SymbolRef
from swzverify.compiled.ptx.problems import UnreadableError, shown
from swzverify.compiled.ptx.syntax import compiled

FUNCTION_SCOPE: Final = 1
_MOST_DIGITS: Final = 9
_WITH_COMPONENTS: Final = frozenset(
    f"%{name}"
    for name in ["tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"]
)
_SPECIAL: Final = compiled(
    r"%(?:(?:tid|ntid|ctaid|nctaid|clusterid|nclusterid|cluster_ctaid|cluster_nctaid|cluster_ctarank|cluster_nctarank"
    r"|is_explicit_cluster|laneid|warpid|nwarpid|smid|nsmid|gridid|lanemask_(?:eq|le|lt|ge|gt)|clock|clock_hi|clock64"
    r"|globaltimer|globaltimer_lo|globaltimer_hi|total_smem_size|aggr_smem_size|dynamic_smem_size|current_graph_exec)"
    r"|pm[0-7]|pm[0-7]_64|envreg(?:[12]?\d|3[01])|reserved_smem_offset_(?:begin|end|cap|[01]))"
)
"""Source: PTX ISA 9.0, Special Registers."""


def is_special(name: str) -> bool:
    """Whether a name without component is a special register.

    >>> is_special("%tid"), is_special("%r1")
    (True, False)
    """
    return _SPECIAL.fullmatch(name) is not None


def has_components(name: str) -> bool:
    """Whether a special register has `.x`, `.y` and `.z`."""
    return name in _WITH_COMPONENTS


def numbered(name: str) -> tuple[str, int] | None:
    """The front and number of a name that may belong to a range.

    None for a name without digits or with a leading zero.

    >>> numbered("%rd12"), numbered("p"), numbered("%r01")
    (('%rd', 12), None, None)
    """
    front = name.rstrip("0123456789")
    digits = name[len(front) :]
    if not digits or len(digits) > _MOST_DIGITS or (digits[0] == "0" and digits != "0"):
        return None
    return front, int(digits)


@dataclass(slots=True, eq=False)
class Block:
    """The names between two braces.

    Attributes:
        number: The number of the scope.
        parent: The block around it.
        opened_at: The number of instructions before the block.
        module: The names of the module.
        has_late: Whether a declaration follows an instruction of the block, so that a name may change
            its meaning.
        names: The registers and variables by name, each with the number of instructions before it.
        ranges: The ranges of registers by their front.
        labels: The labels by name.
        cache: The operands by their text, if `has_late` is false.
    """

    number: int
    parent: Block | None
    opened_at: int
    module: ModuleNames
    has_late: bool = False
    names: dict[str, tuple[Register | SymbolRef, int]] = field(
        default_factory=dict[str, tuple[Register | SymbolRef, int]]
    )
    ranges: dict[str, tuple[int, str, int]] = field(default_factory=dict[str, tuple[int, str, int]])
    labels: dict[str, Label] = field(default_factory=dict[str, Label])
    cache: dict[str, Operand] = field(default_factory=dict[str, Operand])

    def declare(self, name: str, meaning: Register | SymbolRef, instructions: int) -> None:
        """Add a register or variable that is declared after `instructions` instructions.

        Raises:
            UnreadableError: The name is declared twice.
        """
        if name in self.names:
            raise UnreadableError(f"`{shown(name)}` is declared twice in one scope")
        self.has_late = self.has_late or instructions > self.opened_at
        self.names[name] = (meaning, instructions)

    def declare_range(self, front: str, count: int, type_name: str, instructions: int) -> None:
        """Add the registers `front0`, `front1`, ...

        Raises:
            UnreadableError: There is a second range of this name.
        """
        if front in self.ranges:
            raise UnreadableError(f"`{shown(front)}<...>` is declared twice in one scope")
        self.has_late = self.has_late or instructions > self.opened_at
        self.ranges[front] = (count, type_name, instructions)

    def add_label(self, name: str) -> Label:
        """Add a label; an `UnreadableError` for a second one of this name in the block."""
        if name in self.labels:
            raise UnreadableError(f"the label `{shown(name)}` stands twice in one scope")
        label = self.labels[name] = Label(name, self.number)
        return label

    def resolve(self, name: str, index: int) -> Operand:
        """The meaning of a name for the instruction of this index.

        Raises:
            UnreadableError: The name is not declared.
        """
        parts = numbered(name)
        block: Block | None = self
        while block is not None:
            if (found := block.here(name, parts, index)) is not None:
                return found
            block = block.parent
        if is_special(name):
            return SpecialRegister(name)
        if (outer := self.module.names.get(name)) is not None:
            return outer
        raise UnreadableError(f"`{shown(name)}` is not declared")

    def here(self, name: str, parts: tuple[str, int] | None, index: int) -> Register | SymbolRef | Label | None:
        """What this block itself declares under a name; `parts` are those of `numbered`."""
        entry = self.names.get(name)
        if entry is not None and entry[1] <= index:
            return entry[0]
        if parts is not None:
            spread = self.ranges.get(parts[0])
            if spread is not None and parts[1] < spread[0] and spread[2] <= index:
                return Register(name, self.number, spread[1])
        return self.labels.get(name)


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """The names outside of functions, and the name of the file for messages."""

    file_name: str
    names: dict[str, SymbolRef] = field(default_factory=dict[str, SymbolRef])

    def add(self, name: str) -> None:
        """Add a variable or function."""
        self.names[name] = SymbolRef(name, 0)

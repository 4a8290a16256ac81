"""What a parsed PTX module consists of: plain records without behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field

WIDTHS = {
    "pred": 1,
    **dict.fromkeys(("b8", "u8", "s8", "e4m3", "e5m2"), 8),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16", "e4m3x2", "e5m2x2"), 16),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "tf32", "f16x2", "bf16x2", "u16x2", "s16x2"), 32),
    **dict.fromkeys(("b64", "u64", "s64", "f64", "f32x2"), 64),
    "b128": 128,
}
"""Bits of each PTX type (a predicate is kept as a boolean)."""


@dataclass(frozen=True)
class Reg:
    """A register: its place in the function's register file, and its declared type."""

    slot: int
    type: str
    name: str


@dataclass(frozen=True)
class Imm:
    """A number in the text; `bits` is set where 0f or 0d precedes the bits of a float."""

    value: int | float
    bits: int = 0


@dataclass(frozen=True)
class Special:
    """A special register such as %tid.x."""

    name: str


@dataclass(frozen=True)
class Sym:
    """A name that is no register: a variable, a label or a function; with a byte offset."""

    name: str
    scope: Scope = field(compare=False, repr=False)
    offset: int = 0


@dataclass(frozen=True)
class Addr:
    """[base + offset]; `extra` holds what follows a comma in the brackets (tensor coordinates)."""

    base: Operand
    offset: int
    extra: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class Vec:
    """{a, b, ...}."""

    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Group:
    """(a, b, ...), as in the argument lists of a call."""

    items: tuple[Operand, ...]


@dataclass(frozen=True)
class Pair:
    """p|q: two results."""

    first: Operand
    second: Operand


@dataclass(frozen=True)
class Not:
    """!p."""

    item: Operand


@dataclass(frozen=True)
class Sink:
    """The underscore: a result that nobody wants."""


Operand = Reg | Imm | Special | Sym | Addr | Vec | Group | Pair | Not | Sink


@dataclass(eq=False)
class Symbol:
    """A variable in some state space.

    `init` holds (byte offset, width in bytes, value or Sym) triples.
    """

    name: str
    space: str
    type: str
    align: int
    size: int
    line: int
    extern: bool = False
    pointer: bool = False
    init: list[tuple[int, int, Imm | Sym]] = field(default_factory=list)


@dataclass(eq=False)
class Scope:
    """One pair of braces: the names that are declared in it."""

    parent: Scope | None = None
    registers: dict[str, Reg] = field(default_factory=dict)
    families: dict[str, tuple[int, str]] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    targets: dict[str, list[Sym]] = field(default_factory=dict)

    def find(self, table: str, name: str) -> Symbol | int | list[Sym] | None:
        """Look a name up in one of the tables, from the inside outwards."""
        scope: Scope | None = self
        while scope is not None:
            found = getattr(scope, table).get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None


@dataclass(eq=False)
class Instr:
    """One instruction. `mods` are the parts of the opcode after the first dot."""

    line: int
    op: str
    mods: tuple[str, ...]
    operands: list[Operand]
    scope: Scope
    pred: Reg | None = None
    negated: bool = False

    @property
    def opcode(self) -> str:
        """The whole opcode as it is written."""
        return ".".join((self.op, *self.mods))

    @property
    def type(self) -> str:
        """The last type of the opcode, which is the type of most instructions."""
        for mod in reversed(self.mods):
            if mod in WIDTHS:
                return mod
        return ""


@dataclass(eq=False)
class Function:
    """A kernel (`entry`) or a device function; `params` and `returns` are symbols or registers."""

    name: str
    entry: bool
    line: int
    params: list[Symbol | Reg] = field(default_factory=list)
    returns: list[Symbol | Reg] = field(default_factory=list)
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    slots: list[str] = field(default_factory=list)
    instrs: list[Instr] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    scope: Scope = field(default_factory=Scope)
    body: bool = False


@dataclass(eq=False)
class Module:
    """A PTX file."""

    lines: list[str]
    functions: dict[str, Function] = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)
    aliases: dict[str, str] = field(default_factory=dict)

    def function(self, name: str) -> Function | None:
        """The function of this name, through aliases."""
        return self.functions.get(self.aliases.get(name, name))

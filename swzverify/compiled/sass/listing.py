"""A listing of `nvdisasm -gp -c`, read line by line: whatever is not expected is an error.

The tool prints one machine instruction per line, with its place in the section, and a comment where
the line of the PTX changes. Instructions have 16 bytes from sm_70 on, so that a gap shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.sass.opcodes import Opcode, opcode_of

_TARGET: Final = re.compile(r"\s*\.target\s+(sm_\d{2,3}[af]?)\s*")
_SECTION: Final = re.compile(r'\s*\.section\s+\.text\.([\w$.%@]+),"[a-z]*",@progbits\s*')
_OTHER_SECTION: Final = re.compile(r"\s*\.section\s+(?!\.text)\S+\s*")
_ENTRY: Final = re.compile(r'\s*\.other\s+([\w$.%@]+),@"STO_CUDA_ENTRY\b[^"]*"\s*')
_LINE: Final = re.compile(r'\s*//## File "([^"]*)", line (\d{1,9})\s*')
_CODE: Final = re.compile(
    r"\s*/\*([0-9a-f]{4,8})\*/\s+((?:@!?U?P[0-9T]{1,2}\s+)?([A-Z][A-Z0-9a-z_.]*)(?:\s+[^;]*)?);\s*(?:&\S+\s*)*"
)
_IDLE: Final = "LDS RZ, [RZ]"
"""A load of one word for all lanes that no PTX asks for: ptxas puts it beside LDGSTS, and nothing
reads its result.
"""
_LABEL: Final = re.compile(r"[\w$.%@]+:\s*")
_NOT_SILENT: Final = re.compile(r"//##|\.section(?!info\b|flags?\b)")
"""Lines of the table of lines and of sections; `.sectioninfo` and `.sectionflags`, which nvdisasm
13.5 writes for targets before sm_90, say how many registers and barriers a section has.
"""
_TABLE: Final = ".nv_debug_ptx_txt"
_BYTES: Final = 16
_SHOWN: Final = 60


class ListingError(ValueError):
    """A listing that is not as expected; the message says where."""


@dataclass(frozen=True, slots=True)
class SassInstruction:
    """A machine instruction that touches shared memory, or may do so.

    `opcode` is the meaning of its name. `line` is the line of the PTX, None if the table has none.
    `text` has its operands. `section` and `offset_bytes` are its place.
    """

    name: str
    opcode: Opcode
    line: int | None
    text: str = ""
    section: str = ""
    offset_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """The code of one kernel, with the functions that were put into it; or of a function alone.

    `instructions` are those that may touch shared memory, `size_bytes` counts all of them.
    """

    name: str
    is_kernel: bool
    instructions: tuple[SassInstruction, ...]
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """The sections of a cubin; `has_lines` tells whether there is a table of PTX lines."""

    target: str
    sections: tuple[Section, ...]
    has_lines: bool

    def of_kernel(self, name: str) -> tuple[SassInstruction, ...] | None:
        """What a kernel may run; None where there is no such kernel.

        A function outside of kernels may be called by any.
        """
        if not any(each.is_kernel and each.name == name for each in self.sections):
            return None
        return tuple(
            instruction
            for each in self.sections
            if each.name == name or not each.is_kernel
            for instruction in each.instructions
        )

    def of_all(self) -> tuple[SassInstruction, ...]:
        """The instructions of all sections."""
        return tuple(instruction for each in self.sections for instruction in each.instructions)


def touches(text: str) -> Opcode | None:
    """What an instruction with its operands does to shared memory; None where it leaves it alone.

    >>> touches("@!P1 LDS.64 R2, [R4+0x8]").width_bits, touches("LDS RZ, [RZ]"), touches("NOP")
    (64, None, None)
    """
    words = text.split()
    plain = words[1:] if words and words[0].startswith("@") else words
    return opcode_of(plain[0]) if plain and " ".join(plain) != _IDLE else None


def read_listing(text: str, shift: int = 0) -> Listing:
    r"""The listing as data. `shift` is added to its lines, for PTX that begins elsewhere.

    >>> head = '\t.target\tsm_90\n\t.section\t.text.k,"ax",@progbits\n'
    >>> line = '\t//## File ".nv_debug_ptx_txt", line 12\n'
    >>> found = read_listing(head + line + "        /*0000*/    @!P1  LDS.64 R2, [R4+0x8] ;\n")
    >>> found.sections[0].instructions[0].name, found.sections[0].instructions[0].line
    ('LDS.64', 12)
    """
    reader = _Reader(shift)
    for number, line in enumerate(text.split("\n"), 1):
        reader.read(number, line)
    return reader.result()


class _Reader:
    """Reads one line after the other."""

    def __init__(self, shift: int) -> None:
        self.shift = shift
        self.target = ""
        self.has_lines = False
        self.codes: dict[str, list[SassInstruction]] = {}
        self.kernels: set[str] = set()
        self.name: str | None = None
        self.line: int | None = None
        self.place = 0
        self.sizes: dict[str, int] = {}

    def read(self, number: int, line: str) -> None:
        """Take one line of the listing."""
        if found := _CODE.fullmatch(line):
            self._code(number, int(found[1], 16), found[3], " ".join(found[2].split()))
        elif found := _LINE.fullmatch(line):
            is_ptx = found[1] == _TABLE
            self.line = int(found[2]) + self.shift if is_ptx else None
            self.has_lines = self.has_lines or is_ptx
        elif found := _SECTION.fullmatch(line):
            self._section(number, found[1])
        elif found := _ENTRY.fullmatch(line):
            self.kernels.add(found[1])
        elif found := _TARGET.fullmatch(line):
            self.target = found[1]
        elif found := _OTHER_SECTION.fullmatch(line):
            self.name = None
        elif not _is_silent(line):
            raise ListingError(f"line {number} of nvdisasm's listing is not understood: {_shown(line)}")

    def _section(self, number: int, name: str) -> None:
        if name in self.codes:
            raise ListingError(f"line {number} of nvdisasm's listing begins the code of {_shown(name)} again")
        self.codes[name] = []
        self.name, self.line, self.place = name, None, 0

    def _code(self, number: int, place: int, name: str, text: str) -> None:
        if self.name is None:
            raise ListingError(f"line {number} of nvdisasm's listing has an instruction outside of a section")
        if place != self.place:
            raise ListingError(
                f"line {number} of nvdisasm's listing has an instruction at {place:#x}; expected {self.place:#x}"
            )
        self.place += _BYTES
        self.sizes[self.name] = self.place
        opcode = touches(text)
        if opcode is not None:
            self.codes[self.name].append(SassInstruction(name, opcode, self.line, text, self.name, place))

    def result(self) -> Listing:
        """Everything that was read."""
        if not self.target:
            raise ListingError("nvdisasm's listing names no target")
        sections = tuple(
            Section(name, name in self.kernels, tuple(code), self.sizes.get(name, 0))
            for name, code in self.codes.items()
        )
        return Listing(self.target, sections, self.has_lines)


def _is_silent(line: str) -> bool:
    """Whether a line says nothing of instructions: a heading, a directive, a label."""
    plain = line.strip()
    if _NOT_SILENT.match(plain):
        return False
    return not plain or plain.startswith(("//", ".")) or _LABEL.fullmatch(plain) is not None


def _shown(text: str) -> str:
    plain = " ".join(text.split())
    return "".join(char if char.isprintable() else "\ufffd" for char in plain[:_SHOWN])

"""A listing as `subjects.Listing` needs it: maxas's, nvdisasm's or cuobjdump's text, line by line.

A line that is no instruction, label, comment or directive is an error. An instruction that is not
understood is no error: it says so, and no claim on it is proved.

An instruction can be written again with other reuse marks or registers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from swzverify.compiled.sass.forms import CALLS, CONTROL, INDIRECT, OTHERS, form_of, may_name_a_place, must_name_a_place
from swzverify.compiled.sass.listing import ListingError
from swzverify.compiled.sass.operands import (
    OperandError,
    Parts,
    is_predicate,
    marked_in,
    parts_of,
    registers_in,
    value_of,
)
from swzverify.subjects.listing import ListedInstruction, RegisterRead, Work

_PLACE: Final = re.compile(r"\s*/\*([0-9a-f]{4,8})\*/")
_CODES: Final = re.compile(r"\s*(?:[0-9a-fA-F-]{2}:[1-6-]:[1-6-]:([yY-]):[0-9a-fA-F]|\[B[^\]]*:([Y-]):S\d\d\])\s+")
_LABEL: Final = re.compile(r"\s*(\.?[A-Za-z_$%@][\w$.%@]*):(?!:)\s*")
_SECTION: Final = re.compile(r"\s*(?:\.section\s+\.text\.([\w$.%@]+),.*|Function\s*:\s*(\S+))\s*")
_OTHER_SECTION: Final = re.compile(r"\s*\.section\s+(?!\.text\.).*")
_TARGET: Final = re.compile(
    r"\s*(?:\.target\s+sm_|code for sm_|arch = sm_|\.headerflags\s.*?\bEF_CUDA_SM)(\d{2,3})[af]?\b.*"
)
_SILENT: Final = re.compile(
    r"\s*(?:\.(?:2byte|4byte|8byte|align|address_size|ascii|asciz|byte|data|dword|elftype|file|global|headerflags|hidden"
    r"|hword|line|loc|local|long|nv_debug_\w+|nv_fatbin\w*|other|quad|section|sectionentsize|sectionflags|sectioninfo"
    r"|short|size|string|target|type|version|visibility|weak|word|zero)(?:\s[^;]*)?|[=.\-]{3,}|[{}]|Fatbin \w+ code:"
    r"|(?:code version|producer|host|compile_size|identifier|ptxasOptions)\s*[=:][^;]*|compressed|has debug info)?\s*"
)
_TAIL: Final = re.compile(r"\s*[&?]\S+")
_DESTINATION: Final = re.compile(
    r"(?:U?R\d{1,3}\s+)?(?:`\(\s*([A-Za-z_.$%@][\w.$%@]*)\s*([-+]\s*0x[0-9a-f]+)?\s*\)|([A-Za-z_.$%@][\w.$%@]*)"
    r"|(0x[0-9a-f]+))"
)
"""A label with an offset, a label, or a place. A decimal number is neither: nobody says from where
it counts.
"""
_VECTOR: Final = 4
"""Registers that a load writes at most."""
_SHOWN: Final = 60
_INDENT: Final = 200
"""Blanks before the place of an instruction, at most."""
MOST_INSTRUCTIONS: Final = 20_000
MOST_CHARACTERS: Final = 2_000
"""Of a line without its comments."""


@dataclass(slots=True)
class _Code:
    """The instructions of one function, with what control does in them."""

    instructions: list[ListedInstruction] = field(default_factory=list[ListedInstruction])
    places: list[int | None] = field(default_factory=list[int | None])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    branches: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Name and operands of each instruction of control."""


@dataclass(frozen=True, slots=True)
class ReadListing:
    """The functions of a text by name, "" for code in none."""

    functions: dict[str, tuple[ListedInstruction, ...]]


def read_instructions(text: str, banks: int) -> ReadListing:
    """The instructions of a listing; `banks` is the number of register banks of its target.

    Raises:
        ListingError: The text is no listing; with the line.

    >>> found = read_instructions("--:-:-:-:1 FFMA R37, R71.reuse, R72.reuse, R37;", 4)
    >>> [(read.register, read.slot, read.reuse) for read in found.functions[""][0].reads]
    [(71, 2, True), (72, 3, True), (37, 4, False)]
    """
    reader = _Reader(banks)
    for number, line in enumerate(_uncommented(text).split("\n"), 1):
        reader.read(number, line)
    return reader.result()


def target_of(text: str) -> str:
    r"""The target that a listing names; empty if it names none.

    Raises:
        ListingError: The listing names several.

    >>> target_of("\t.target\tsm_86\n"), target_of("FFMA R0, R4, R5, R0;")
    ('sm_86', '')
    """
    named = dict.fromkeys(f"sm_{found[1]}" for line in text.splitlines() if (found := _TARGET.fullmatch(line)))
    if len(named) > 1:
        raise ListingError(f"it has code for {', '.join(named)}: one target per listing")
    return next(iter(named), "")


def _uncommented(text: str) -> str:
    """The text without comments, its lines where they were; the places of instructions stay.

    Looks at each character a few times only, however a hostile text nests.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    plain = _without(plain, "<REGISTER_MAPPING>", "</REGISTER_MAPPING>", lambda _text, _begin, _end: False)
    plain = _without(plain, "/*", "*/", _is_place)
    return "\n".join(re.sub(r"(?://|#).*", "", line) for line in plain.split("\n"))


def _without(text: str, opening: str, closing: str, stays: Callable[[str, int, int], bool]) -> str:
    """The text without the parts between two marks; one that never ends goes to the end."""
    found, at = list[str](), 0
    while (begin := text.find(opening, at)) >= 0:
        end = text.find(closing, begin + len(opening))
        end = len(text) if end < 0 else end + len(closing)
        found += [text[at:begin], text[begin:end] if stays(text, begin, end) else "\n" * text.count("\n", begin, end)]
        at = end
    return "".join([*found, text[at:]])


def _is_place(text: str, begin: int, end: int) -> bool:
    """Whether a comment is the place of an instruction: the first thing on its line."""
    start = text.rfind("\n", max(0, begin - _INDENT), begin) + 1
    if start == 0 and begin > _INDENT:
        return False
    return not text[start:begin].strip(" \t{") and _PLACE.fullmatch(text, begin, end) is not None


class _Reader:
    """Reads one line after the other."""

    def __init__(self, banks: int) -> None:
        self.banks = banks
        self.codes: dict[str, _Code] = {}
        self.name: str | None = ""

    def read(self, number: int, line: str) -> None:
        """Take one line of the listing."""
        if len(line) > MOST_CHARACTERS:
            raise ListingError(f"line {number} of the listing has more than {MOST_CHARACTERS} characters")
        if found := _SECTION.fullmatch(line):
            name = str(found[1] or found[2])
            if self.codes.get(name, _Code()).instructions:
                raise ListingError(f"line {number} of the listing begins {name} a second time")
            self.name = name
            self.codes.setdefault(name, _Code())
            return
        if _OTHER_SECTION.fullmatch(line):
            self.name = None
            return
        if _TARGET.fullmatch(line):
            return
        rest = line.replace("{", " ", 1) if line.strip().startswith("{") else line
        place: int | None = None
        if found := _PLACE.match(rest):
            place, rest = int(found[1], 16), rest[found.end() :].replace("{", " ", 1)
        if _SILENT.fullmatch(rest):
            return
        while not _CODES.match(rest) and (found := _LABEL.match(rest)):
            code = self._code(number)
            if code.labels.setdefault(found[1], len(code.instructions)) != len(code.instructions):
                raise ListingError(f"line {number} of the listing has the label {found[1]} a second time")
            rest = rest[found.end() :]
        if _SILENT.fullmatch(rest):
            return
        codes = _CODES.match(rest)
        yields = codes is not None and (codes[1] or codes[2]) in ("Y", "y")
        self._instruction(number, rest[codes.end() :] if codes else rest, place, yields)

    def _code(self, number: int) -> _Code:
        if self.name is None:
            raise ListingError(f"line {number} of the listing stands in a section without code")
        return self.codes.setdefault(self.name, _Code())

    def _instruction(self, number: int, text: str, place: int | None, yields: bool) -> None:
        body, _, tail = text.partition(";")
        body = _TAIL.sub("", body).strip()
        parts = parts_of(body)
        tail = _TAIL.sub("", tail).strip().rstrip("}").strip()
        if parts is None or tail:
            shown = " ".join(text.split())[:_SHOWN]
            raise ListingError(f"line {number} of the listing is no instruction: {shown}")
        code = self._code(number)
        if len(code.instructions) >= MOST_INSTRUCTIONS:
            raise ListingError(f"line {number}: a function has more than {MOST_INSTRUCTIONS} instructions")
        if may_name_a_place(parts.name, parts.modifiers):
            code.branches.append((parts.name, ", ".join(parts.operands)))
        shown = " ".join(body.split())
        code.instructions.append(replace(_decoded(number, shown, parts, self.banks), yields=yields))
        code.places.append(place)

    def result(self) -> ReadListing:
        """Everything that was read."""
        return ReadListing({name: tuple(_joined(code)) for name, code in self.codes.items() if code.instructions})


def _decoded(line: int, text: str, parts: Parts, banks: int) -> ListedInstruction:
    """One instruction; one that is not understood says why."""
    if (form := form_of(parts.name, parts.modifiers, banks)) is not None:
        try:
            reads, writes = _arithmetic(parts, form.slots, form.writes)
        except OperandError as error:
            return _unknown(line, text, parts, str(error))
        return ListedInstruction(line, text, Work.ARITHMETIC, reads, writes, parts.predicated)
    is_silent = parts.name in OTHERS or parts.name in CONTROL or parts.name in CALLS
    if is_silent and marked_in(text):
        return _unknown(line, text, parts, f"what {parts.name} keeps by its reuse mark is not known")
    if parts.name in OTHERS:
        written = {number + more for number in registers_in(text) for more in range(_VECTOR)}
        writes = tuple(sorted(number for number in written if number < 255))
        return ListedInstruction(line, text, Work.OTHER, (), writes, parts.predicated)
    if parts.name in CONTROL or parts.name in CALLS:
        work = Work.CALL if parts.name in CALLS else Work.CONTROL
        return ListedInstruction(line, text, work, predicated=parts.predicated)
    name = ".".join((parts.name, *parts.modifiers))
    return _unknown(line, text, parts, f"how {name} reads its registers is not known")


def _unknown(line: int, text: str, parts: Parts, why: str) -> ListedInstruction:
    reads = tuple(RegisterRead(number, None, reuse=True) for number in dict.fromkeys(marked_in(text)))
    return ListedInstruction(line, text, Work.UNKNOWN, reads[:3], predicated=parts.predicated, why=why)


def _arithmetic(
    parts: Parts, slots: tuple[int | None, ...], has_result: bool
) -> tuple[tuple[RegisterRead, ...], tuple[int, ...]]:
    """The registers that an instruction reads and writes.

    If a source is no register, another one may be in its slot.
    """
    if strange := [each for each in parts.modifiers if not each.isupper() and not each.isdigit()]:
        raise OperandError(f"the modifier .{strange[0]} is not understood")
    values = [value_of(each) for each in parts.operands if not is_predicate(each)]
    writes: tuple[int, ...] = ()
    if has_result:
        if not values or values[0] is None:
            raise OperandError("the register of the result is missing")
        if values[0].reuse:
            raise OperandError("the register of the result has a reuse mark")
        writes = () if values[0].number is None else (values[0].number,)
        values = values[1:]
    sources, more = values[: len(slots)], values[len(slots) :]
    if any(each is not None for each in more):
        raise OperandError(f"it has more than {len(slots)} sources")
    if len(sources) < len(slots):
        raise OperandError(f"it has fewer than {len(slots)} sources")
    whole = len(sources) == len(slots) and all(each is not None for each in sources)
    reads = tuple(
        RegisterRead(each.number, slot if whole or slot == slots[0] == 2 else None, each.reuse)
        for each, slot in zip(sources, slots, strict=False)
        if each is not None and each.number is not None
    )
    return reads, writes


def _words(text: str) -> frozenset[str]:
    """The labels that operands name."""
    return frozenset(re.findall(r"[A-Za-z_.$%@][\w.$%@]*", text))


def _target_in(operands: str, code: _Code, places: Mapping[int, int]) -> int | None:
    """The index of the instruction that the last operand names.

    The operand names it by a label, alone or with an offset, or by its place. None if it names none that
    the listing shows, or is not understood.
    """
    word = operands.rpartition(",")[2].strip()
    found = _DESTINATION.fullmatch(word)
    if found is None:
        return None
    label, offset = found[1] or found[3], found[2]
    if label is None:
        return places.get(int(found[4], 16))
    index = code.labels.get(label)
    if offset is None or index is None or index >= len(code.places):
        return index
    start = code.places[index]
    return None if start is None else places.get(start + int("".join(offset.split()), 16))


def _joined(code: _Code) -> list[ListedInstruction]:
    """The instructions; those to which control may come from elsewhere are marked `joined`."""
    named = _words(" ".join(operands for _, operands in code.branches))
    places = {place: index for index, place in enumerate(code.places) if place is not None}
    starts = {index for label, index in code.labels.items() if index or label in named}
    targets = {
        None if name in INDIRECT else _target_in(operands, code, places)
        for name, operands in code.branches
        if must_name_a_place(name) or not _words(operands).isdisjoint(code.labels) or "0x" in operands
    }
    anywhere = None in targets
    return [
        replace(each, joined=True) if anywhere or index in starts or index in targets else each
        for index, each in enumerate(code.instructions)
    ]


_REGISTER = re.compile(r"(?<![A-Za-z0-9_.])R(\d{1,3})((?:\.[A-Za-z0-9_]+)*)(?![A-Za-z0-9_])")


def rewritten(text: str, numbers: Mapping[int, int], marks: Sequence[bool], results: int) -> str:
    """The text of an arithmetic instruction, with registers renumbered.

    `marks` says of each source register in turn whether it is marked, after `results` registers that are
    written.

    >>> rewritten("FFMA R0, -R4.reuse, R5, R0", {0: 2}, [False, True, False], 1)
    'FFMA R2, -R4, R5.reuse, R2'
    """
    seen = -results

    def other(found: re.Match[str]) -> str:
        nonlocal seen
        number = numbers.get(int(found[1]), int(found[1]))
        suffixes = [each for each in found[2].split(".")[1:] if each != "reuse"]
        if 0 <= seen < len(marks) and marks[seen]:
            suffixes.insert(0, "reuse")
        seen += 1
        return ".".join((f"R{number}", *suffixes))

    return _REGISTER.sub(other, text)

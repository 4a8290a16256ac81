"""One machine instruction's text: its predicate, name, modifiers and operands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_INSTRUCTION: Final = re.compile(
    r"(?:@(!?)(U?P[0-6T])\s+)?(?!U?R\d+\b)([A-Z][A-Z0-9_]*)((?:\.[A-Za-z0-9_]+)*)(?:\s+(.*?))?\s*"
)
_REGISTER: Final = re.compile(r"[-~!+|]*R(\d{1,3}|Z)((?:\.[A-Za-z0-9_]+)*)\|?((?:\.[A-Za-z0-9_]+)*)")
_PREDICATE: Final = re.compile(r"!?(?:U?P[0-6T]|PR|CC)(?:\.[A-Za-z0-9_]+)*")
_CONSTANT: Final = re.compile(
    r"[-~!+|]*cx?\s*\[(?:0x[0-9a-fA-F]+|UR\d+)\]\s*"
    r"\[(?:0x[0-9a-fA-F]+|UR\d+(?:\+0x[0-9a-fA-F]+)?)\]\|?(?:\.[A-Za-z0-9_]+)*"
)
_UNIFORM: Final = re.compile(r"[-~!+|]*UR(?:\d{1,2}|Z)(?:\.[A-Za-z0-9_]+)*\|?")
_NUMBER: Final = re.compile(r"[-+]?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+|INF|QNAN|SNAN|NAN)(?:\.NEG)?")
_PARTS: Final = frozenset(
    ("H0", "H1", "H0_H0", "H1_H1", "H0_NH1", "B0", "B1", "B2", "B3", "F32", "CC", "U16", "S16", "U8", "S8", "INV")
)
_LARGEST: Final = 254


class OperandError(ValueError):
    """An instruction whose operands are not understood; the message says which."""


@dataclass(frozen=True, slots=True)
class Register:
    """A register operand: its number, None for RZ, and whether it is marked `.reuse`."""

    number: int | None
    reuse: bool


@dataclass(frozen=True, slots=True)
class Parts:
    """An instruction taken apart, its operands still as text."""

    predicated: bool
    name: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]


def parts_of(text: str) -> Parts | None:
    """The parts of an instruction without its semicolon; None for a text that is none.

    >>> parts_of("@!P0 FFMA.FTZ R0, -R4.reuse, c[0x0][0x140], R0")
    Parts(predicated=True, name='FFMA', modifiers=('FTZ',), operands=('R0', '-R4.reuse', 'c[0x0][0x140]', 'R0'))
    """
    found = _INSTRUCTION.fullmatch(text)
    if found is None:
        return None
    always = found[2] is None or (found[2] in ("PT", "UPT") and not found[1])
    return Parts(not always, found[3], tuple(found[4].split(".")[1:]), tuple(_split(found[5] or "")))


def _split(text: str) -> list[str]:
    """The operands between commas that are in no brackets."""
    found, depth, word = list[str](), 0, ""
    for char in text:
        depth += (char in "[({") - (char in "])}")
        if char == "," and depth == 0:
            found.append(word.strip())
            word = ""
        else:
            word += char
    return [*found, word.strip()] if word.strip() else found


def is_predicate(text: str) -> bool:
    """Whether an operand is a predicate or the carry."""
    return _PREDICATE.fullmatch(text) is not None


def value_of(text: str) -> Register | None:
    """A register operand, or None for a number, a constant or a uniform register.

    Raises:
        OperandError: The text is anything else.

    >>> value_of("|R4|.reuse"), value_of("RZ"), value_of("c[0x0][0x140]")
    (Register(number=4, reuse=True), Register(number=None, reuse=False), None)
    """
    found = _REGISTER.fullmatch(text)
    if found is None:
        if any(form.fullmatch(text) for form in (_NUMBER, _CONSTANT, _UNIFORM)):
            return None
        raise OperandError(f"the operand {text} is not understood")
    suffixes = [*found[2].split(".")[1:], *found[3].split(".")[1:]]
    others = [each for each in suffixes if each != "reuse" and each not in _PARTS]
    if others:
        raise OperandError(f"the operand {text} is not understood: .{others[0]}")
    number = None if found[1] == "Z" else int(found[1])
    if number is not None and number > _LARGEST:
        raise OperandError(f"the register {text} does not exist: they are R0 to R{_LARGEST}, and RZ")
    return Register(number, "reuse" in suffixes)


def registers_in(text: str) -> list[int]:
    """The registers that a text names outside of brackets, those of memory operands left out.

    >>> registers_in("LDS.U.128 R80, [R106+0x200]")
    [80]
    """
    bare = re.sub(r"\[[^\]]*\]", "", text)
    return [int(each) for each in re.findall(r"(?<![A-Z0-9_])R(\d{1,3})\b", bare) if int(each) <= _LARGEST]


def marked_in(text: str) -> list[int]:
    """The registers that a text marks `.reuse`.

    >>> marked_in("HMMA.1688.F32 R0, R4.reuse, R8, R0")
    [4]
    """
    return [
        int(each)
        for each in re.findall(r"(?<![A-Z0-9_])R(\d{1,3})(?:\|?\.[A-Za-z0-9_]+)*?\|?\.reuse\b", text)
        if int(each) <= _LARGEST
    ]

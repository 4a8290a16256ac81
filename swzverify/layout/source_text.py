"""The text of layouts and swizzles, read to plain numbers and nested tuples of them.

What the numbers mean is for `Layout`, `Swizzle` and `notation`, which all read their text here.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, cast

from swzverify.errors import SwzError
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_names import name_hint
from swzverify.ir.c_parse import parse
from swzverify.layout.int_tuple import MAX_DEPTH, MAX_LEAVES, IntTuple, congruent

MAX_CHARACTERS = 4096
MAX_INTEGER = 2**40

Span = tuple[int, int]
Role = Literal["shape", "stride", "offset"]

_INTEGER = re.compile(r"_?([0-9]+)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
SWIZZLE = re.compile(r"(?:Swizzle|Sw|S)\s*<([^<>]*)>\s*(?:\{\s*\})?")
POINTER = re.compile(r"_?(?:smem_ptr|smem_|ptr)\s*\[\s*([0-9]+)\s*b\s*\]\s*(?:\([^()]*\))?")
_BITS = re.compile(r"\s*(-?[0-9]{1,9})\s*")
_COMPOSE = re.compile(r"(?<=\s)o(?=\s)|∘")


def layout_text(text: str) -> tuple[IntTuple, IntTuple | None]:
    """The shape and the stride of a plain layout without names.

    Errors are those of `parse_layout`.

    >>> layout_text("(8,(4,2)):(1,(8,32))"), layout_text("(8,4)")
    (((8, (4, 2)), (1, (8, 32))), ((8, 4), None))
    """
    source = Source(text)
    parts = source.split_composition()
    if len(parts) > 1:
        raise source.error(
            "a plain layout is wanted here, without a swizzle",
            (0, len(text)),
            hint="parse_notation reads it with its swizzle; a Tile has the swizzle beside the layout",
        )
    return source.layout_parts(parts[0])


def swizzle_text(text: str) -> tuple[int, int, int]:
    """B, M and S of a swizzle.

    Errors are those of `parse_swizzle`.

    >>> swizzle_text("Sw<3,4,3>"), swizzle_text("Swizzle<2,3>")
    ((3, 4, 3), (2, 3, 2))
    """
    return Source(text).swizzle_numbers((0, len(text)))


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a layout, by whose characters errors give their place."""

    text: str
    constants: Mapping[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
            raise SwzError("SWZ200", f"a layout is written as text, not as {type(self.text).__name__}")
        if len(self.text) > MAX_CHARACTERS:
            raise SwzError("SWZ206", f"the layout has {len(self.text)} characters; {MAX_CHARACTERS} are allowed")

    def error(self, message: str, span: Span, *, code: str = "SWZ200", hint: str = "") -> SwzError:
        """The error at its place; an empty span points at one character."""
        return SwzError(code, message, hint=hint, text=self.text, span=(span[0], max(span[1], span[0] + 1)))

    def slice(self, span: Span) -> str:
        """The characters of a span."""
        return self.text[span[0] : span[1]]

    def strip(self, start: int, end: int) -> Span:
        """The span without white space at either end."""
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return start, end

    def split(self, span: Span, separator: re.Pattern[str]) -> list[Span]:
        """The parts of a span between the separators that are outside every parenthesis.

        Unbalanced parentheses are refused.
        """
        parts: list[Span] = []
        opened: list[int] = []
        start = position = span[0]
        while position < span[1]:
            character = self.text[position]
            found = None if opened else separator.match(self.text, position, span[1])
            if character == "(":
                opened.append(position)
            elif character == ")":
                if not opened:
                    raise self.error("this parenthesis closes nothing", (position, position + 1))
                opened.pop()
            elif found:
                parts.append(self.strip(start, position))
                start = found.end()
            position += 1
        if opened:
            raise self.error("this parenthesis is never closed", (opened[-1], opened[-1] + 1))
        return [*parts, self.strip(start, span[1])]

    def split_composition(self) -> list[Span]:
        """The parts between the ` o `."""
        return self.split((0, len(self.text)), _COMPOSE)

    def swizzle_numbers(self, span: Span) -> tuple[int, int, int]:
        """B, M and S of `Sw<B,M,S>` and its spellings."""
        span = self.strip(*span)
        found = SWIZZLE.fullmatch(self.text, *span)
        hint = "write Swizzle<B,M,S>, for example Swizzle<3,3,3>"
        if re.fullmatch(r"none|\d+B", self.slice(span)):
            hint += "; a mode of TMA stands in the tile's `tma`"
        if not found:
            raise self.error(f"'{self.slice(span)}' is not a swizzle", span, hint=hint)
        parts = self.split(found.span(1), re.compile(","))
        if len(parts) not in (2, 3) or not all(map(self.is_swizzle_number, parts)):
            raise self.error(f"'{found[1]}' is not the three integers of a swizzle", found.span(1), hint=hint)
        first, base, *rest = [self.swizzle_number(part) for part in parts]
        return first, base, rest[0] if rest else first

    def is_swizzle_number(self, span: Span) -> bool:
        """Whether a part of a swizzle is an integer, or reads some name."""
        part = self.slice(span)
        return _BITS.fullmatch(part) is not None or re.search(r"[A-Za-z_]", part) is not None

    def swizzle_number(self, span: Span) -> int:
        """The value of B, M or S."""
        part = self.slice(span)
        plain = _BITS.fullmatch(part)
        return int(plain[1]) if plain else self.value(part, span)

    def layout_parts(self, span: Span) -> tuple[IntTuple, IntTuple | None]:
        """The shape and the stride of `shape:stride`, nested alike; a shape alone has no stride."""
        if SWIZZLE.match(self.slice(span)) or POINTER.match(self.slice(span)):
            raise self.error("a layout must follow, as in 'Swizzle<3,3,3> o (8,64):(64,1)'", span)
        halves = self.split(span, re.compile(":"))
        if len(halves) > 2:
            raise self.error("a layout has one ':', between shape and stride", halves[2], hint="parenthesise a ?:")
        shape = self.tree(halves[0], "shape")
        stride = self.tree(halves[1], "stride") if len(halves) == 2 else None
        if stride is not None and not congruent(shape, stride):
            raise self.error(
                "shape and stride are nested differently",
                span,
                code="SWZ204",
                hint="give every integer of the shape exactly one stride, in the same parentheses",
            )
        return shape, stride

    def tree(self, span: Span, role: Role) -> IntTuple:
        """A nested tuple, within the limits on leaves and depth."""
        commas = self.slice(span).count(",")
        if commas >= MAX_LEAVES:
            raise self.error(f"the {role} has more than {MAX_LEAVES} entries", span, code="SWZ206")
        return self.node(span, role, 0)

    def node(self, span: Span, role: Role, level: int) -> IntTuple:
        """One entry of a tuple: another tuple, or a leaf."""
        if level > MAX_DEPTH:
            raise self.error(f"the {role} is nested more than {MAX_DEPTH} deep", span, code="SWZ206")
        if not self.is_parenthesised(span):
            return self.leaf(span, role)
        entries = self.split((span[0] + 1, span[1] - 1), re.compile(","))
        if len(entries) > 1 and entries[-1][0] == entries[-1][1]:
            entries.pop()  # Python's trailing comma
        elif len(entries) == 1 and self.is_expression(entries[0]):
            return self.leaf(entries[0], role)
        return tuple([self.node(entry, role, level + 1) for entry in entries])

    def is_parenthesised(self, span: Span) -> bool:
        """Whether one pair of parentheses encloses the whole span, as in `(8,64)` but not in `(a)*(b)`."""
        opened = 0
        for position in range(*span):
            opened += {"(": 1, ")": -1}.get(self.text[position], 0)
            if opened == 0:
                return position == span[1] - 1 and position > span[0]
        return False

    def is_expression(self, span: Span) -> bool:
        """Whether the only entry of a parenthesis is more than a number, a name or a tuple."""
        part = self.slice(span)
        is_plain = not part or _INTEGER.fullmatch(part) or _NAME.fullmatch(part)
        return not is_plain and not self.is_parenthesised(span)

    def leaf(self, span: Span, role: Role) -> int:
        """An integer, a name or an expression, checked for what `role` allows."""
        part = self.slice(span)
        static = _INTEGER.fullmatch(part)
        if not part:
            raise self.error(f"a number is missing in the {role}", span)
        value = self.number(static[1], span) if static else self.value(part, span)
        if value < 0:
            raise self.error(f"the {role} {value} is negative; tiles need values >= 0", span, code="SWZ201")
        if value == 0 and role == "shape":
            raise self.error("an extent is 0; every extent is at least 1", span, code="SWZ203")
        if value > MAX_INTEGER:
            raise self.error(f"the {role} {part} is larger than 2^40", span, code="SWZ206")
        return value

    def number(self, digits: str, span: Span) -> int:
        """A decimal integer; a leading zero is refused because C reads it as octal."""
        if len(digits) > 1 and digits[0] == "0":
            raise self.error(f"'{digits}' starts with 0, which C reads as octal", span, hint="leave the zero out")
        if len(digits) > 13:
            raise self.error(f"the number {digits[:13]}... is larger than 2^40", span, code="SWZ206")
        return int(digits)

    def value(self, part: str, span: Span) -> int:
        """The value of a name or an expression."""
        return self.constant(part, span) if _NAME.fullmatch(part) else self.expression(part, span)

    def constant(self, name: str, span: Span) -> int:
        """The value of a name."""
        value = cast("object", self.constants.get(name))
        if value is None:
            known = ", ".join(sorted(self.constants))
            hint = name_hint(name, self.constants) or (f"known names: {known}" if known else "no constants are defined")
            raise self.error(f"unknown name '{name}'", span, code="SWZ301", hint=hint)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"'{name}' is {value!r}, not an int", span, code="SWZ202")
        return value

    def expression(self, part: str, span: Span) -> int:
        """A C integer expression of constants, read and evaluated by the package's own C front end."""
        if "@" in part or part.endswith("?"):
            raise self.error(
                f"'{part}' has no fixed value",
                span,
                hint="CuTe prints '?' for a value known at run time only, '@' for coordinates; write a number instead",
            )
        with self.at(span):
            return evaluate(parse(part), self.constants)

    @contextmanager
    def at(self, span: Span) -> Generator[None]:
        """Errors inside point into this text; their own spans count from the start of `span`."""
        try:
            yield
        except SwzError as error:
            inner = error.span or (0, span[1] - span[0])
            place = (span[0] + inner[0], span[0] + max(inner[1], inner[0] + 1))
            raise SwzError(error.code, error.message, hint=error.hint, text=self.text, span=place) from None

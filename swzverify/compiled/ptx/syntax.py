"""The words of PTX as regular expressions, for statements and operands alike.

All of them take time in proportion to what they match: a quantifier of one character is possessive
wherever two could share a text, and what follows a group differs from the group's begin, so that
trying again fails at once. Groups are repeated only so often, since the matcher keeps about 100
bytes for each time.

Source: PTX ISA, Syntax (Comments, Statements, Identifiers, Constants).
"""

from __future__ import annotations

import re
from typing import Final

BLANKS: Final = " \t\n\r\f\v"
"""What may stand between words, as `\\s` of ASCII patterns has it; `str.strip` alone takes more."""
NAME: Final = r"(?:[A-Za-z][\w$]*+|[%$_][\w$]++)"
"""An identifier; `_` alone is none but a sink."""
SELECTOR: Final = r"\.(?:[xyzwrgba]|[bh][0-3])(?!\w)"
"""A component of a vector, or a byte or half of a word."""
WHOLE: Final = r"(?:0|[1-9]\d{0,17}|0[xX][0-9A-Fa-f]{1,16}|0[0-7]{1,20}|0[bB][01]{1,64})U?(?!\w)"
FLOAT: Final = r"0[fF][0-9A-Fa-f]{8}(?!\w)|0[dD][0-9A-Fa-f]{16}(?!\w)"
_NAMED: Final = rf"(?:{NAME}(?:\|{NAME}|{SELECTOR})?|!{NAME}|_(?:\|{NAME})?)(?![\w.$|])"
ATOM: Final = rf"(?:-?{WHOLE}|{FLOAT}|{_NAMED})"
"""An operand without brackets and blanks, as compilers write it."""
ADDRESS: Final = rf"\[\s*+{NAME}\s*+(?:\+\s*+-?{WHOLE}\s*+)?\]"
ATOMS: Final = rf"\s*+{ATOM}(?:\s*+,\s*+{ATOM}){{0,255}}\s*+"
VECTOR: Final = rf"\{{{ATOMS}\}}"
USUAL: Final = rf"(?:{ATOM}|{ADDRESS}|{VECTOR})"
USUAL_LIST: Final = rf"{USUAL}(?:\s*+,\s*+{USUAL}){{0,63}}"
"""Operands of an instruction in the forms that nearly all have; the operand reader can read all
that this matches.
"""

GUARD: Final = rf"@\s*+(!?+)\s*+({NAME})\s++"
OPCODE: Final = r"[a-z]\w*+(?:\s*+\.\w++|::\w++){0,63}(?![$:]|\s*+\.)"
LINKAGE: Final = r"(?:\.(?:extern|visible|weak|common)\s*+){0,4}"
ATTRIBUTE: Final = r"\s*+\([^()]*+(?:\([^()]*+\)[^()]*+){0,99}\)"
"""What stands behind `.attribute`."""
PRAGMA: Final = r'\.pragma\s*+"[^"\n]*+"\s*+(?:,\s*+"[^"\n]*+"\s*+){0,99};'

COMMENT: Final = re.compile(r'"[^"\n]*+"?+|//[^\n]*+|/\*.*?(?:\*/|\Z)', re.DOTALL)
"""A comment, or a string, in which no comment begins."""

_BRACE_OR_END: Final = re.compile(r"[{};]")


def behind_braces(text: str, start: int, end: int) -> int | None:
    """The position after the `}` that closes the `{` at `start`; None if a `;` or `end` comes first.

    >>> behind_braces("{{1}, {2}}; }", 0, 13), behind_braces("{1; }", 0, 5)
    (10, None)
    """
    depth = 0
    for found in _BRACE_OR_END.finditer(text, start, end):
        if found[0] == ";":
            return None
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return found.end()
    return None


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern for ASCII letters and digits only.

    PTX has no others outside of comments and strings.
    """
    return re.compile(pattern, re.ASCII)

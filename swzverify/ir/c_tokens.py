"""The tokens of C integer expressions: names, literals and operators.

Errors, with the text and the span: SWZ302 for characters that no expression can contain, SWZ303 for
a literal above 2^32 - 1.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple, NoReturn

from swzverify.errors import SwzError
from swzverify.ir.c_ast import VALUE_MAX, Span

_TOKEN: Final = re.compile(
    r"""[ \t\r\n\f\v]*+ (?:
    (?P<number>   \.?[0-9] (?: [eEpP][+-] | [0-9A-Za-z_.'] )* )   # C's pp-number: what C reads as one token
  | (?P<name>     [A-Za-z_][A-Za-z0-9_]* (?: \.[A-Za-z0-9_]* )* )
  | (?P<refused>  // | /\* | === | !== | <<= | >>= | <=> | =[<>] | =(?!=) | [-+*/%&|^]=
                | \+\+ | -- | -> | :: | \*\* )
  | (?P<symbol>   << | >> | <= | >= | == | != | && | \|\| | [-+*/%&|^~!<>?:(),] )
  | (?P<other>    . ) )
    """,
    re.VERBOSE | re.DOTALL,
)
_LITERAL: Final = re.compile(
    r"(?:0[xX](?P<hex>[0-9A-Fa-f]+)|0[bB](?P<binary>[01]+)|(?P<decimal>0|[1-9][0-9]*))"
    r"(?:[uU](?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU]?)?"
)
_BASES: Final = {"hex": 16, "binary": 2, "decimal": 10}

REFUSED: Final[dict[str, tuple[str, str]]] = {
    "//": ("comments are not read", "leave the comment out; division is a single '/'"),
    "/*": ("comments are not read", "leave the comment out"),
    "=": ("'=' assigns, and an expression cannot", "to compare, write =="),
    "===": ("'===' is not an operator of C", "to compare, write =="),
    "!==": ("'!==' is not an operator of C", "to compare, write !="),
    "<=>": ("'<=>' is not an operator of C", "compare with < <= > >= == !="),
    "=<": ("'=<' is not an operator of C", "write <="),
    "=>": ("'=>' is not an operator of C", "write >="),
    "++": ("'++' changes a variable, and an expression cannot", "write x + 1; a plus of a plus is '+ +'"),
    "--": ("'--' changes a variable, and an expression cannot", "write x - 1; a minus of a minus is '- -'"),
    "->": ("'->' reads through a pointer, and there are none", "give the value a name of its own"),
    "::": ("'::' names a namespace, and there are none", "write min(a, b) without std"),
    "**": ("'**' is not an operator of C", "write a product; a power of two is 1 << n"),
    ".": ("'.' reads a member, and only CUDA's built-in variables have any", "write threadIdx.x"),
    "[": (
        "'[' indexes an array, and there are none",
        "write the index expression itself; a loop variable is no stand-in for data, as it is the same in all lanes",
    ),
    "]": ("']' without an array", "group with ( and )"),
    "{": ("'{' opens no expression", "group with ( and )"),
    "}": ("'}' closes no expression", "group with ( and )"),
    ";": ("';' ends a statement, and this is one expression", "leave the ';' out"),
    "'": ("characters are not read", "write the integer"),
    '"': ("strings are not read", "write the integer"),
}
_LOOKALIKES: Final = {"\u00d7": "*", "\u00f7": "/", "\u2212": "-", "\u2264": "<=", "\u2265": ">="}


class Token(NamedTuple):
    """One token, and where it lies in the text."""

    kind: Literal["number", "name", "symbol", "end"]
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """The characters from the first to behind the last."""
        return (self.start, self.end)


def next_token(text: str, position: int) -> Token:
    """The token at or after `position`; SWZ302 where the text has none that an expression can hold."""
    found = _TOKEN.match(text, position)
    if found is None or found.lastgroup is None:
        return Token("end", "", len(text), len(text))
    spelling, span = found.group(found.lastgroup), found.span(found.lastgroup)
    match found.lastgroup:
        case "number" | "name" | "symbol" as kind:
            pass
        case _:
            _refuse_token(text, spelling, span)
    return Token(kind, spelling, *span)


def _refuse_token(text: str, spelling: str, span: Span) -> NoReturn:
    """Raise SWZ302 for characters that no expression has."""
    if spelling in REFUSED:
        message, hint = REFUSED[spelling]
    elif len(spelling) > 1:
        message, hint = f"'{spelling}' assigns, and an expression cannot", "write the value alone"
    elif not spelling.isascii():
        plain = _LOOKALIKES.get(spelling, "it in ASCII")
        message, hint = f"{spelling!a} is not ASCII", f"write {plain}"
    else:
        message, hint = f"{spelling!r} has no meaning in an expression", "leave it out"
    raise SwzError("SWZ302", message, hint=hint, text=text, span=span)


def literal_value(text: str, token: Token) -> int:
    """The value of a literal, 0 .. 2^32 - 1; SWZ303 above, SWZ302 for what is no integer literal."""
    found = _LITERAL.fullmatch(token.text)
    if found is None:
        message, hint = _literal_fault(token.text)
        raise SwzError("SWZ302", message, hint=hint, text=text, span=token.span)
    kind = found.lastgroup or "decimal"
    digits = found.group(kind).lstrip("0")
    # 32 digits hold every value in range, and Python refuses to convert thousands of them.
    if len(digits) > 32 or int(digits or "0", _BASES[kind]) > VALUE_MAX:
        hint = f"literals lie in 0..{VALUE_MAX}"
        raise SwzError("SWZ303", "the literal is out of range", hint=hint, text=text, span=token.span)
    return int(digits or "0", _BASES[kind])


def _literal_fault(literal: str) -> tuple[str, str]:
    """What is wrong with a literal, and what to write instead."""
    plain = literal.replace("'", "").replace("_", "")
    hexadecimal = literal[:2] in ("0x", "0X")
    if "'" in literal or ("_" in literal and _LITERAL.fullmatch(plain)):
        return f'"{literal}" has digit separators', f"write {plain}"
    if hexadecimal and re.search(r"[eE][+-]", literal) and "." not in literal:
        return f"C reads '{literal}' as one literal, and it is none", "put a space before the sign"
    if re.search("[.pP]" if hexadecimal else r"\.|^[0-9]+[eE][+-]?[0-9]", literal):
        return f"'{literal}' is a floating-point literal", "write an integer"
    octal = re.fullmatch(r"0+([0-9]*)[uUlL]*", literal)
    if octal is not None:
        digits = octal.group(1) or "0"
        value = f", or 0x{int(digits, 8):x} for C's value" if re.fullmatch("[0-7]+", digits) else ""
        return f"'{literal}' starts with a zero, which C reads as octal", f"write {digits}{value}"
    hint = "literals are decimal, 0x and hex digits, or 0b and bits; then at most u, l, ul, ll or ull"
    return f"'{literal}' is not an integer literal", hint

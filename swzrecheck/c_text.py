"""A second reader of C integer expressions, from docs/semantics.md, section 1.

It does not use the front end's parser. It refuses text that a reader of C could misunderstand (`--`,
`//`, `010`, an assignment).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_CHARACTERS = 4096
MAX_DEPTH = 120
"""Operators on one path of the tree, and parentheses that are open at one place."""
LITERAL_LIMIT = 1 << 32

_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %")
"""Infix operators from the loosest to the tightest; all associate to the left."""
_LEVEL_OF = {operator: level for level, each in enumerate(_LEVELS) for operator in each.split()}
_PREFIX = frozenset("+-~!")
_TOKEN = re.compile(
    r"""[ \t\r\n\f\v]*+ (?:
    (?P<number>  (?: 0[xX](?P<hex>[0-9A-Fa-f]++) | 0[bB](?P<bits>[01]++) | (?P<decimal>0|[1-9][0-9]*+) )
                 (?: [uU](?:ll|LL|[lL])?+ | (?:ll|LL|[lL])[uU]?+ )?+ (?![0-9A-Za-z_.']) )
  | (?P<name>    [A-Za-z_][A-Za-z0-9_]*+ (?: \.[xyz] )?+ (?![0-9A-Za-z_.]) )
  | (?P<refused> // | /\* | === | !== | <<= | >>= | <=> | =[<>] | =(?!=) | [-+*/%&|^]= | \+\+ | -- | -> | :: | \*\* )
  | (?P<symbol>  << | >> | <= | >= | == | != | && | \|\| | [-+*/%&|^~!<>?:(),] )
  | (?P<end>     \Z ) )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Node:
    """A literal (`number`), a name (`name`), or an operator with its operands.

    Prefix operators are `u-` and the like; the others are C's, `?`, `min` and `max`.
    """

    operator: str
    operands: tuple[Node, ...] = ()
    number: int = 0
    name: str = ""


def names_of(node: Node) -> set[str]:
    """The names that a tree reads."""
    found = {node.name} if node.operator == "name" else set[str]()
    return found.union(*(names_of(operand) for operand in node.operands))


@lru_cache(maxsize=4096)
def read_expression(text: str) -> Node:
    """The tree of a text.

    Raises:
        ValueError: The text is no such expression, or is too long or too deep.

    >>> tree = read_expression("a << 4 + 0x10u")
    >>> tree.operator, tree.operands[0].name, tree.operands[1].operands[1].number
    ('<<', 'a', 16)
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"more than {MAX_CHARACTERS} characters")
    parser = _Parser(text)
    tree, _ = parser.choice(0)
    if parser.kind != "end":
        raise ValueError(f"{parser.spelled!r} cannot follow here")
    return tree


class _Parser:
    """A place in a text, and the token there. Every tree comes with its height."""

    def __init__(self, text: str) -> None:
        self.text, self.end = text, 0
        self.kind, self.spelled, self.number = "end", "", 0
        self.advance()

    def advance(self) -> None:
        """Go to the next token."""
        found = _TOKEN.match(self.text, self.end)
        if found is None or found.lastgroup is None or found["refused"]:
            raise ValueError(f"{self.text[self.end : self.end + 12]!r} cannot be read")
        self.end = found.end()
        self.kind = next(kind for kind in ("number", "name", "symbol", "end") if found[kind] is not None)
        self.spelled = found[self.kind]
        if self.kind == "number":
            base = next(base for base in ("hex", "bits", "decimal") if found[base] is not None)
            self.number = int(found[base], {"hex": 16, "bits": 2, "decimal": 10}[base])

    def expect(self, symbol: str) -> None:
        """Go past a symbol that must stand here."""
        if self.kind != "symbol" or self.spelled != symbol:
            raise ValueError(f"{symbol!r} is missing before {self.spelled!r}")
        self.advance()

    def choice(self, depth: int) -> tuple[Node, int]:
        """`a ? b : c`, which associates to the right, or what binds tighter."""
        first = self.infix(0, depth)
        if self.kind != "symbol" or self.spelled != "?":
            return first
        self.advance()
        then = self.choice(depth + 1)
        self.expect(":")
        return _joined("?", first, then, self.choice(depth + 1))

    def infix(self, least: int, depth: int) -> tuple[Node, int]:
        """Operators of some level and tighter."""
        left = self.prefix(depth)
        while self.kind == "symbol" and _LEVEL_OF.get(self.spelled, -1) >= least:
            operator = self.spelled
            self.advance()
            left = _joined(operator, left, self.infix(_LEVEL_OF[operator] + 1, depth + 1))
        return left

    def prefix(self, depth: int) -> tuple[Node, int]:
        """A literal, a name, a call, a parenthesis, or a prefix operator with its operand."""
        if depth > MAX_DEPTH * 2:
            raise ValueError(f"deeper than {MAX_DEPTH}")
        kind, spelled, number = self.kind, self.spelled, self.number
        self.advance()
        if kind == "number":
            if number >= LITERAL_LIMIT:
                raise ValueError(f"the literal {spelled[:40]} is not below 2^32")
            return Node("number", number=number), 0
        if kind == "name":
            if spelled in ("min", "max"):
                return self.call(spelled, depth)
            return Node("name", name=spelled), 0
        if kind == "symbol" and spelled in _PREFIX:
            return _joined(f"u{spelled}", self.prefix(depth + 1))
        if kind != "symbol" or spelled != "(":
            raise ValueError(f"an operand is missing before {spelled!r}")
        inner = self.choice(depth + 1)
        self.expect(")")
        return inner

    def call(self, function: str, depth: int) -> tuple[Node, int]:
        """`min` or `max` of two or more."""
        self.expect("(")
        arguments = [self.choice(depth + 1)]
        while self.kind == "symbol" and self.spelled == ",":
            self.advance()
            arguments.append(self.choice(depth + 1))
        self.expect(")")
        if len(arguments) < 2:
            raise ValueError(f"{function} takes two or more")
        return _joined(function, *arguments)


def _joined(operator: str, *operands: tuple[Node, int]) -> tuple[Node, int]:
    """An operator over finished trees."""
    height = 1 + max(height for _, height in operands)
    if height > MAX_DEPTH:
        raise ValueError(f"deeper than {MAX_DEPTH}")
    return Node(operator, tuple(node for node, _ in operands)), height

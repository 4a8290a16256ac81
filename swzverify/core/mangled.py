"""Mangled C++ names as trees: names, types, template arguments, lambdas and literals.

Other expressions are not read.

Source: Itanium C++ ABI, 5.1 External Names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

MOST_DEPTH: Final = 200
"""Types in one another, as far as names are read and written."""


class GiveUpError(Exception):
    """The name is not mangled, or has something that is not known here."""


def _table(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(", "))


_BUILTIN: Final = _table(
    "v=void, w=wchar_t, b=bool, c=char, a=signed char, h=unsigned char, s=short, t=unsigned short, i=int, "
    "j=unsigned int, l=long, m=unsigned long, x=long long, y=unsigned long long, n=__int128, o=unsigned __int128, "
    "f=float, d=double, e=long double, g=__float128, z=..., Di=char32_t, Ds=char16_t, Du=char8_t, Dh=half, "
    "DF16_=_Float16, DF16b=std::bfloat16_t, Dn=decltype(nullptr), Da=auto, Dc=decltype(auto)"
)
_OPERATORS: Final = _table(
    "nw= new, na= new[], dl= delete, da= delete[], co=~, ps=+, ng=-, ad=&, de=*, pl=+, mi=-, ml=*, dv=/, rm=%, an=&, "
    "or=|, eo=^, aS==, pL=+=, mI=-=, mL=*=, dV=/=, rM=%=, aN=&=, oR=|=, eO=^=, ls=<<, rs=>>, lS=<<=, rS=>>=, eq===, "
    "ne=!=, lt=<, gt=>, le=<=, ge=>=, nt=!, aa=&&, oo=||, pp=++, mm=--, pm=->*, pt=->, cl=(), ix=[]"
)
_STANDARD: Final = _table("Sa=allocator, Sb=basic_string, Ss=string, Si=istream, So=ostream, Sd=iostream")
_SUFFIXES: Final = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
_QUALIFIERS: Final = {"r": " restrict", "V": " volatile", "K": " const"}
_POINTERS: Final = {"P": "*", "R": "&", "O": "&&"}
_DIGITS: Final = "0123456789"
_PLACES: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A part of a name: what it is, its own text, and its parts in the order in which they are read."""

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = ()


_NOTHING: Final = Node("name")
_STD: Final = Node("name", "std")


def last_of(node: Node) -> Node:
    """The last part of a name, with its template arguments."""
    match node.kind:
        case "scoped":
            return last_of(node.parts[1])
        case "function":
            return last_of(node.parts[0])
        case "template":
            return replace(node, parts=(last_of(node.parts[0]), *node.parts[1:]))
        case _:
            return node


def without_types(node: Node) -> Node:
    """A name without the types of a function's parameters."""
    match node.kind:
        case "function":
            return without_types(node.parts[0])
        case "scoped":
            return replace(node, parts=tuple(map(without_types, node.parts)))
        case "template":
            return replace(node, parts=(without_types(node.parts[0]), *node.parts[1:]))
        case _:
            return node


def parse(name: str) -> Node:
    """A mangled name, which begins with `_Z`, as a tree. A `GiveUpError` for what is not known here.

    >>> parse("_Z3runi").kind
    'function'
    """
    return _Parser(name).read()


class _Parser:
    """Reads a mangled name from left to right."""

    def __init__(self, name: str) -> None:
        self._name, self._at = name, len("_Z")
        self._depth = self._lambdas = 0
        self._known: list[Node] = []
        """What `S_`, `S0_`, ... mean."""
        self._arguments: list[Node] = []
        """What `T_`, `T0_`, ... mean: the template arguments of the innermost encoding."""

    def read(self) -> Node:
        """All of the name."""
        found = self._encoding()
        if self._at != len(self._name):
            raise GiveUpError
        return found

    # ---- letters

    def _peek(self, count: int = 1) -> str:
        return self._name[self._at : self._at + count]

    def _take(self, text: str) -> bool:
        """Whether a text comes next, which is then read."""
        found = self._name.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _need(self, text: str) -> None:
        if not self._take(text):
            raise GiveUpError

    def _run(self, letters: str) -> str:
        begin = self._at
        while self._peek() and self._peek() in letters:
            self._at += 1
        return self._name[begin : self._at]

    def _number(self, digits: str = _DIGITS) -> int:
        """The number of `_`, `0_`, `1_`, ..., counted from 0."""
        found = self._run(digits)
        self._need("_")
        return int(found[:9], len(digits)) + 1 if found else 0

    # ---- names

    def _encoding(self) -> Node:
        """A function with its parameters, or a variable."""
        outer, self._arguments = self._arguments, []
        found = self._full_name(is_encoding=True)
        if self._peek() not in ("", "E"):
            result = self._type() if _has_result(found) else _NOTHING
            qualifiers = "" if found.kind == "name" else found.text
            found = Node("function", qualifiers, (found, result, *self._types()))
        self._arguments = outer
        return found

    def _types(self) -> tuple[Node, ...]:
        """The types of parameters, up to an `E`, which is left, or the end."""
        found: list[Node] = []
        while self._peek() not in ("", "E"):
            found.append(self._type())
        return () if [each.text for each in found] == ["void"] else tuple(found)

    def _full_name(self, *, is_encoding: bool = False) -> Node:
        if self._take("N"):
            return self._nested(is_encoding)
        if self._take("Z"):
            return self._local(is_encoding)
        if self._peek() == "S" and self._peek(2) != "St":
            found = self._substitution()
        else:
            found = Node("scoped", "", (_STD, self._part(None))) if self._take("St") else self._part(None)
            if self._peek() == "I":
                self._known.append(found)
        return self._template(found, is_encoding) if self._peek() == "I" else found

    def _nested(self, is_encoding: bool) -> Node:
        qualifiers = "".join(_QUALIFIERS[each] for each in reversed(self._run("rVK")))
        qualifiers += " &" if self._take("R") else " &&" if self._take("O") else ""
        found: Node | None = None
        while not self._take("E"):
            if self._peek() == "S":
                found = _STD if self._take("St") else self._substitution()
                continue
            if self._peek() == "T":
                found = self._parameter()
            elif self._peek() == "I" and found is not None:
                found = self._template(found, is_encoding)
            else:
                part = self._part(found)
                found = part if found is None else Node("scoped", "", (found, part))
            if self._peek() != "E":
                self._known.append(found)
        if found is None:
            raise GiveUpError
        return replace(found, text=qualifiers) if qualifiers else found

    def _local(self, is_encoding: bool) -> Node:
        scope = self._encoding()
        self._need("E")
        if self._take("d"):
            self._number()
        entity = Node("name", "string literal") if self._take("s") else self._full_name(is_encoding=is_encoding)
        if self._take("__"):
            self._number()
        elif self._take("_"):
            self._at += 1
        if scope.kind == "function":
            scope = replace(scope, parts=(scope.parts[0], _NOTHING, *scope.parts[2:]))
        return Node("scoped", entity.text if entity.kind != "name" else "", (scope, entity))

    def _part(self, outer: Node | None) -> Node:
        """One part of a name: a word, an operator, a constructor, a lambda."""
        self._run("L")
        if self._peek() in _DIGITS:
            found = self._word()
        elif self._peek() in ("C", "D") and outer is not None and self._name[self._at + 1 : self._at + 2].isdigit():
            kind, of = self._peek(), last_of(outer)
            self._at += 2
            found = Node("maker", "~" if kind == "D" else "", (of.parts[0] if of.kind == "template" else of,))
        elif self._take("Ul"):
            self._lambdas += 1
            types = self._types()
            self._lambdas -= 1
            self._need("E")
            found = Node("lambda", f"#{self._number() + 1}", types)
        elif self._take("Ut"):
            found = Node("name", f"{{unnamed type#{self._number() + 1}}}")
        elif (operator := _OPERATORS.get(self._peek(2))) is not None:
            self._at += 2
            found = Node("name", f"operator{operator}")
        else:
            raise GiveUpError
        while self._take("B"):
            found = Node("joined", "", (found, Node("name", f"[abi:{self._word().text}]")))
        return found

    def _word(self) -> Node:
        length = int(self._run(_DIGITS)[:9] or 0)
        text = self._peek(length)
        self._at += length
        if not text or len(text) != length:
            raise GiveUpError
        return Node("name", "(anonymous namespace)" if text.startswith("_GLOBAL__N_") else text)

    def _substitution(self) -> Node:
        standard = _STANDARD.get(self._peek(2))
        if standard is not None:
            self._at += 2
            return Node("scoped", "", (_STD, Node("name", standard)))
        self._need("S")
        return entry(self._known, self._number(_PLACES))

    def _parameter(self) -> Node:
        self._need("T")
        number = self._number()
        if self._lambdas and number >= len(self._arguments):
            return Node("name", "auto")
        return entry(self._arguments, number)

    def _template(self, base: Node, is_encoding: bool) -> Node:
        self._need("I")
        found: list[Node] = []
        if is_encoding:
            self._arguments = found
        while not self._take("E"):
            found.append(self._argument())
        return Node("template", "", (base, *found))

    def _argument(self) -> Node:
        if self._take("J") or self._take("I"):
            pack: list[Node] = []
            while not self._take("E"):
                pack.append(self._argument())
            return Node("pack", "", tuple(pack))
        if self._take("X"):
            found = self._expression()
            self._need("E")
            return found
        return self._literal() if self._take("L") else self._type()

    def _expression(self) -> Node:
        if self._take("sp"):
            return Node("expanded", "", (self._expression(),))
        if self._take("adL"):
            # One function is meant: the types of its parameters say no more.
            return Node("joined", "", (Node("name", "&"), without_types(self._literal())))
        return self._literal() if self._take("L") else self._parameter()

    def _literal(self) -> Node:
        if self._take("_Z"):
            found = self._encoding()
            self._need("E")
            return found
        code, of = self._peek(), self._type()
        text = ("-" if self._take("n") else "") + self._run(_DIGITS + "abcdef")
        self._need("E")
        if code == "b" and text in ("0", "1"):
            return Node("name", "true" if text == "1" else "false")
        if code in _SUFFIXES:
            return Node("name", text + _SUFFIXES[code])
        shown = Node("name", f"[{text}]" if code in "fd" else text)
        return Node("joined", "", (Node("name", "("), of, Node("name", ")"), shown))

    # ---- types

    def _type(self) -> Node:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise GiveUpError
        found, is_new = self._read_type()
        if is_new:
            self._known.append(found)
        self._depth -= 1
        return found

    def _read_type(self) -> tuple[Node, bool]:
        """A type, and whether later ones may refer to it."""
        for length in (5, 2, 1):
            if (words := _BUILTIN.get(code := self._peek(length))) is not None:
                self._at += len(code)
                return Node("name", words), False
        if qualifiers := self._run("rVK"):
            text = "".join(_QUALIFIERS[each] for each in reversed(qualifiers))
            return Node("qualified", text, (self._type(),)), True
        if (text := _POINTERS.get(self._peek())) is not None:
            self._at += 1
            return Node("pointer", text, (self._type(),)), True
        if self._take("F"):
            self._take("Y")
            result = self._type()
            found = Node("signature", "", (result, *self._types()))
            self._need("E")
            return found, True
        if self._take("A"):
            extent = self._run(_DIGITS)
            self._need("_")
            return Node("array", extent, (self._type(),)), True
        if self._take("M"):
            return Node("member", "", (self._type(), self._type())), True
        if self._take("Dp"):
            return Node("expanded", "", (self._type(),)), True
        if self._take("u"):
            return self._word(), True
        if self._peek() == "T":
            found = self._parameter()
            if self._peek() == "I":
                self._known.append(found)
                found = self._template(found, is_encoding=False)
            return found, True
        is_known = self._peek() == "S" and self._peek(2) != "St"
        found = self._full_name()
        return found, not is_known or (found.kind == "template" and self._name[self._at - 1] == "E")


def _has_result(name: Node) -> bool:
    """Whether the type of its result comes first among a function's types."""
    last = last_of(name)
    return last.kind == "template" and last.parts[0].kind != "maker"


def entry(entries: Sequence[Node], number: int) -> Node:
    """One of several parts. A `GiveUpError` if there is none of this number."""
    if number >= len(entries):
        raise GiveUpError
    return entries[number]

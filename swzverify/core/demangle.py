"""C++ names as people write them, from the mangled names that compilers give them.

A file may hold any name. The demanglers of LLVM run out of memory or of stack on some names of a few
hundred letters, and end the process; this one bounds depth and output, and leaves a name that it does
not understand as it is. It spells names as c++filt of GNU binutils, but with `>>` for `> >`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from swzverify.core.mangled import MOST_DEPTH, GiveUpError, Node, entry, last_of, parse

_MOST_LETTERS: Final = 20_000


class Readable(NamedTuple):
    """A name for people.

    `whole` has the types of a function's parameters. `short` is its last part alone, with its template arguments.
    """

    whole: str
    short: str


@lru_cache(maxsize=4096)
def demangled(name: str) -> Readable:
    """A name for people; a name that is not mangled, or that is not understood, stays as it is.

    >>> demangled("_ZN4math4gemmILi32E6__halfEEvPKT0_i").whole
    'void math::gemm<32, __half>(__half const*, int)'
    >>> demangled("_ZN4math4gemmILi32E6__halfEEvPKT0_i").short, demangled("matmul_kernel").short
    ('gemm<32, __half>', 'matmul_kernel')
    """
    if name.startswith("_Z") and len(name) <= _MOST_LETTERS:
        try:
            found = parse(name)
            return Readable(*(_Printer().text(each) for each in (found, last_of(found))))
        except (GiveUpError, RecursionError):
            pass
    return Readable(name, name)


class _Printer:
    """Writes a name; a type has a part to the left of what is declared, and one to the right."""

    def __init__(self) -> None:
        self._letters, self._depth = _MOST_LETTERS, 0
        self._place: int | None = None
        """Which element of packs is written; None outside of an expansion."""

    def text(self, node: Node) -> str:
        """The whole of a node."""
        self._depth += 1
        self._letters -= len(node.text) + 1
        if self._letters < 0 or self._depth > MOST_DEPTH:
            raise GiveUpError
        found = "".join(self._halves(node))
        self._depth -= 1
        return found

    def _list(self, nodes: Iterable[Node]) -> str:
        return ", ".join(text for each in nodes if (text := self.text(each)))

    def _halves(self, node: Node) -> tuple[str, str]:
        parts = node.parts
        match node.kind:
            case "name":
                return node.text, ""
            case "scoped":
                return f"{self.text(parts[0])}::{self.text(parts[1])}", ""
            case "joined":
                return "".join(map(self.text, parts)), ""
            case "maker":
                return node.text + self.text(parts[0]), ""
            case "lambda":
                return f"{{lambda({self._list(parts)}){node.text}}}", ""
            case "template":
                base = self.text(parts[0])
                return f"{base}{' ' if base.endswith('<') else ''}<{self._list(parts[1:])}>", ""
            case "function":
                left, right = self._type(parts[1])
                name = f"{self.text(parts[0])}({self._list(parts[2:])}){node.text}"
                return f"{left}{' ' if left and not left.endswith(' ') else ''}{name}", right
            case "pack":
                return self._list(parts) if self._place is None else self.text(entry(parts, self._place)), ""
            case "expanded":
                return self._expanded(parts[0]), ""
            case _:
                return self._type(node)

    def _type(self, node: Node) -> tuple[str, str]:
        self._letters -= 1
        if self._letters < 0:
            raise GiveUpError
        while node.kind == "pack" and self._place is not None:
            node = entry(node.parts, self._place)
        inner = node.parts[-1] if node.parts else node
        while inner.kind == "pack" and self._place is not None:
            inner = entry(inner.parts, self._place)
        match node.kind:
            case "pointer" if node.text != "*" and inner.kind == "pointer" and inner.text != "*":
                # A reference to a reference is one: an rvalue reference only if both are.
                return self._type(replace(inner, text=min(inner.text, node.text, key=len)))
            case "pointer" | "member":
                text = node.text or f"{self.text(node.parts[0])}::*"
                left, right = self._type(inner)
                if inner.kind in ("signature", "array"):
                    return f"{left}{'' if left.endswith(' ') else ' '}({text}", f"){right}"
                return f"{left}{'' if node.text else ' '}{text}", right
            case "qualified":
                left, right = self._type(inner)
                return left + node.text, right
            case "array":
                left, right = self._type(inner)
                return left, f" [{node.text}]{right.removeprefix(' ')}"
            case "signature":
                left, right = self._type(node.parts[0])
                return f"{left} ", f"({self._list(node.parts[1:])}){right}"
            case _:
                return self.text(node), ""

    def _expanded(self, pattern: Node) -> str:
        """A pattern once for each element of the packs in it."""
        pending, sizes = [pattern], set[int]()
        while pending and self._letters > 0:
            self._letters -= 1
            node = pending.pop()
            if node.kind == "pack":
                sizes.add(len(node.parts))
            elif node.kind != "expanded":
                pending += node.parts
        outer, found = self._place, list[str]()
        for self._place in range(max(sizes, default=0)):
            found.append(self.text(pattern))
        self._place = outer
        return ", ".join(found)

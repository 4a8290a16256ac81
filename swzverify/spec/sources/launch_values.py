"""What the names at a launch in a CUDA source stand for, as far as the text tells it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.launch import block_shape
from swzverify.errors import SwzError
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_parse import parse
from swzverify.spec.sources.launch_sites import LaunchSite
from swzverify.spec.sources.scopes import assigned_before, declaration_at, parts_of, value_of

ConstantOf = Callable[[str], int | None]
"""The value of a constant outside functions, by its name; None for what is none."""

_NAME: Final = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_DIM3: Final = re.compile(r"\s*dim3\s*[({](.*)[)}]\s*", re.ASCII | re.DOTALL)
_NUMBER: Final = re.compile(r"(?:\([^()]*\))?(-?\d+)[uUlL]*\Z", re.ASCII)
_TYPES: Final = frozenset({"float", "double", "int", "unsigned int", "short", "char", "bool", "long", "unsigned long"})
"""Types that have one name."""
_DEEPEST: Final = 8
"""Variables that are defined by one another."""


@dataclass(frozen=True, slots=True)
class LaunchValues:
    """The names that are seen at an offset of a source's code.

    `bound` has the values of template parameters, by where they are declared, or by name where no place is known.
    """

    code: str
    at: int
    constant_of: ConstantOf
    bound: Mapping[int | str, int] = field(default_factory=dict[int | str, int])
    depth: int = 0
    known: dict[tuple[str, int, int], int | None] = field(default_factory=dict[tuple[str, int, int], int | None])
    """The values of names at places that were looked up already."""

    def of_instance(self, site: LaunchSite, arguments: tuple[str, ...]) -> LaunchValues | None:
        """The values in a launch if it is one of a kernel's instance; None if it is surely none.

        A template argument that is a name without a known value is a parameter of the template that launches: it
        has the instance's value.

        >>> from swzverify.spec.sources.launch_sites import launch_sites
        >>> code = "template <int N> void f() { dim3 b(N, 2); k<N><<<1, b>>>(p); }"
        >>> (site,) = launch_sites(code)
        >>> values = LaunchValues(code, site.at, lambda name: None)
        >>> values.of_instance(site, ("64",)).block(site.block), values.block(site.block)
        ((64, 2, 1), None)
        """
        bound = dict(self.bound)
        for written, argument in zip(site.arguments, arguments, strict=False):
            number = _number(argument)
            if number is None:
                if {written, argument} <= _TYPES and written != argument:
                    return None
                continue
            value = _number(written) if _number(written) is not None else self.value(written)
            if value is not None and value != number:
                return None
            if value is None and _NAME.match(written):
                found = declaration_at(self.code, written, self.at)
                bound[written if found is None else found.start] = number
        return replace(self, bound=bound, known={})

    def block(self, text: str) -> BlockShape | None:
        """The three extents of a block; None if they are no numbers or no block."""
        return block_shape(self._extents(text.strip()))

    def _extents(self, text: str) -> tuple[int, ...]:
        if made := _DIM3.fullmatch(text):
            values = [self.value(each) for each in parts_of(made[1])]
            return tuple(each for each in values if each is not None) if None not in values else ()
        if (value := self.value(text)) is not None:
            return (value,)
        declared = self._declared(text) if _NAME.match(text) else None
        return () if declared is None else declared[0]._extents(declared[1])

    def value(self, text: str) -> int | None:
        """The value of an expression; None if it is not known."""
        if not text.strip():
            return None
        try:
            tree = parse(text)
            names = {name: self._named(name) for name in tree.names}
            known = {name: each for name, each in names.items() if each is not None}
            return evaluate(tree, known) if len(known) == len(names) else None
        except SwzError:
            return None

    def _named(self, name: str) -> int | None:
        key = name, self.at, self.depth
        if key not in self.known:
            found = declaration_at(self.code, name, self.at) if self.bound else None
            place = name if found is None else found.start
            declared = None if place in self.bound else self._declared(name)
            self.known[key] = (
                self.bound[place]
                if place in self.bound
                else self.constant_of(name)
                if declared is None
                else declared[0].value(declared[1])
            )
        return self.known[key]

    def _declared(self, name: str) -> tuple[LaunchValues, str] | None:
        """The value that a variable is declared with, and where its names have theirs; None for no variable.

        The value is empty where there is none, or where something may write the variable.
        """
        found = declaration_at(self.code, name, self.at)
        if found is None:
            return None
        inner = replace(self, at=found.start, depth=self.depth + 1)
        if self.depth == _DEEPEST:
            return inner, ""
        if text := value_of(self.code, name, found):
            return inner, text
        text, at = assigned_before(self.code, name, found, self.at) or ("", found.start)
        return replace(inner, at=at), text


def _number(argument: str) -> int | None:
    """The number that a demangled template argument is, also of an enumeration; None for a type.

    >>> _number("(ns::Mode)2"), _number("true"), _number("float")
    (2, 1, None)
    """
    if argument in ("true", "false"):
        return int(argument == "true")
    found = _NUMBER.match(argument)
    return None if found is None else int(found[1])

"""The values of one entry (a tile, an access, ...) in one case of the constants, with places."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from swzverify.errors import SwzError
from swzverify.ir.c_ast import CExpr, Name, children
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_names import name_hint
from swzverify.ir.c_parse import expression
from swzverify.spec.lets import Lets
from swzverify.spec.problems import Noting, Problems
from swzverify.spec.tree import Mapping as MappingNode
from swzverify.spec.tree import Node, Place, Scalar, Sequence, get, key_of


class Broken(Exception):  # noqa: N818  # no error of the user's by itself: the mistake has been noted where it was found
    """The entry cannot be built."""


class Noted(Mapping[str, int]):
    """Constants that remember which of them were asked for."""

    def __init__(self, constants: Mapping[str, int], asked: set[str]) -> None:
        """`asked` takes the names."""
        self._constants = constants
        self._asked = asked

    def __getitem__(self, name: str) -> int:
        value = self._constants[name]
        self._asked.add(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._constants)

    def __len__(self) -> int:
        return len(self._constants)


class Values:
    """Reads an entry's values one by one, notes each mistake, and tells whether all are sound.

    A wrong value gives a harmless one in its place, so that the reading goes on to the next
    mistake. `used` are the constants that the entry's numbers and expressions name, `lets` the
    named expressions that its expressions may use.
    """

    def __init__(self, node: Node, name: Node, constants: Mapping[str, int], problems: Problems) -> None:
        """`node` is the entry and `name` its key."""
        self.node = node
        self.name = name
        self.constants = constants
        self.problems = problems
        self.sound = True
        self.used: set[str] = set()
        self.lets = Lets()
        self._made: dict[str, Node | Place] = {}

    @property
    def noted_constants(self) -> Mapping[str, int]:
        """The constants for a reader of its own, such as that of a layout's notation."""
        return Noted(self.constants, self.used)

    def at(self, *path: str | int) -> Node | Place:
        """Where the value at `path` is: the value, the key of a block, or the entry's name."""
        if not path:
            return self.name
        value = get(self.node, *path)
        if isinstance(value, Scalar) and (value.length or not isinstance(path[-1], str)):
            return value
        last = path[-1]
        if isinstance(last, str):
            holder = get(self.node, *path[:-1]) if len(path) > 1 else self.node
            key = key_of(holder, last)
            if key is None:
                return self.name
            if not isinstance(value, Scalar) and not value.in_flow:
                return key
        return value

    def key(self, *path: str) -> Node | Place:
        """The place of a key of the entry."""
        return key_of(get(self.node, *path[:-1]), path[-1]) or self.name

    def fail(self, code: str, message: str, where: Node | Place, hint: str = "") -> None:
        """Note a mistake of this entry."""
        self.problems.add(code, message, where, hint)
        self.sound = False

    def refuse_taken(
        self, name: str, where: Node | Place, reserved: Collection[str], hint: str, let_hint: str = ""
    ) -> bool:
        """Note a name that means something already; whether it does."""
        if name in self.constants:
            self.fail("SWZ105", f"'{name}' is a constant's name already", where, hint)
        elif name in self.lets:
            let_hint = let_hint or "give one of them another name"
            self.fail("SWZ105", f"'{name}' is the name of a let at the top already", where, let_hint)
        elif name in reserved:
            self.fail("SWZ105", f"'{name}' has a meaning of its own in expressions", where, hint)
        else:
            return False
        return True

    def noted(self, where: Node | Place) -> Noting:
        """Note the `SwzError` of the `with` block, here or at the value with the error's text."""

        def note(error: SwzError) -> None:
            self.sound = False
            in_let = self.lets.placed(error)
            if in_let is not None:
                self.problems.add_error(*in_let)
            else:
                self.problems.add_error(error, self._place_of(error, where))

        return Noting(note)

    def _place_of(self, error: SwzError, where: Node | Place) -> Node | Place:
        if error.text is None or where is not self.name:
            return where
        if error.text in self._made:
            return self._made[error.text]
        return _find_text(self.node, error.text) or where

    def made(self, text: str, where: Node | Place) -> None:
        """Remember the place of an expression that is made of several values."""
        self._made[text] = where

    def require_sound(self) -> None:
        """End the reading of an entry in which something was wrong."""
        if not self.sound:
            raise Broken

    def number(self, value: int | str, *path: str | int, least: int | None = None, most: int | None = None) -> int:
        """The value of an integer or of an expression of constants, within bounds."""
        where = self.at(*path)
        result: int | None = None
        with self.noted(where):
            result = value if isinstance(value, int) else evaluate(expression(value), self.noted_constants)
        if result is None:
            return max(1, least or 1)
        shown = str(result) if isinstance(value, int) else f"'{value}' is {result}, which"
        if least is not None and result < least:
            down = path[-1:] == ("step",) and result < 0
            hint = "a loop that goes down: list its values, `for: {s: [64, 32, 16]}`" if down else ""
            self.fail("SWZ105", f"{shown} is too small: at least {least}", where, hint)
            return least
        if most is not None and result > most:
            self.fail("SWZ105", f"{shown} is too large: at most {most}", where)
            return most
        return result

    def expression(self, value: int | str, known: Collection[str], *path: str | int) -> CFormula:
        """A C expression that reads no other names than constants and the `known` ones."""
        where = self.at(*path)
        with self.noted(where):
            stated = expression(value)
            if self.lets.is_broken(stated):
                self.sound = False
                return stated
            result = self.lets.formula(stated, where, _key_text(path))
            self.used |= result.names & set(self.constants)
            names = {*known, *self.constants}
            for node in _unknown_names(result.root, names):
                near = name_hint(node.name, [*known, *self.constants, *self.lets.names()])
                hint = near or _listed(names, path[0], result.text, node.name)
                if node.name in self.lets:
                    hint = "it is a let of this entry, and a let at the top reads only lets at the top"
                with self.noted(where):
                    raise SwzError("SWZ301", f"unknown name '{node.name}'", hint=hint, text=result.text, span=node.span)
            return result
        return expression(0)

    def power_of_two(self, value: int | str, *path: str | int) -> int:
        """Return a number that is a positive power of two."""
        result = self.number(value, *path, least=1)
        if result & (result - 1):
            near = 1 << (result.bit_length() - 1)
            self.fail("SWZ105", f"{result} is not a power of two", self.at(*path), f"write {near} or {2 * near}")
            return 1
        return result


def _key_text(path: tuple[str | int, ...]) -> str:
    """A value's place in words: `coord[1]`, `walk.step`."""
    return str(path[0]) + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path[1:])


def _listed(known: Collection[str], key: str | int, text: str, name: str) -> str:
    """The hint if no known name is near: the known names, and advice on common mistakes.

    Many users look for the thread in an assumption, or shift by a loop variable to get powers of two.
    """
    listed = f"known names: {', '.join(sorted(known))}" if known else "no name is known here"
    if key == "assume":
        return f"{listed}\n`assume` reads loop variables and constants; threads are left out by `if`"
    if re.search(rf"\b1[uUlL]* *<< *{name}\b", text):
        return (
            f"{listed}\na loop over powers of two needs no shift: `for: {{s: {{start: 1, stop: 32, times: 2}}}}`, "
            "or the values themselves, `for: {s: [1, 2, 4]}`"
        )
    if key in ("value", "offset"):
        return listed
    return f"{listed}\na loop variable is stated in `for`, a number in `constants`, a part of an expression in `let`"


def _unknown_names(node: CExpr, known: Collection[str]) -> Iterator[Name]:
    """The names of a tree that are not known, each where it stands first."""
    seen = set(known)
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, Name) and current.name not in seen:
            seen.add(current.name)
            yield current
        pending.extend(reversed(children(current)))


def _find_text(node: Node, text: str) -> Scalar | None:
    """The first scalar of the tree whose text is `text`."""
    match node:
        case Scalar():
            return node if node.text == text else None
        case Sequence(items=items):
            children: list[Node] = list(items)
        case MappingNode(entries=entries):
            children = [value for _, value in entries]
    return next((found for child in children if (found := _find_text(child, text))), None)

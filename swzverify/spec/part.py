"""What the models of a spec are made of: parts with keys, and what each key takes.

A `Part` is a mapping of the file. Its class says the keys, each with a type: `str`, `int`, a
`Literal`, lists and dictionaries, other parts, `| None`, and `Annotated` with what stands below. The
types become readers at their first use, so that a spec waits only for the models that it uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import field
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from swzverify.core.records import dataclass

Where: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys, places in lists, and the tags of the choices that were taken."""
Reader: TypeAlias = "Callable[[object, Where, list[Fault]], object]"
"""Reads a value at a place; adds what is wrong to the list, and returns anything then."""

_REQUIRED = object()


def kind_of(value: object) -> str:
    """What a value of the file is, in a reader's words.

    >>> kind_of([1]), kind_of(True), kind_of({})
    ('a list', 'true', 'a mapping')
    """
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "nothing"
        case int():
            return f"the integer {value}"
        case float():
            return f"the number {value}"
        case str():
            return f"'{value}'" if len(value) <= 40 else "a text"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return "something else"


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """What is wrong with the value `given`, at `where`.

    `kind` is `missing`, `unknown`, `pattern`, `literal`, `length`, the name of the type that is expected,
    or the code of an error with a message of its own. `context` has what the message needs besides.
    """

    kind: str
    where: Where
    given: object
    message: str = ""
    context: Mapping[str, object] = field(default_factory=dict[str, object])


class WrongValueError(Exception):
    """A check refuses a value, in words of its own."""

    def __init__(self, code: str, message: str, **context: object) -> None:
        super().__init__(message)
        self.code, self.message, self.context = code, message, context


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A function that sees the value first. It raises `WrongValueError` for what is wrong."""

    check: Callable[[object], None]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A text as a whole is so."""

    pattern: str


@dataclass(frozen=True, slots=True, eq=False)
class Length:
    """How many entries a list or a mapping has."""

    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """What editors offer for a text, which `build` checks."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tag:
    """The name of one branch of a choice."""

    tag: str


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A union's branch has the tag that `choose` gives; None: the value is not as `expected`."""

    expected: str
    choose: Callable[[object], str | None]


@dataclass(frozen=True, slots=True, eq=False)
class Deferred:
    """The type is made when it is needed; what stands before it in `Annotated` is for type checkers."""

    make: Callable[[], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """What is said of a key besides its type; `name` is that in the file."""

    name: str
    default: object
    description: str
    examples: list[object]
    length: Length | None

    @property
    def is_required(self) -> bool:
        """Whether a mapping without the key is wrong."""
        return self.default is _REQUIRED

    def make_default(self) -> object:
        """The value where the key is left out; a list or a mapping is a new one."""
        return copy(self.default)


def key(
    default: object = _REQUIRED,
    *,
    description: str = "",
    examples: list[Any] | None = None,
    name: str = "",
    least: int | None = None,
    most: int | None = None,
) -> Any:
    """A key of a part, in its class; `least` and `most` are how many entries its value has."""
    length = None if least is None and most is None else Length(least or 0, most)
    return Key(name, default, description, examples or [], length)


class Part:
    """What every mapping of a spec is: its keys are known, and nothing is converted silently."""

    keys: ClassVar[Mapping[str, Key]] = {}
    """The keys by their attributes, those of the classes above first."""
    given: frozenset[str]
    """The attributes whose keys the file has."""

    def __init_subclass__(cls) -> None:
        """Collect the keys that the class says."""
        own = {attribute: each for attribute, each in vars(cls).items() if isinstance(each, Key)}
        for attribute, each in own.items():
            delattr(cls, attribute)
            own[attribute] = Key(each.name or attribute, each.default, each.description, each.examples, each.length)
        cls.keys = {**cls.keys, **own}

    @classmethod
    def read(cls, value: object, where: Where, faults: list[Fault]) -> Self:
        """The part that a mapping of the file is; where faults are added, it is not whole."""
        made = cls.__new__(cls)
        if not isinstance(value, dict):
            faults.append(Fault("mapping", where, value))
            return made
        data = cast("dict[str, object]", value)
        given: list[str] = []
        found: dict[str, object] = {}
        left = dict(data)
        for attribute, (each, read) in _readers(cls).items():
            if each.name in data:
                found[attribute] = read(left.pop(each.name), (*where, each.name), faults)
                given.append(attribute)
            elif each.is_required:
                faults.append(Fault("missing", (*where, each.name), data))
            else:
                found[attribute] = each.make_default()
        faults.extend(Fault("unknown", (*where, name), other) for name, other in left.items())
        vars(made).update(found, given=frozenset(given))
        return made

    def changed(self, **values: object) -> Self:
        """The same with other values."""
        made = self.__class__.__new__(self.__class__)
        vars(made).update(vars(self) | values)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a part of a spec is not changed: {name}")

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__ and vars(other) == vars(self)

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # it holds lists

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if name != "given")
        return f"{self.__class__.__name__}({shown})"


@cache
def key_types(part: type[Part]) -> Mapping[str, Any]:
    """The type of each key, by its attribute."""
    hints = get_type_hints(part, include_extras=True)
    return {
        attribute: Annotated[hints[attribute], each.length] if each.length else hints[attribute]
        for attribute, each in part.keys.items()
    }


@cache
def _readers(part: type[Part]) -> Mapping[str, tuple[Key, Reader]]:
    return {attribute: (part.keys[attribute], _reader(kind)) for attribute, kind in key_types(part).items()}


@dataclass(frozen=True, slots=True)
class Kind:
    """A type, taken apart: what it is without `Annotated` and `None`, with what was said of it."""

    origin: Any
    arguments: tuple[Any, ...]
    said: tuple[object, ...]
    or_none: bool

    @property
    def part(self) -> type[Part] | None:
        """The model, where it is one."""
        return self.origin if isinstance(self.origin, type) and issubclass(self.origin, Part) else None

    def find(self, what: type[Any]) -> Any:
        """What was said of that sort; None where nothing was."""
        return next((each for each in self.said if isinstance(each, what)), None)


def taken_apart(kind: Any) -> Kind:
    """A type, taken apart.

    >>> taken_apart(Annotated[list[int], Length(1)] | None).or_none
    True
    """
    said: tuple[object, ...] = ()
    or_none = False
    while True:
        if get_origin(kind) is Annotated:
            kind, said = kind.__origin__, (*said, *kind.__metadata__)
            deferred = next((each for each in said if isinstance(each, Deferred)), None)
            if deferred is not None:
                kind, said = deferred.make(), tuple(each for each in said if each is not deferred)
            continue
        arguments = get_args(kind)
        if get_origin(kind) in (Union, UnionType) and NoneType in arguments:
            kind, or_none = Union[tuple(each for each in arguments if each is not NoneType)], True  # noqa: UP007
            continue
        return Kind(get_origin(kind) or kind, arguments, said, or_none)


@cache
def _reader(kind: Any) -> Reader:
    """The reader of a type."""
    parts = taken_apart(kind)
    read = _bare_reader(parts)
    check: Check | None = parts.find(Check)
    if check is not None:
        read = _checked(check.check, read)
    if not parts.or_none:
        return read
    return lambda value, where, faults: None if value is None else read(value, where, faults)


def _bare_reader(kind: Kind) -> Reader:
    if kind.origin is list:
        return _list(_reader(kind.arguments[0]), kind.find(Length))
    if kind.origin is dict:
        return _dict(_reader(kind.arguments[0]), _reader(kind.arguments[1]), kind.find(Length))
    if kind.origin is Literal:
        return _literal(kind.arguments)
    if kind.origin in (Union, UnionType):
        choice: Choice | None = kind.find(Choice)
        return _anything if choice is None else _choice(choice, kind.arguments)
    if kind.origin in (str, int):
        return _plain(kind.origin, kind.find(Pattern))
    return cast("type[Part]", kind.origin).read


def _anything(value: object, where: Where, faults: list[Fault]) -> object:
    """A union without a choice: the check before it has seen to the value."""
    del where, faults
    return value


def _checked(check: Callable[[object], None], read: Reader) -> Reader:
    def checked(value: object, where: Where, faults: list[Fault]) -> object:
        try:
            check(value)
        except WrongValueError as error:
            faults.append(Fault(error.code, where, value, error.message, error.context))
            return value
        return read(value, where, faults)

    return checked


def _plain(kind: type, pattern: Pattern | None) -> Reader:
    """A text or an integer; true and false are no integers."""
    name, regex = {str: "text", int: "integer"}[kind], None if pattern is None else re.compile(pattern.pattern)

    def plain(value: object, where: Where, faults: list[Fault]) -> object:
        if not isinstance(value, kind) or isinstance(value, bool):
            faults.append(Fault(name, where, value))
        elif regex is not None and not regex.fullmatch(str(value)):
            faults.append(Fault("pattern", where, value, context={"pattern": regex.pattern}))
        return value

    return plain


def _literal(words: tuple[object, ...]) -> Reader:
    def literal(value: object, where: Where, faults: list[Fault]) -> object:
        if not any(value.__class__ is each.__class__ and value == each for each in words):
            faults.append(Fault("literal", where, value, context={"words": words}))
        return value

    return literal


def _list(item: Reader, length: Length | None) -> Reader:
    def read(value: object, where: Where, faults: list[Fault]) -> object:
        if not isinstance(value, list):
            faults.append(Fault("list", where, value))
            return value
        items, before = cast("list[object]", value), len(faults)
        if length is not None and length.most is not None and len(items) > length.most:
            items = []  # that it is too long is enough
            _check_length(length, cast("list[object]", value), where, faults)
        found = [item(each, (*where, index), faults) for index, each in enumerate(items)]
        if len(faults) == before:
            _check_length(length, found, where, faults)
        return found

    return read


def _dict(name: Reader, entry: Reader, length: Length | None) -> Reader:
    def read(value: object, where: Where, faults: list[Fault]) -> object:
        if not isinstance(value, dict):
            faults.append(Fault("names", where, value))
            return value
        before = len(faults)
        found: dict[object, object] = {}
        for each, given in cast("dict[str, object]", value).items():
            known = name(each, (*where, each, "[key]"), faults)
            found[known] = entry(given, (*where, each), faults)
        if len(faults) == before:
            _check_length(length, found, where, faults)
        return found

    return read


def _check_length(length: Length | None, found: list[Any] | dict[Any, Any], where: Where, faults: list[Fault]) -> None:
    if length is not None and (len(found) < length.least or len(found) > (length.most or len(found))):
        faults.append(Fault("length", where, found, context={"least": length.least, "most": length.most}))


def _choice(choice: Choice, branches: tuple[Any, ...]) -> Reader:
    tagged = {taken_apart(each).find(Tag).tag: each for each in branches}

    def read(value: object, where: Where, faults: list[Fault]) -> object:
        tag = choice.choose(value)
        if tag is None:
            faults.append(Fault("SWZ105", where, value, f"expected {choice.expected}, not {kind_of(value)}"))
            return value
        return _reader(tagged[tag])(value, (*where, tag), faults)

    return read

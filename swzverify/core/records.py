"""`dataclass` of the standard library, which makes a class in a fraction of the time.

The standard library compiles the source text of six functions for every class. A small `prove` loads
some 170 classes, and waited longer for them than for anything else. Here a class gets closures, and
an `__init__` that was compiled once for all classes of its shape. The result is a dataclass: `fields`,
`replace`, `asdict`, `match`, pickles and type checkers see no difference. What is unusual in a class,
such as an order, keyword-only fields or a mistake, is left to the standard library.
"""

from __future__ import annotations

import abc
import copy
import dataclasses
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from types import CellType, CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

_Field: TypeAlias = Any
"""A field of the standard library's; its kind has a private name."""

_USUAL = {"frozen": False, "slots": False, "weakref_slot": False, "eq": True}
_MARKS = ("ClassVar", "InitVar", "KW_ONLY")


class _Factory:
    """The default in a signature where a function makes the value."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def quick_dataclass(cls: type | None = None, /, **options: bool) -> Any:
    """The decorator: `@dataclass` or `@dataclass(frozen=True, slots=True)`.

    >>> @quick_dataclass(frozen=True, slots=True)
    ... class Point:
    ...     '''A point.'''
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), dataclasses.replace(Point(1), y=2)
    (Point(x=1, y=0), True, Point(x=1, y=2))
    """
    if cls is None:
        return functools.partial(quick_dataclass, **options)
    own = _own_fields(cls)
    is_mistaken = options.get("weakref_slot", False) and not options.get("slots", False)
    if own is not None and options.keys() <= _USUAL.keys() and not is_mistaken:
        listed = _all_fields(cls, own, frozen=options.get("frozen", False))
        if listed is not None:
            return _made(cls, own, listed, **{**_USUAL, **options})
    make: Any = dataclasses.dataclass
    return make(**options)(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - a name of this module
else:
    dataclass = quick_dataclass


def _own_fields(cls: type) -> dict[str, _Field] | None:
    """The fields that a class adds; None where the standard library has to read them."""
    written, body = get_annotations(cls), vars(cls)
    if "self" in written or "__slots__" in body or not cls.__doc__:
        return None
    if any(isinstance(value, dataclasses.Field) and name not in written for name, value in body.items()):
        return None
    ordinary, shared = _kinds()
    found: dict[str, _Field] = {}
    for name, annotation in written.items():
        if not isinstance(annotation, str):
            return None
        is_shared = annotation.startswith("ClassVar[")
        if not is_shared and any(mark in annotation for mark in _MARKS):
            return None
        default: Any = getattr(cls, name, dataclasses.MISSING)
        if isinstance(default, MemberDescriptorType):  # the slot of a base
            default = dataclasses.MISSING
        is_field = isinstance(default, dataclasses.Field)
        field: _Field = default if is_field else dataclasses.field(default=default)
        if field.default.__class__.__hash__ is None:
            return None
        field.name, field.type, field._field_type = name, annotation, shared if is_shared else ordinary
        if field.kw_only is dataclasses.MISSING and not is_shared:
            field.kw_only = False
        found[name] = field
    return found


def _all_fields(cls: type, own: Mapping[str, _Field], *, frozen: bool) -> dict[str, _Field] | None:
    """The fields of a class with those of its bases; None where the standard library has to read them."""
    if frozen and not vars(cls).keys().isdisjoint(("__setattr__", "__delattr__")):
        return None
    listed: dict[str, _Field] = {}
    bases: Sequence[Any] = cls.__mro__[-1:0:-1]
    for base in bases:
        fields = getattr(base, "__dataclass_fields__", None)
        if fields is not None:
            params: Any = getattr(base, "__dataclass_params__")  # noqa: B009 - it has no type
            if params.frozen is not frozen:
                return None
            listed |= fields
    listed |= own
    has_default = False
    for field in listed.values():
        if field._field_type is _kinds()[1]:
            if field.default_factory is not dataclasses.MISSING:
                return None
            continue
        had, has_default = has_default, not (field.default is field.default_factory is dataclasses.MISSING)
        if field._field_type is not _kinds()[0] or not field.init or field.kw_only or field.hash is not None:
            return None
        if had and not has_default:
            return None
    return listed


def _made(
    cls: type,
    own: Mapping[str, _Field],
    listed: Mapping[str, _Field],
    *,
    frozen: bool,
    slots: bool,
    weakref_slot: bool,
    eq: bool,
) -> type:
    """The class with the methods that it does not write itself."""
    pattern: Mapping[str, Any] = vars(cast("type", _pattern(frozen, slots)))
    body = vars(cls)
    fields = [field for field in listed.values() if field._field_type is _kinds()[0]]
    names = tuple(field.name for field in fields)
    compared = _as_tuple([field.name for field in fields if field.compare])
    new: dict[str, Any] = {"__match_args__": names}
    if "__replace__" in pattern:  # since Python 3.13
        new["__replace__"] = pattern["__replace__"]
    new["__repr__"] = _repr([field.name for field in fields if field.repr])
    if eq:
        new["__eq__"] = _eq(compared)
    new = {name: value for name, value in new.items() if name not in body}
    # Python itself writes a None for the hash of a class that has an `__eq__`.
    if eq and ("__hash__" not in body or (body["__hash__"] is None and "__eq__" in body)):
        new["__hash__"] = _hash(compared) if frozen else None
    new["__dataclass_fields__"] = listed
    new["__dataclass_params__"] = _params(frozen, slots, weakref_slot, eq)
    if slots:
        made = _with_slots(cls, new, (*names, "__weakref__") if weakref_slot else names)
    else:
        made = _with_attributes(cls, new, own)
    if frozen:
        made.__setattr__, made.__delattr__ = _refusals(made, frozenset(names))
        if slots:
            for name, method in _state(names).items():
                if name not in body:
                    setattr(made, name, method)
    if "__init__" not in body:
        made.__init__ = _init(made, fields)
    abc.update_abstractmethods(made)
    return made


def _with_attributes(cls: type, new: Mapping[str, Any], own: Mapping[str, _Field]) -> type:
    for name, field in own.items():
        if vars(cls).get(name) is field:
            if field.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, field.default)
    for name, value in new.items():
        setattr(cls, name, value)
    return cls


def _with_slots(cls: type, new: Mapping[str, Any], slots: Sequence[str]) -> type:
    """The class anew: slots cannot be added to one that exists."""
    inherited: set[str] = set()
    for base in cls.__mro__[1:-1]:
        written = vars(base).get("__slots__", ())
        inherited.update((written,) if isinstance(written, str) else written)
    body = {name: value for name, value in vars(cls).items() if name not in (*slots, "__dict__", "__weakref__")}
    body["__slots__"] = tuple(name for name in slots if name not in inherited)
    made = type(cls)(cls.__name__, cls.__bases__, body | dict(new))
    made.__qualname__ = cls.__qualname__
    return made


@functools.cache
def _pattern(frozen: bool, slots: bool) -> Any:
    """A class of the standard library's, for what does not depend on the fields."""

    @dataclasses.dataclass(frozen=frozen, slots=slots, init=False, repr=False, eq=False)
    class Pattern:
        """A text: the standard library writes one otherwise."""

        shared: ClassVar[int]
        ordinary: int

    return Pattern


@functools.cache
def _kinds() -> tuple[object, object]:
    """What the standard library calls an ordinary field, and a class variable."""
    fields = _pattern(frozen=True, slots=True).__dataclass_fields__
    return fields["ordinary"]._field_type, fields["shared"]._field_type


@functools.cache
def _params(frozen: bool, slots: bool, weakref_slot: bool, eq: bool) -> object:
    """The options of a class, as the standard library keeps them."""
    params = copy.copy(_pattern(frozen, slots).__dataclass_params__)
    params.init, params.repr, params.eq = True, True, eq
    if hasattr(params, "weakref_slot"):  # since Python 3.12
        params.weakref_slot = weakref_slot
    return params


def _as_tuple(names: Sequence[str]) -> Callable[[Any], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda each, get=attrgetter(names[0]): (get(each),)) if names else lambda _: ()


def _repr(names: Sequence[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def show(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    return show


def _eq(compared: Callable[[Any], tuple[object, ...]]) -> Callable[[Any, object], bool]:
    def equal(self: Any, other: object) -> bool:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(compared: Callable[[Any], tuple[object, ...]]) -> Callable[[Any], int]:
    return lambda self: hash(compared(self))


def _refusals(cls: type, names: frozenset[str]) -> tuple[Callable[..., None], Callable[..., None]]:
    """The `__setattr__` and the `__delattr__` of a frozen class."""

    def assign(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return assign, delete


def _state(names: Sequence[str]) -> dict[str, Callable[..., object]]:
    """What pickles of a frozen class with slots hold: the values of the fields, in a list."""
    values = _as_tuple(names)

    def put(self: Any, state: Sequence[object]) -> None:
        for name, value in zip(names, state, strict=False):
            object.__setattr__(self, name, value)

    def take(self: Any) -> list[object]:
        return [*values(self)]

    return {"__getstate__": take, "__setstate__": put}


def _init(cls: Any, fields: Sequence[_Field]) -> FunctionType:
    """The `__init__` of a class: the code of its shape, with the fields' names, defaults and slots."""
    members: list[Any] = [getattr(cls, field.name, None) for field in fields]
    by_slot = all(isinstance(member, MemberDescriptorType) for member in members)
    by_factory = tuple(field.default_factory is not dataclasses.MISSING for field in fields)
    code = _init_code(by_factory, by_slot, hasattr(cls, "__post_init__"))
    cells: dict[str, object] = {"factory": _FACTORY}
    defaults: list[object] = []
    for place, (field, member) in enumerate(zip(fields, members, strict=True)):
        cells[f"put{place}"] = member.__set__ if by_slot else field.name
        cells[f"new{place}"] = field.default_factory
        if by_factory[place] or field.default is not dataclasses.MISSING:
            defaults.append(_FACTORY if by_factory[place] else field.default)
    init = FunctionType(
        code.replace(co_varnames=("self", *(field.name for field in fields))),
        vars(sys.modules[cls.__module__]),
        "__init__",
        tuple(defaults),
        tuple(CellType(cells[name]) for name in code.co_freevars),
    )
    init.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


@functools.cache
def _init_code(by_factory: tuple[bool, ...], by_slot: bool, post_init: bool) -> CodeType:
    """The code of an `__init__`, by which fields a function makes, whether all are slots, and whether a
    `__post_init__` follows.
    """
    places = range(len(by_factory))
    cells = ", ".join(["factory", *(f"put{place}, new{place}" for place in places)])
    lines = [f"def make({cells}):", f" def __init__({', '.join(['self', *(f'f{place}' for place in places)])}):"]
    for place in places:
        value = f"new{place}() if f{place} is factory else f{place}" if by_factory[place] else f"f{place}"
        lines.append(f"  put{place}(self, {value})" if by_slot else f"  object.__setattr__(self, put{place}, {value})")
    lines += ["  self.__post_init__()" if post_init else "  pass", " return __init__"]
    space: dict[str, Any] = {}
    exec("\n".join(lines), space)  # noqa: S102 - the text has numbers of ours only
    return next(each for each in space["make"].__code__.co_consts if isinstance(each, CodeType))

"""Options as fields of a dataclass: a field has an option's name, help and default, and nothing repeats them.

A declaration begins with what the help shows on the left, such as `"-j, --jobs N"`. `command` makes
the click command of a dataclass; `asked` lists the values that differ from the defaults.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import EnumType, StrEnum
from typing import Any, ClassVar, TypeAlias, TypeVar, cast, overload

import click

from swzverify.apps.options.values import value_type

Convert: TypeAlias = Callable[[Any], object]
Kind: TypeAlias = "click.ParamType[Any] | Iterable[str] | None"
"""A type of click, or the words to choose from; None for a text."""
_T = TypeVar("_T")
_E = TypeVar("_E", bound=StrEnum)
_O = TypeVar("_O", bound="Options")
POSITIVE = click.IntRange(min=1)


class Options:
    """The arguments and options of a command: each subclass is a dataclass, whose docstring is the help."""

    __slots__ = ()
    without: ClassVar[str] = "no report"
    """What the user does without after Ctrl-C."""


@dataclass(frozen=True, slots=True)
class _Declared:
    """What click needs to know of a field. `writes` marks options that change only what is written."""

    parameter: type[click.Parameter]
    names: tuple[str, ...]
    attributes: Mapping[str, Any]
    writes: bool = False


def argument(metavar: str, kind: Kind = None, *, default: Any = MISSING) -> Any:
    """An argument; where the metavar ends with dots, one or more of them."""
    attributes = {"metavar": metavar, "type": _type((), metavar, kind), "nargs": -1 if metavar.endswith("...") else 1}
    usual = {"required": True} if default is MISSING else {"required": False, "default": default}
    return _field(_Declared(click.Argument, (), attributes | usual), default)


@overload
def option(
    shown: str, help: str = "", kind: Kind = None, *, convert: Convert | None = None, writes: bool = False
) -> None: ...
@overload
def option(
    shown: str, help: str = "", kind: Kind = None, *, default: _T, convert: Convert | None = None, writes: bool = False
) -> _T: ...
def option(
    shown: str,
    help: str = "",
    kind: Kind = None,
    *,
    default: object = None,
    convert: Convert | None = None,
    writes: bool = False,
) -> object:
    """An option with one value; `convert` makes the field's value of click's, where one is given.

    Of an enumeration, its values are the words to choose from, and the field has a member.
    """
    more = {} if default is None else {"default": getattr(default, "value", default), "show_default": True}
    convert = kind if isinstance(kind, EnumType) else convert
    return _option(shown, help, kind, default, convert, writes, more)


@overload
def several(shown: str, help: str, kind: type[_E], *, writes: bool = False) -> tuple[_E, ...]: ...
@overload
def several(shown: str, help: str, kind: Iterable[str] = (), *, writes: bool = False) -> tuple[str, ...]: ...
@overload
def several(shown: str, help: str, kind: click.ParamType[str], *, writes: bool = False) -> tuple[str, ...]: ...
@overload
def several(shown: str, help: str, *, convert: Callable[[tuple[str, ...]], _T], writes: bool = False) -> _T: ...
def several(
    shown: str,
    help: str,
    kind: click.ParamType[str] | Iterable[str] = (),
    *,
    convert: Convert = tuple,
    writes: bool = False,
) -> object:
    """An option that may be given again; its values are a tuple, or what `convert` makes of them."""
    if isinstance(kind, EnumType):
        member = kind
        convert = lambda values: tuple(map(member, values))  # noqa: E731 - it is one of two
    return _option(shown, help, kind or None, convert(()), convert, writes, {"multiple": True})


def flag(shown: str, help: str, *, turns: bool = True, writes: bool = False) -> bool:
    """An option without a value, which turns its field on, or off."""
    more = {"is_flag": True, "flag_value": turns, "default": not turns}
    return cast("bool", _option(shown, help, click.BOOL, not turns, None, writes, more))


def group(options: type[_T]) -> _T:
    """The options of another dataclass, which stand at this place of the help."""
    return dataclasses.field(default_factory=options, metadata={"group": options})


def command(name: str, options: type[_O], work: Callable[[_O], object]) -> click.Command:
    """The command whose arguments and options are the fields of a dataclass, and whose work takes one."""

    def run(**values: object) -> None:
        work(_filled(options, values))

    text = options.__doc__ or ""
    summary = " ".join(text.partition("\n\n")[0].split())  # click would cut it to one line of the list of commands
    return click.Command(name, params=list(_parameters(options)), callback=run, help=text, short_help=summary)


def asked(options: object, *, writing: bool = True) -> dict[str, Any]:
    """The values that differ from the defaults, by the long name of their option, in the order of the help.

    Args:
        options: What was asked for.
        writing: Whether to list the options that change only what is written, too.
    """
    return {name: value for name, value, declared in _asked(options) if writing or not declared.writes}


def _asked(options: object) -> Iterator[tuple[str, Any, _Declared]]:
    """The long name, the value and the declaration of what differs from the defaults."""
    for each in fields(cast("Any", options)):
        value, declared = getattr(options, each.name), each.metadata.get("declared")
        usual = each.default if each.default_factory is MISSING else each.default_factory()
        if "group" in each.metadata:
            yield from _asked(value)
        elif declared and declared.names and value != usual:
            yield next((name for name in declared.names if name.startswith("--")), declared.names[0]), value, declared


def named_files(options: object) -> dict[str, str]:
    """The files that options name, one each, by the long name of their option."""
    found = ((name, value) for name, value, declared in _asked(options) if declared.attributes["metavar"] == "FILE")
    return {name: value for name, value in found if isinstance(value, str)}


def _option(
    shown: str, help: str, kind: Kind, default: object, convert: Convert | None, writes: bool, more: dict[str, Any]
) -> object:
    words = shown.split()
    names = tuple(word.removesuffix(",") for word in words if word.startswith("-"))
    metavar = None if words[-1].startswith("-") else words[-1]
    attributes: dict[str, Any] = {"metavar": metavar, "type": _type(names, metavar, kind), "help": help, **more}
    if convert is not None:
        attributes["callback"] = _callback(convert)
    return _field(_Declared(click.Option, names, attributes, writes), default)


def _callback(convert: Convert) -> Callable[[click.Context, click.Parameter, Any], object]:
    def made(_: click.Context, __: click.Parameter, value: object) -> object:
        return None if value is None else convert(value)

    return made


def _field(declared: _Declared, default: object) -> Any:
    metadata = {"declared": declared}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=dict[str, Any], metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def _type(names: tuple[str, ...], metavar: str | None, kind: Kind) -> click.ParamType[Any] | None:
    if isinstance(kind, click.ParamType):
        return kind
    return value_type(names, metavar) if kind is None else click.Choice([str(word) for word in kind])


def _parameters(options: type) -> Iterator[click.Parameter]:
    for each in fields(options):
        if inner := each.metadata.get("group"):
            yield from _parameters(inner)
        elif declared := each.metadata.get("declared"):
            yield declared.parameter([*declared.names, each.name], **declared.attributes)


def _filled(options: type[_T], values: Mapping[str, object]) -> _T:
    """The dataclass with click's values, those of groups included; a field without an option keeps its default."""
    groups = {each.name: each.metadata.get("group") for each in fields(cast("Any", options)) if each.metadata}
    return options(**{name: _filled(of, values) if of else values[name] for name, of in groups.items()})

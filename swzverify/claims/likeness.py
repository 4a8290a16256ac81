"""Whether two claims state the same: compares what they and their subjects hold.

The cases of a spec's constants build every claim anew. A claim whose subjects do not read a
constant is built the same way for each of its values, and need be judged only once.

Equal keys mean equal claims: every field counts. Of an object's `constants` those count that its
formulas name, as nothing else reads them. What cannot be compared makes a claim unlike any other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from swzverify.claims.claim import Claim
from swzverify.ir.formula import Formula

_CONSTANTS = "constants"
_PLAIN = (type(None), bool, int, str, bytes)


class _NoKeyError(Exception):
    """Something that cannot be compared."""


def likeness(claim: Claim) -> Hashable | None:
    """A key that only claims with the same statement share; None where there is no such key.

    >>> from swzverify.claims import Bijective, Injective
    >>> from swzverify.layout import Layout
    >>> from swzverify.subjects import Tile
    >>> tiles = [Tile("A", 16, Layout((8, columns), (columns, 1))) for columns in (64, 64, 32)]
    >>> one, same, other = [likeness(Bijective(tile)) for tile in tiles]
    >>> one == same, one == other, one == likeness(Injective(tiles[0]))
    (True, False, False)
    """
    try:
        return _key(claim)
    except _NoKeyError:
        return None


def _key(value: object) -> Hashable:
    if isinstance(value, tuple | list):
        return (tuple, *(_key(each) for each in cast("tuple[object, ...]", value)))
    if isinstance(value, _PLAIN) or isinstance(value, Formula):  # noqa: SIM101 - a protocol takes its time
        return (type(value), _hashable(value))
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value), *_fields(value))
    raise _NoKeyError


def _hashable(value: object) -> Hashable:
    try:
        hash(value)
    except TypeError:
        raise _NoKeyError from None
    return value


def _fields(value: Any) -> Iterator[Hashable]:
    """Each field of an object of ours, with the constants that its formulas read."""
    held: dict[str, object] = {each.name: getattr(value, each.name) for each in fields(value)}
    constants = held.pop(_CONSTANTS, None)
    for name, part in held.items():
        yield (name, _key(part))
    if constants is None:
        return
    if not isinstance(constants, Mapping):
        raise _NoKeyError
    read = frozenset[str]().union(*(each.names for each in _formulas(tuple(held.values()))))
    known = cast("Mapping[str, int]", constants)
    yield (_CONSTANTS, tuple((name, known[name]) for name in sorted(read) if name in known))


def _formulas(value: object) -> Iterator[Formula]:
    """The formulas in an object's own fields; objects in it have constants of their own."""
    if isinstance(value, tuple | list):
        for each in cast("tuple[object, ...]", value):
            yield from _formulas(each)
    elif not isinstance(value, _PLAIN) and isinstance(value, Formula):
        yield value

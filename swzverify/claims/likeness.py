"""Whether two claims state the same: compares what they and their subjects hold.

The cases of a spec's constants build every claim anew. A claim whose subjects do not read a
constant is built the same way for each of its values, and need be judged only once.

Equal keys mean equal claims: every field counts. Of an object's `constants` those count that its
formulas name, as nothing else reads them. What cannot be compared makes a claim unlike any other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TypeAlias, cast

from swzverify.claims.claim import Claim
from swzverify.ir.c_formula import CFormula

_CONSTANTS = "constants"
_PLAIN = (type(None), bool, int, str, bytes)


class _NoKeyError(Exception):
    """Something that cannot be compared."""


Seen: TypeAlias = dict[int, tuple[object, Hashable]]
"""The keys of objects by identity. It holds the objects: no others have their identities then."""


def likeness(claim: Claim, seen: Seen | None = None) -> Hashable | None:
    """A key that only claims with the same statement share; None if there is no such key.

    `seen` remembers the parts of claims on the same objects, and holds these objects.

    >>> from swzverify.claims import Bijective, Injective
    >>> from swzverify.layout import Layout
    >>> from swzverify.subjects import Tile
    >>> tiles = [Tile("A", 16, Layout((8, columns), (columns, 1))) for columns in (64, 64, 32)]
    >>> one, same, other = [likeness(Bijective(tile)) for tile in tiles]
    >>> one == same, one == other, one == likeness(Injective(tiles[0]))
    (True, False, False)
    """
    try:
        return _key(claim, {} if seen is None else seen)
    except _NoKeyError:
        return None


def _key(value: object, seen: Seen) -> Hashable:
    if isinstance(value, tuple | list):
        return (tuple, *[_key(each, seen) for each in cast("tuple[object, ...]", value)])
    names = _names_of(value)
    if names is None:
        return (type(value), _hashable(value))
    known = seen.get(id(value))
    if known is None:
        known = seen[id(value)] = (value, (type(value), *_fields(value, names, seen)))
    return known[1]


_KINDS: dict[type, tuple[str, ...] | None] = {}
"""For each type that was met, the names of its fields; None where it is compared as a whole."""


def _names_of(value: object) -> tuple[str, ...] | None:
    kind = type(value)
    if kind not in _KINDS:
        if isinstance(value, (*_PLAIN, CFormula)):
            _KINDS[kind] = None
        elif is_dataclass(value) and not isinstance(value, type):
            _KINDS[kind] = tuple(each.name for each in fields(value))
        else:
            raise _NoKeyError
    return _KINDS[kind]


def _hashable(value: object) -> Hashable:
    try:
        hash(value)
    except TypeError:
        raise _NoKeyError from None
    return value


def _fields(value: object, names: tuple[str, ...], seen: Seen) -> Iterator[Hashable]:
    """Each field of an object of ours, with the constants that its formulas read."""
    held: list[object] = []
    for name in names:
        if name != _CONSTANTS:
            held.append(getattr(value, name))
            yield (name, _key(held[-1], seen))
    constants: object = getattr(value, _CONSTANTS) if _CONSTANTS in names else None
    if constants is None:
        return
    if not isinstance(constants, Mapping):
        raise _NoKeyError
    read = frozenset[str]().union(*(each.names for each in _formulas(held)))
    known = cast("Mapping[str, int]", constants)
    yield (_CONSTANTS, tuple((name, known[name]) for name in sorted(read) if name in known))


def _formulas(value: object) -> Iterator[CFormula]:
    """The formulas in an object's own fields; objects in it have constants of their own."""
    if isinstance(value, tuple | list):
        for each in cast("tuple[object, ...]", value):
            yield from _formulas(each)
    elif isinstance(value, CFormula):
        yield value

"""How claims of a kind are stated: subjects, numbers. Specs, reports and `diff` read this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from swzverify.subjects import Access, IndexMap, Listing, Operand, Phase, Tile

Addressed: TypeAlias = Tile | Access | IndexMap
"""What gives addresses."""
Subject: TypeAlias = Addressed | Listing | Operand | Phase


class Role(StrEnum):
    """What a claim can be about; the value is the key that names one of them in a spec."""

    TILE = "tile"
    ACCESS = "access"
    MAP = "map"
    LISTING = "listing"
    OPERAND = "operand"
    PHASE = "phase"

    @property
    def section(self) -> str:
        """The section of a spec that holds them, which is also the key that names two of them.

        >>> [role.section for role in Role]
        ['tiles', 'accesses', 'maps', 'listings', 'operands', 'phases']
        """
        return "accesses" if self is Role.ACCESS else f"{self.value}s"

    @property
    def noun(self) -> str:
        """One of them, with its article.

        >>> [role.noun for role in Role]
        ['a tile', 'an access', 'a map', 'a listing', 'an operand', 'a phase']
        """
        return f"{'an' if self in (Role.ACCESS, Role.OPERAND) else 'a'} {self.value}"

    @property
    def type(self) -> type[Subject]:
        """The class of the objects."""
        return _TYPES[self]


_TYPES: dict[Role, type[Subject]] = {
    Role.TILE: Tile,
    Role.ACCESS: Access,
    Role.MAP: IndexMap,
    Role.LISTING: Listing,
    Role.OPERAND: Operand,
    Role.PHASE: Phase,
}


def role_of(subject: Subject) -> Role:
    """The role of a subject in the claim, such as `tile`."""
    return next(role for role, kind in _TYPES.items() if isinstance(subject, kind))


class Direction(StrEnum):
    """Whether the newer of two claims says less, more, or neither."""

    WEAKER = "weaker"
    STRONGER = "stronger"
    NEITHER = "neither"


class Count(StrEnum):
    """How many subjects a claim has where it is stated by their names alone."""

    ONE = "one"
    TWO = "two"
    ONE_OR_TWO = "one or two"


@dataclass(frozen=True, slots=True)
class Named:
    """A subject of a claim that is stated key by key; an `optional` one has a default.

    `key` names it where that is not its role. `others` are more roles that it may have. A phase that is left out is
    the one that has the other subjects among its steps.
    """

    role: Role
    says: str
    example: str
    optional: bool = False
    key: str = ""
    others: tuple[Role, ...] = ()

    @property
    def name(self) -> str:
        """The name of its key."""
        return self.key or self.role.value


@dataclass(frozen=True, slots=True)
class Number:
    """An integer that a claim states.

    Attributes:
        name: The name of its key.
        says: What it says, in words.
        examples: Examples of it.
        least: The least value.
        most: The largest value, which may depend on the claim's first subject; None for no limit.
        optional: Whether it may be left out.
        default: The value of a number that is left out.
        when_more: What a newer claim with a larger number says.
        when_less: What a newer claim with a smaller number says.
    """

    name: str
    says: str
    examples: tuple[int, ...]
    least: int = 1
    most: int | Callable[[Subject], int] | None = None
    optional: bool = False
    default: int | None = None
    when_more: Direction = Direction.WEAKER
    when_less: Direction = Direction.WEAKER


@dataclass(frozen=True, slots=True)
class Form:
    """How claims of a kind are stated.

    Attributes:
        title: The claim in one sentence.
        says: The same of "this tile" or "this access".
        roles: What each subject may be.
        examples: Examples of the claim's value in a spec.
        count: How many subjects it has.
        keys: The keys of a claim that needs more than names.
        keys_title: What the keys describe.
        name_alone: Whether its one name may stand for all keys.
    """

    title: str
    says: str
    roles: tuple[Role, ...]
    examples: tuple[object, ...]
    count: Count = Count.ONE
    keys: tuple[Named | Number, ...] = ()
    keys_title: str = ""
    name_alone: bool = False

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The integers that a claim states."""
        return tuple(key for key in self.keys if isinstance(key, Number))


@dataclass(frozen=True, slots=True)
class NumberChange:
    """A number that differs between two claims of one kind, and what the newer claim says for it."""

    name: str
    before: str
    after: str
    direction: Direction
    note: str = ""


OF_A_TILE = ("A", {"tile": "A"})
OF_AN_ACCESS = ("read_A", {"access": "read_A"})
"""Examples of claims that only need a name."""

"""What an engine is asked to decide, and what it may answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import InternalError
from swzverify.hardware import Instruction
from swzverify.ir.domain import Domain
from swzverify.ir.expr import TRUE, Expr, Var

Point: TypeAlias = dict[str, int]
Arrays: TypeAlias = Mapping[str, NDArray[np.int64]]
Truths: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Always:
    """`holds`, a one-bit expression, is 1 at every point of the domain.

    `definition(arrays)` gives from the front end's own formulas, for arrays that broadcast,
    (counts, holds): whether a point is in the domain (its assumption), and whether it keeps the
    claim.
    """

    domain: Domain
    holds: Expr
    definition: Callable[[Arrays], tuple[Truths, Truths]]


@dataclass(frozen=True, slots=True)
class Bijection:
    """A map x -> image after an injective inner map; engines prove it one to one on its width."""

    x: Var
    image: Expr


@dataclass(frozen=True, slots=True)
class Injective:
    """Two points that differ outside `shared` occupy disjoint ranges of `extent` positions.

    The range of a point is position .. position + extent - 1. The position is `inner`, or `outer`'s
    image of it; then extent is 1, and positions must be different.

    Attributes:
        domain: The points.
        shared: The variables that both points share.
        inner: The position, or the value that `outer` maps to it.
        extent: The length of a range.
        outer: A bijection, or None.
        definition: The plain definition, (counts, positions) at given arrays.
        definition_extent: The length of a range in the unit of the plain definition's positions.
    """

    domain: Domain
    shared: tuple[Var, ...]
    inner: Expr
    extent: int
    outer: Bijection | None
    definition: Callable[[Arrays], tuple[Truths, Numbers]]
    definition_extent: int

    @property
    def distinct(self) -> tuple[Var, ...]:
        """The variables that tell points apart."""
        return tuple(node for node in self.domain.variables if node not in self.shared)


@dataclass(frozen=True, slots=True)
class Side:
    """One of two families of ranges: its own variables, its position, the length of a range.

    A point at which `active`, one bit over the side's own variables and the shared ones, is 0 has no range.
    `is_active` is the plain definition of it; None if every point has a range.
    """

    variables: tuple[Var, ...]
    position: Expr
    extent: int
    definition: Callable[[Arrays], Numbers]
    active: Expr = TRUE
    is_active: Callable[[Arrays], Truths] | None = None


@dataclass(frozen=True, slots=True)
class Apart:
    """No range of `first` meets one of `second`, for common values of `shared` and under `condition`.

    `condition` is one bit over the variables of both sides. If there are `tags`, pairs of a variable of
    the first side and one of the second, it says that some pair differs, and nothing else. An engine that
    does not read `condition` may answer if it is true or has tags. An engine that reads neither `condition`
    nor `active` may answer that the obligation holds: without them it says more.
    """

    shared: tuple[Var, ...]
    enough: tuple[tuple[str, int], ...]
    first: Side
    second: Side
    condition: Expr
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """A warp instruction takes at most `at_most` wavefronts at every free point.

    Every active lane's address is a multiple of the width, which is an obligation of its own.

    Attributes:
        domain: The points.
        lane: The variable of the lane.
        address: The byte address of the lane.
        active: One bit: whether the lane is active.
        instruction: The row of the table.
        at_most: The most wavefronts; None for no bank conflict.
        definition: The plain definition, (counts, address, active) at given arrays.
    """

    domain: Domain
    lane: Var
    address: Expr
    active: Expr
    instruction: Instruction
    at_most: int | None
    definition: Callable[[Arrays], tuple[Truths, Numbers, Truths]]

    @property
    def free(self) -> tuple[Var, ...]:
        """Every variable but the lane."""
        return tuple(node for node in self.domain.variables if node is not self.lane)


@dataclass(frozen=True, slots=True)
class GatherCost:
    """The cost `cost` at every choice: each lane has values of its own for the variables `own`.

    `address` and `active` of `cost` read the variables of `own`, which its domain does not have: one
    lane's address is the formula at that lane's values, so two lanes need two copies. `definition`
    takes arrays of them too. A point of a choice has lane l's value of `bin` under the name that
    `of_lane("bin", l)` gives.
    """

    cost: Cost
    own: tuple[Var, ...]


@dataclass(frozen=True, slots=True)
class CopyCost:
    """The cost `cost` of copies whose sources are known.

    Lane `lane` reads 16 bytes from the byte address `source` in global memory, over the variables of
    `cost`. Every active lane's source is a multiple of 16, which is an obligation of its own.
    `definition(arrays)` gives the sources in plain integers.
    """

    cost: Cost
    source: Expr
    definition: Callable[[Arrays], Numbers]


READ_TWICE: Final = "several lanes of a warp instruction read the same 16 bytes: of its cost only bounds are known"
"""The detail of a finding on copies that only bounds are known of."""


def of_lane(name: str, lane: int) -> str:
    """What the point of a choice calls one lane's value; no variable of a spec has such a name.

    >>> of_lane("bin", 5)
    'bin[5]'
    """
    return f"{name}[{lane}]"


@dataclass(frozen=True, slots=True)
class Covers:
    """Exactly `times` active points' ranges meet each element's range, for all shared values.

    Attributes:
        shared: The stage and the base that points and elements share, if the points have no stage of
            their own.
        enough: The numbers of values of variables that stand for all.
        points: The domain of the points.
        address: The start of a point's range.
        active: One bit: whether the point is active.
        reach: The length of a point's range.
        elements: The variables of the elements.
        position: The start of an element's range, in the unit of `address`.
        extent: The length of an element's range.
        times: The number of points.
        points_definition: The plain definition of the points.
        elements_definition: The plain definition of the elements.
        wanted: One bit over the elements' variables and the shared ones: whether an element counts.
        is_wanted: The plain definition of `wanted`; None if every element counts.
    """

    shared: tuple[Var, ...]
    enough: tuple[tuple[str, int], ...]
    points: Domain
    address: Expr
    active: Expr
    reach: int
    elements: tuple[Var, ...]
    position: Expr
    extent: int
    times: int
    points_definition: Callable[[Arrays], tuple[Truths, Numbers]]
    elements_definition: Callable[[Arrays], Numbers]
    wanted: Expr = TRUE
    is_wanted: Callable[[Arrays], Truths] | None = None


AnyCost: TypeAlias = Cost | GatherCost | CopyCost
Obligation: TypeAlias = Always | Injective | Apart | AnyCost | Covers


def formula_of(obligation: Obligation) -> Obligation:
    """The obligation without its plain definition, for engines that read the formula only.

    Each claim makes functions of its own for the definition. Without them, equal questions of different claims are
    equal obligations.
    """
    match obligation:
        case Always() | Injective() | Cost():
            return replace(obligation, definition=_no_definition)
        case Apart():
            return replace(
                obligation, first=_formula_of_side(obligation.first), second=_formula_of_side(obligation.second)
            )
        case GatherCost():
            return replace(obligation, cost=formula_of(obligation.cost))
        case CopyCost():
            return replace(obligation, cost=formula_of(obligation.cost), definition=_no_definition)
        case Covers():
            return replace(
                obligation,
                points_definition=_no_definition,
                elements_definition=_no_definition,
                is_wanted=None if obligation.is_wanted is None else _no_definition,
            )


def _formula_of_side(side: Side) -> Side:
    is_active = None if side.is_active is None else _no_definition
    return replace(side, definition=_no_definition, is_active=is_active)


def _no_definition(_: Arrays) -> NoReturn:
    raise InternalError("an engine that reads formulas read the plain definition")


class Answer(StrEnum):
    """What an engine says of an obligation."""

    HOLDS = "holds"
    FAILS = "fails"
    EMPTY = "empty"
    """No point satisfies the assumption."""
    UNDECIDED = "undecided"
    """The engine could not tell: its budget ran out, or what it rests on does not hold."""
    NOT_APPLICABLE = "not applicable"
    """The engine does not speak about obligations of this form."""


@dataclass(frozen=True, slots=True)
class WarpCost:
    """What one warp instruction takes, at a point of the free variables."""

    wavefronts: int
    minimum: int
    point: Mapping[str, int]

    @property
    def bank_conflicts(self) -> int:
        """Wavefronts beyond one per group."""
        return self.wavefronts - self.minimum


@dataclass(frozen=True, slots=True)
class WorstCost:
    """The two worst cases, each exact over the whole domain.

    They can be two warp instructions: a whole warp can take 4 wavefronts of at least 4, a partial
    one 2 of at least 1.
    """

    most_wavefronts: WarpCost
    most_conflicts: WarpCost

    @staticmethod
    def of_one(cost: WarpCost) -> WorstCost:
        """Where every warp instruction costs the same."""
        return WorstCost(cost, cost)

    def failing(self, at_most: int | None) -> WarpCost | None:
        """The warp instruction that breaks the limit most, or None; no limit: any conflict does."""
        if at_most is None:
            return self.most_conflicts if self.most_conflicts.bank_conflicts > 0 else None
        return self.most_wavefronts if self.most_wavefronts.wavefronts > at_most else None

    def deciding(self, at_most: int | None) -> WarpCost:
        """The worst case that a limit is about."""
        return self.most_conflicts if at_most is None else self.most_wavefronts


BY_CLOCK: Final = "the wall clock, and not the budget, ended a query of Z3 after {} s: run it again on an idle machine"
"""The detail of a finding that is open because of the machine, and not because of the question."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An engine's answer, with the failing point and, for costs, the worst case.

    For obligations about two points the second point's values are those of the names with a
    trailing apostrophe.
    """

    engine: str
    answer: Answer
    point: Mapping[str, int] | None = None
    worst: WorstCost | None = None
    detail: str = ""

    @property
    def is_by_clock(self) -> bool:
        """Whether the wall clock left it open: then it says nothing of the question."""
        return self.detail.startswith(BY_CLOCK.partition("{")[0])


class Engine(Protocol):
    """A procedure that decides obligations."""

    @property
    def name(self) -> str:
        """The name of the engine in reports."""
        ...

    def decide(self, obligation: Obligation) -> Finding:
        """The engine's answer; never an exception for a form that it does not know."""
        ...


def second(name: str) -> str:
    """The name under which a two-point obligation's second point has a variable."""
    return name + "'"

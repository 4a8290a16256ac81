"""What the scan says of a claim on one access, beside its cost: a verdict, a reason, a witness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import ArrayLeaf
from swzverify.ir.expr import Expr

NEVER_MADE: Final = "no lane makes this access"


def size_unknown(arrays: str) -> str:
    """The reason for a claim that needs the size of a dynamic array.

    >>> size_unknown("smem")
    'the size of smem is not known: give the dynamic shared memory by --smem'
    """
    return f"the size of {arrays} is not known: give the dynamic shared memory by --smem"


class ClaimVerdict(StrEnum):
    """What the scan says of a claim.

    - `PROVED`: it holds of every lane, for all parameters, loops and data.
    - `REFUTED`: the witness breaks it, whatever the parameters that let it make the access.
    - `DEPENDS`: the witness breaks it for some values of the parameters.
    - `UNKNOWN`: none of these was shown.
    """

    PROVED = "proved"
    REFUTED = "refuted"
    DEPENDS = "depends"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class WitnessLane:
    """A lane that breaks a claim.

    `at` is the address modulo the width, or the first byte that the lane touches, counted from the
    array's start.
    """

    lane: int
    warp: int
    thread: tuple[int, int, int]
    at: int


@dataclass(frozen=True, slots=True)
class Witness:
    """Lanes of one launch, one of which breaks the claim, with the values of parameters and trips."""

    lanes: tuple[WitnessLane, ...]
    values: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Claim:
    """A verdict on a claim of the scan.

    Attributes:
        verdict: The verdict.
        reason: Why the claim is not decided.
        engines: The engines that decided it.
        witness: The lanes that break the claim.
        parameters: The parameters on which the verdict depends.
        assumptions: What the verdict assumes.
        needs: A number that suffices if PTX does not say enough: the alignment of an array, or the bytes
            of dynamic shared memory.

    >>> Claim(ClaimVerdict.PROVED).is_broken
    False
    """

    verdict: ClaimVerdict
    reason: str = ""
    engines: tuple[str, ...] = ()
    witness: Witness | None = None
    parameters: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    needs: int | None = None

    @property
    def is_broken(self) -> bool:
        """Whether a witness breaks the claim."""
        return self.verdict in (ClaimVerdict.REFUTED, ClaimVerdict.DEPENDS)


def not_known(reason: str, needs: int | None = None) -> Claim:
    """The verdict that claims nothing."""
    return Claim(ClaimVerdict.UNKNOWN, reason, needs=needs)


Values: TypeAlias = Callable[[Expr], NDArray[np.uint64]]
"""Gives the values of an expression for samples by warps by lanes, as unsigned numbers."""


@dataclass(frozen=True, slots=True)
class Property:
    """What a claim forbids, as an expression and in plain numbers.

    Attributes:
        address: The address that is judged.
        bad: The condition under which a lane breaks the claim, for the SMT engine.
        place: The same in plain numbers: for each lane, the number that reports show, and whether it is
            bad.
        bases: The addresses of arrays that `bad` reads.
        most_multiple: The largest alignment that counts.
        words: The words for a lane that breaks the claim.
    """

    address: Expr
    bad: Expr
    place: Callable[[Values], tuple[NDArray[np.uint64], NDArray[np.bool_]]]
    bases: tuple[ArrayLeaf, ...]
    most_multiple: int
    words: Callable[[WitnessLane], str]

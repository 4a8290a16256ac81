"""The kinds of claims that a recheck knows: their subjects, their words, and what decides them.

This is the only place that defines what a claim consists of. The certificate does not say it: the
extents, limits, counts and goals, and whether anything is excluded, follow from the statement that
is printed. Nothing of the front end's own list (`claims/`) is used: a recheck that shared it would
share its mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from swzrecheck import goals_accesses, goals_kernels, goals_listings, goals_maps, goals_operands, goals_tiles
from swzrecheck.claim import Access, Claim, IndexMap, Operand, Tile
from swzrecheck.compiled import KernelAccess, Listing
from swzrecheck.draft import Goals, MeaninglessError

_Subject = TypeVar("_Subject", Tile, Access, IndexMap, Listing, KernelAccess, Operand)


@dataclass(frozen=True, slots=True)
class Kind:
    """The subjects of a kind of claim, each of some roles, and its numbers with their least values.

    `optional` says how many of the last roles may be left out; `perhaps` are numbers that may be left
    out. `words` states the claim with its subjects, `{0}` and `{1}`, and its numbers by name.
    """

    goals: Callable[[Claim], Goals]
    words: str | Callable[[Claim], str]
    roles: tuple[tuple[str, ...], ...]
    numbers: tuple[tuple[str, int], ...] = ()
    optional: int = 0
    perhaps: tuple[tuple[str, int], ...] = ()


def goals_of(claim: Claim) -> Goals:
    """What decides a claim.

    Raises:
        UntrueError: The numbers of the claim refute it.
        MeaninglessError: The claim says nothing.
    """
    try:
        return KINDS[claim.kind].goals(claim)
    except ValueError as error:
        # Wider than any address: check_operation refuses it.
        raise MeaninglessError(f"it reaches further than a certificate can state: {error}") from None


def sentence_of(claim: Claim) -> str:
    """The claim in words, without what its subjects are."""
    words = KINDS[claim.kind].words
    template = words if isinstance(words, str) else words(claim)
    return f"{claim.kind}: {template.format(*(f'{role} {name}' for role, name in claim.of), **claim.numbers)}"


def _about(claim: Claim, what: type[_Subject], index: int = 0) -> _Subject:
    """What a claim is about at a place of `of`; refused where that is something else."""
    found = claim.about(index)
    if not isinstance(found, what):
        raise _meaningless(claim)
    return found


def _meaningless(claim: Claim) -> MeaninglessError:
    return MeaninglessError(f"{claim.kind} says nothing about these")


def _in_bounds(claim: Claim) -> Goals:
    found = claim.about(0)
    if isinstance(found, Tile):
        return goals_tiles.in_bounds(found)
    if isinstance(found, Operand):
        return goals_operands.in_bounds(claim, found)
    return goals_accesses.in_bounds(claim, _about(claim, Access))


def _in_bounds_words(claim: Claim) -> str:
    if claim.of[0][0] == "tile":
        return "every element of {0} lies in its stage's allocation"
    if claim.of[0][0] == "operand":
        return "every start of {0} is a multiple of 16, and what is read lies in its stage's allocation"
    return "every active lane of {0} keeps to the coordinates and bytes that it may touch"


def _aligned(claim: Claim) -> Goals:
    found = claim.about(0)
    if isinstance(found, Operand):
        return goals_operands.aligned(claim, found)
    return goals_accesses.aligned(claim, _about(claim, Access))


def _aligned_words(claim: Claim) -> str:
    if claim.of[0][0] == "operand":
        return "every start address of {0} is a multiple of 16"
    return "every active lane of {0} begins at a multiple of the instruction's width"


def _equivalent(claim: Claim) -> Goals:
    first, other = claim.about(0), claim.about(1)
    if isinstance(first, Access) and isinstance(other, Access):
        return goals_accesses.equal_lanes(claim, first, other)
    if not isinstance(first, Tile | IndexMap) or not isinstance(other, Tile | IndexMap):
        raise _meaningless(claim)
    return goals_maps.equal_places(first, other)


def _coalesced(claim: Claim) -> Goals:
    return goals_accesses.sectors(claim, _about(claim, Access), tuple(claim.numbers.values()))


def _coalesced_words(claim: Claim) -> str:
    most = "{at_most} sectors" if claim.numbers else "as many sectors as the bytes of its active lanes fill"
    return f"every warp instruction of {{0}} is aligned and touches at most {most} of 32 bytes of global memory"


def _disjoint(claim: Claim) -> Goals:
    return goals_tiles.disjoint(_about(claim, Tile), _about(claim, Tile, 1) if len(claim.of) > 1 else None)


def _disjoint_words(claim: Claim) -> str:
    if len(claim.of) == 1:
        return "no element of {0} shares a bit with one of another stage"
    return "no element of {0} shares a bit with one of {1}, in any stages"


_TILE, _ACCESS, _MAP, _ANY = ("tile",), ("access",), ("map",), ("tile", "access", "map")
_LISTING = ("listing",)
KINDS: Mapping[str, Kind] = {
    "injective": Kind(
        lambda claim: goals_tiles.injective(_about(claim, Tile)),
        "no two elements of {0} share a bit, in any stage, at any base",
        (_TILE,),
    ),
    "bijective": Kind(
        lambda claim: goals_tiles.bijective(_about(claim, Tile)),
        "no two elements of {0} share a bit, and they fill its allocation",
        (_TILE,),
    ),
    "contiguous": Kind(
        lambda claim: goals_tiles.contiguous(_about(claim, Tile), claim.numbers["elements"], claim.numbers["mode"]),
        "aligned vectors of {elements} elements along mode {mode} of {0} lie at consecutive, aligned places, in order",
        (_TILE,),
        (("elements", 1), ("mode", 0)),
    ),
    "aligned": Kind(_aligned, _aligned_words, (("access", "operand"),)),
    "in_bounds": Kind(_in_bounds, _in_bounds_words, (("tile", "access", "operand"),)),
    "delivers": Kind(
        lambda claim: goals_operands.delivers(claim, _about(claim, Operand)),
        "every start of {0} is a multiple of 16, and each element is read where the tile has it",
        (("operand",),),
    ),
    "conflict_free": Kind(
        lambda claim: goals_accesses.cost(claim, _about(claim, Access), ()),
        "every warp instruction of {0} is aligned and has no bank conflict",
        (_ACCESS,),
    ),
    "wavefronts": Kind(
        lambda claim: goals_accesses.cost(claim, _about(claim, Access), (claim.numbers["at_most"],)),
        "every warp instruction of {0} is aligned and takes at most {at_most}",
        (_ACCESS,),
        (("at_most", 1),),
    ),
    "coalesced": Kind(_coalesced, _coalesced_words, (_ACCESS,), perhaps=(("at_most", 1),)),
    "covers": Kind(
        lambda claim: goals_accesses.covers(
            claim, _about(claim, Access), _about(claim, Tile, 1), claim.numbers["times"]
        ),
        "{0} touches each element of {1} exactly {times} times in each stage",
        (_ACCESS, _TILE),
        (("times", 0),),
    ),
    "equivalent": Kind(_equivalent, "{0} and {1} are the same everywhere, at every common base", (_ANY, _ANY)),
    "disjoint": Kind(_disjoint, _disjoint_words, (_TILE, _TILE), optional=1),
    "permutation": Kind(
        lambda claim: goals_maps.permutation(_about(claim, IndexMap)),
        "{0} takes its box one to one onto another",
        (_MAP,),
    ),
    "register_conflict_free": Kind(
        lambda claim: goals_listings.conflicts(_about(claim, Listing), 0),
        "no arithmetic instruction of {0} waits for a bank of the register file",
        (_LISTING,),
    ),
    "register_conflicts": Kind(
        lambda claim: goals_listings.conflicts(_about(claim, Listing), claim.numbers["at_most"]),
        "the arithmetic instructions of {0} have at most {at_most} register bank conflicts",
        (_LISTING,),
        (("at_most", 0),),
    ),
    "kernel_conflict_free": Kind(
        lambda claim: goals_kernels.conflict_free(_about(claim, KernelAccess)),
        "no two lanes of {0} have a bank conflict, if all lanes that make it are equally far beyond a multiple of the"
        " width; that the expressions below are what the PTX computes is not rechecked: the reader of PTX is trusted",
        (("kernel",),),
    ),
}
"""The kinds."""

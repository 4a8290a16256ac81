"""Two threads of a block as variables: which two are meant, and what tells them apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, less, mul, shift_left, widened
from swzverify.engines.obligations import second
from swzverify.hardware import LANES
from swzverify.ir.expr import TRUE, Expr, Var, conjunction, const, negation, var

_NUMBER_BITS: Final = 16
_MOST_PIECES: Final = 40
"""Pieces of the numbers of threads that are told apart."""


class Couple(StrEnum):
    """Which two threads of a block are meant.

    - `RANKS`: two threads of distinct blocks of a cluster.
    - `ANY`: two distinct threads of a block.
    - `WARPS`: two threads of distinct warps.
    - `LANES`: two distinct lanes of one warp.
    - `SELF`: one thread, against what it started before.
    """

    RANKS = "ranks"
    ANY = "any"
    WARPS = "warps"
    LANES = "lanes"
    SELF = "self"


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as variables: `own` are not shared with the other thread, `tag` tells the two apart."""

    number: Expr
    own: tuple[Var, ...]
    shared: tuple[Var, ...]
    tag: Var


def threads_of(couple: Couple, block: tuple[int, int, int], ranks: int = 1) -> tuple[Thread, Thread]:
    """The two threads, by their numbers in the block, of 16 bits; in all blocks of a cluster, if there are several.

    >>> threads_of(Couple.LANES, (64, 1, 1))[1].tag.name
    "lane'"
    """
    total = block[0] * block[1] * block[2] // ranks
    warps = -(-total // LANES)

    def one(who: int) -> Thread:
        thread = in_block(who)
        if ranks == 1:
            return thread
        is_apart = couple is Couple.RANKS
        rank = var(second("rank") if who and is_apart else "rank", ranks)
        number = add(mul(widened(rank, _NUMBER_BITS), const(total, _NUMBER_BITS)), thread.number)
        if is_apart:
            return Thread(number, (rank, *thread.own), thread.shared, rank)
        return Thread(number, thread.own, (rank, *thread.shared), thread.tag)

    def in_block(who: int) -> Thread:
        if couple in (Couple.RANKS, Couple.ANY, Couple.SELF):
            is_one = couple is Couple.SELF
            name = second("thread") if who and not is_one else "thread"
            thread = var(name, total)
            number = widened(thread, _NUMBER_BITS)
            return Thread(number, () if is_one else (thread,), (thread,) if is_one else (), thread)
        lane = var(second("lane") if who else "lane", LANES)
        warp = var(second("warp") if who and couple is Couple.WARPS else "warp", warps)
        five = const(LANES.bit_length() - 1, _NUMBER_BITS)
        number = add(shift_left(widened(warp, _NUMBER_BITS), five), widened(lane, _NUMBER_BITS))
        if couple is Couple.WARPS:
            return Thread(number, (warp, lane), (), warp)
        return Thread(number, (lane,), (warp,), lane)

    return one(0), one(1)


def any_of(conditions: Iterable[Expr]) -> Expr:
    """That one of some conditions holds."""
    return negation(conjunction(negation(each) for each in conditions))


def is_among(number: Expr, threads: Sequence[int]) -> Expr:
    """Whether a number of a thread is one of some, which are in order; over-approximated if they are in many pieces."""
    among = set(threads)
    starts = [each for each in threads if each - 1 not in among]
    ends = [each + 1 for each in threads if each + 1 not in among]
    if len(starts) > _MOST_PIECES:
        return TRUE
    return any_of(
        conjunction(
            (
                negation(less(number, const(start, number.width), signed=False)),
                less(number, const(end, number.width), signed=False),
            )
        )
        for start, end in zip(starts, ends, strict=True)
    )

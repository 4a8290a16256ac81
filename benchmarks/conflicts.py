"""Freedom from bank conflicts of whole loops: engines against numpy's enumeration of every thread
and iteration.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.enumeration import swizzled as moved
from benchmarks.measure import Effort, Row, fastest, require, speedup
from benchmarks.native import holds
from swzverify.claims.cost_claim import cost_goal
from swzverify.hardware import cost_many, find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.layout import Layout, Swizzle
from swzverify.subjects import Access, FixedBase, Loop, Tile

INSTRUCTION = find_instruction("ldmatrix.x4")
THREADS = 256
COORDINATE = (parse("i*128 + warp*16 + lane%16"), parse("k + lane/16*8"))
STEPS = 4
TARGET_LOG2, SWIZZLED_TARGET, PADDED_TARGET = 20, 200.0, 50.0


def rows(effort: Effort) -> list[Row]:
    """A swizzled tile, which is linear over bits, and a padded one, which only repeats."""
    iterations = (1 << effort.points_log2) // (THREADS * STEPS)
    table: list[Row] = []
    for name, made, target in (
        ("swizzled", swizzled(iterations), SWIZZLED_TARGET),
        ("padded", padded(iterations), PADDED_TARGET),
    ):
        read = access(made, iterations)
        obligation = cost_goal(read, None)
        theirs = {"numpy for any layout": generic(made, iterations), "numpy by hand": enumeration(made, iterations)}
        require(all(way() for way in theirs.values()) and holds((obligation,)), f"the {name} tile has no conflict")
        goal = target if effort.points_log2 >= TARGET_LOG2 else None
        what = f"conflict-free, {name}, 2^{effort.points_log2} points"
        for way, enumerated in theirs.items():
            table += [
                speedup(f"{what}: engines, {way}", lambda o=obligation: holds((o,)), enumerated, effort.repeats, goal),
                speedup(
                    f"{what}: from the access, {way}",
                    lambda t=made, n=iterations: holds((cost_goal(access(t, n), None),)),
                    enumerated,
                    effort.repeats,
                    goal,
                ),
            ]
    return table


def swizzled(iterations: int) -> Tile:
    """128 rows an iteration of 64 halves under Swizzle<3,3,3>, at address 0."""
    return Tile("A", 16, Layout((128 * iterations, 64), (64, 1)), Swizzle(3, 3, 3), base=FixedBase(0))


def padded(iterations: int) -> Tile:
    """The same rows, unswizzled, 8 halves further apart."""
    return Tile("P", 16, Layout((128 * iterations, 64), (72, 1)), base=FixedBase(0))


def access(made: Tile, iterations: int) -> Access:
    """Every warp reads 16 rows by 16 columns with ldmatrix.x4, in four steps along the row."""
    return Access(
        "read",
        INSTRUCTION,
        find_target("sm_90"),
        (THREADS,),
        (Loop("i", 0, iterations), Loop("k", 0, 64, 16)),
        {},
        made,
        COORDINATE,
    )


def generic(made: Tile, iterations: int) -> Callable[[], bool]:
    """As one writes it for any access: every thread's coordinate, its offset, the hardware's rule
    for every warp.
    """
    leaves, swizzle = made.layout.leaves, made.swizzle

    def decide() -> bool:
        i, k, tid = np.meshgrid(np.arange(iterations), np.arange(0, 64, 16), np.arange(THREADS), indexing="ij")
        lane, warp = tid % 32, tid // 32
        row, column = i * 128 + warp * 16 + lane % 16, k + lane // 16 * 8
        offsets = moved(row * leaves[0][1] + column * leaves[1][1], swizzle)
        addresses = (2 * offsets).reshape(-1, 32)
        return not cost_many(INSTRUCTION, addresses, np.ones(addresses.shape, dtype=np.bool_)).bank_conflicts.any()

    return decide


def enumeration(made: Tile, iterations: int) -> Callable[[], bool]:
    """The fastest way that we know in which numpy decides the same: the whole rule, or eight chunks
    in eight places.
    """
    pitch, swizzle = made.layout.leaves[0][1], made.swizzle is not None

    def addresses(kind: type[np.signedinteger]) -> np.ndarray:
        i = np.arange(iterations, dtype=kind)[:, None, None, None]
        k = np.arange(0, 64, 16, dtype=kind)[:, None, None]
        warp, lane = np.arange(THREADS // 32, dtype=kind)[:, None], np.arange(32, dtype=kind)
        offset = (i * 128 + warp * 16 + lane % 16) * pitch + (k + lane // 16 * 8)
        if swizzle:
            offset ^= (offset & (7 << 6)) >> 3
        return (offset * 2).reshape(-1, 32)

    def whole_rule() -> bool:
        found = addresses(np.int64)
        return not cost_many(INSTRUCTION, found, np.ones(found.shape, dtype=np.bool_)).bank_conflicts.any()

    def eight_places(kind: type[np.signedinteger]) -> bool:
        # Enough where it says yes: eight lanes whose 16-byte chunks lie in eight different places
        # of the 128 bytes.
        place = np.left_shift(np.uint8(1), ((addresses(kind) >> 4) & 7).astype(np.uint8))
        return bool((np.bitwise_or.reduce(place.reshape(-1, 8), axis=1) == 255).all())

    def eight_places_summed(kind: type[np.signedinteger]) -> bool:
        place = np.left_shift(np.uint8(1), ((addresses(kind) >> 4) & 7).astype(np.uint8)).reshape(-1, 8)
        held = place[:, 0].copy()
        for lane in range(1, 8):
            held |= place[:, lane]
        return bool((held == 255).all())

    return fastest(
        [whole_rule, lambda: eight_places(np.int32), lambda: eight_places_summed(np.int32)],
    )

"""Random address patterns that tell rules apart: strides, windows, repeated groups, XOR maps.

Seeded, so that a calibration can be run again. Addresses are multiples of the instruction's width
below 48 KiB.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from swzverify.gpu.costs import Patterns
from swzverify.hardware import LANES, Instruction

WINDOW_BYTES = 48 * 1024
LANE = np.arange(LANES, dtype=np.int64)

Units = NDArray[np.int64]
Family = Callable[[np.random.Generator, int], Units]


def drawn(instruction: Instruction, count: int, seed: int) -> Patterns:
    """Patterns of one instruction, all families in turn; a quarter has lanes off, if allowed."""
    rng = np.random.default_rng([seed, *instruction.name.encode()])
    room = WINDOW_BYTES // instruction.width_bytes
    families = list(FAMILIES.values())
    rows = np.stack([families[i % len(families)](rng, room) % room for i in range(count)])
    active = np.ones((count, LANES), dtype=bool)
    if not instruction.warp_wide:
        for row in np.flatnonzero(rng.random(count) < 0.25):
            active[row] = _some_lanes(rng)
    active[:, instruction.address_lanes :] = False
    return Patterns(instruction, np.where(active, rows * instruction.width_bytes, 0), active)


def _some_lanes(rng: np.random.Generator) -> NDArray[np.bool_]:
    """A mask with at least one lane on: random, a half, every second one, a single lane."""
    kind = int(rng.integers(0, 4))
    if kind == 0:
        on = rng.random(LANES) < rng.random()
    elif kind == 1:
        on = (LANE < 16) ^ bool(rng.integers(0, 2))
    elif kind == 2:
        on = (LANE >> int(rng.integers(0, 5)) & 1).astype(bool)
    else:
        on = np.zeros(LANES, dtype=bool)
    on[int(rng.integers(0, LANES))] = True
    return on


def _strided(rng: np.random.Generator, room: int) -> Units:
    return LANE * int(rng.integers(0, 130)) + int(rng.integers(0, room))


def _scattered(rng: np.random.Generator, room: int) -> Units:
    return rng.integers(0, room, LANES)


def _close(rng: np.random.Generator, _: int) -> Units:
    return rng.integers(0, 1 << int(rng.integers(1, 8)), LANES)


def _shared(rng: np.random.Generator, room: int) -> Units:
    """Lanes that agree in some bits of their number share an address."""
    places = rng.integers(0, room if rng.random() < 0.5 else 64, LANES)
    return places[LANE & int(rng.integers(0, LANES))]


def _repeated(rng: np.random.Generator, room: int) -> Units:
    """Groups of lanes repeat the first one's addresses, some of them in another order."""
    size = 1 << int(rng.integers(1, 5))
    first = rng.integers(0, room if rng.random() < 0.5 else 64, size)
    parts = [rng.permutation(first) if rng.random() < 0.3 else first for _ in range(LANES // size)]
    return np.concatenate(parts)


def _linear(rng: np.random.Generator, room: int) -> Units:
    """XOR-linear in the lane's bits, as swizzles are; from a random place, or from 0."""
    columns = rng.integers(0, 1 << int(rng.integers(3, 12)), 5)
    if rng.random() < 0.4:
        columns[rng.integers(0, 5, int(rng.integers(1, 4)))] = 0
    place = np.zeros(LANES, dtype=np.int64)
    for bit, column in enumerate(columns):
        place ^= np.where(LANE >> bit & 1, int(column), 0)
    return place + (int(rng.integers(0, room)) if rng.random() < 0.3 else 0)


def _rows(rng: np.random.Generator, _: int) -> Units:
    """Rows of eight units, each row XORed with a key, the rows some distance apart."""
    pitch = int(rng.choice([8, 9, 10, 12, 16, 17, 32]))
    keys = rng.integers(0, 8, 4) if rng.random() < 0.5 else np.arange(4)
    return LANE // 8 * pitch + (LANE % 8 ^ keys[LANE // 8])


def _shuffled(rng: np.random.Generator, _: int) -> Units:
    return rng.permutation(LANES * int(rng.choice([1, 2, 4])))[:LANES]


FAMILIES: dict[str, Family] = {
    "strided": _strided,
    "scattered": _scattered,
    "close": _close,
    "shared": _shared,
    "repeated": _repeated,
    "linear": _linear,
    "rows": _rows,
    "shuffled": _shuffled,
}
"""By name, in the order in which they are drawn."""

"""Random destinations of 16-byte copies: repeated addresses, swapped halves, misplaced sectors,
torn pairs.
"""

from __future__ import annotations

import random

from .random_parts import Draft


def copy_address(draft: Draft, x: str) -> str:
    """A byte address, a multiple of 16, of the lane; `x` is `tid` or `lane`."""
    rng = draft.rng
    mask = rng.choice([1, 2, 3, 4, 5, 6, 7])
    pairs = f"{x}/2 & 3"
    chunk = rng.choice(
        [
            _looked_up(rng, "lane"),
            _looked_up(rng, "lane"),
            # Repeats: of neighbours, of octets, of one lane.
            f"{x}/2",
            f"({x} & {rng.choice([23, 27, 29, 30, 15, 7])})",
            f"{x}%{rng.choice([5, 8, 12, 20])}",
            f"max({x}, {rng.choice([3, 9, 17])})",
            f"({x} % 32 == {rng.randrange(32)} ? {rng.randrange(32)} : {x})",
            # Halves swapped: all, some, by another bit.
            f"({x} ^ 1)",
            f"({x} ^ ({x} >> {rng.choice([1, 2, 3, 4])} & 1))",
            f"({x} ^ ({x} >> {rng.choice([1, 2])} & 1)*{rng.choice([1, 3, 5])})",
            f"({x} ^ (lane%8 == {rng.randrange(8)}))",
            # Sectors in other places of the line: turned, flipped, permuted.
            f"({x} ^ {mask})",
            f"({x} ^ ({x} >> {rng.choice([2, 3, 3, 4])} & {mask}))",
            f"({x}/8*8 + ({pairs})*{rng.choice([1, 3])}%4*2 + {x}%2)",
            f"({x}/8*8 + ({x} + {mask})%8)",
            f"({x} ^ (lane/2%4 == {rng.randrange(4)})*{rng.choice([2, 4, 6])})",
            # Pairs torn, and lines in turn.
            f"({x}%2*4 + {x}/2%4 + {x}/8*8)",
            f"({x}*{rng.choice([2, 3, 5, 7, 9])})",
            f"({x} + ({x} >> {rng.choice([0, 1, 2])} & 1)*{rng.choice([8, 16, 12])})",
        ]
    )
    if draft.chance(0.2):
        chunk = f"({chunk} ^ {rng.randrange(8)})"
    if draft.chance(0.15):
        chunk = f"({chunk} + ({x} >> {rng.choice([1, 3])} & 1)*{rng.choice([4, 8, 24])})"
    return f"({chunk})*16"


def partial_octets(draft: Draft) -> str:
    """A predicate that leaves some lanes of an octet out: any lanes of the warp, or the same ones
    of every octet.
    """
    rng = draft.rng
    lanes = rng.getrandbits(31) | (rng.getrandbits(31) if draft.chance(0.5) else 0)
    return rng.choice(
        [
            f"({lanes:#x} >> (lane ^ {rng.randrange(32)})) & 1",
            f"({lanes & 0xFF:#x} >> lane%8) & 1",
            f"lane%8 != {rng.randrange(8)}",
            f"lane%8 < {rng.choice([2, 3, 5, 7])}",
            f"(lane & {rng.choice([1, 2, 3, 5, 6])}) == 0",
        ]
    )


def _looked_up(rng: random.Random, x: str) -> str:
    """Any chunk of a line or two for each lane of an octet, from the hexadecimal digits of a
    number.
    """
    most = rng.choice([8, 8, 16])
    digits = rng.sample(range(most), 8) if rng.random() < 0.6 else [rng.randrange(most) for _ in range(8)]
    packed = sum(digit << 4 * place for place, digit in enumerate(digits))
    return f"(({packed:#x} >> {x}%8*4 & {most - 1}) + {x}/8*{rng.choice([8, 8, 8, 16, 4, 0])})"

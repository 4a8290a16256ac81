"""Random specs with a sweep: tiles with pads, swizzles and stages, accesses that fit and that do
not, axes of every kind.
"""

from __future__ import annotations

from random import Random
from typing import Any

Puzzle = dict[str, Any]
ELEMENTS = {"i8": 1, "f16": 2, "f32": 4, "f64": 8}


def puzzle(seed: int) -> Puzzle:
    """A spec as YAML gives it, with `sweep:`."""
    random = Random(seed)
    sizes = random.sample(list(ELEMENTS), random.randint(1, 3))
    constants: dict[str, int] = {"E": ELEMENTS[sizes[0]], "R": 16, "C": 32, "P": 0, "B": 2, "M": 2, "S": 2}
    over: dict[str, Any] = {"E": {"at": "tiles.A.element", "values": {name: ELEMENTS[name] for name in sizes}}}
    over["R"] = random.choice([[8, 16], [16, 32], [12]])
    over["C"] = random.choice([[16, 32], [32, 48], {"start": 16, "stop": 65, "times": 2}, [64]])
    over["P"] = random.choice([[0, 8], {"start": 0, "stop": 5}, [4], [0]])
    over["B"] = random.choice([[0, 2], [1, 3], [3]])
    over["M"] = random.choice([[0, 3], [2, 3, 4], [1]])
    over["S"] = random.choice([[-3, 3], [3], [2, 3], [4, 2]])
    spec: Puzzle = {"swzverify": 1, "target": "sm_90", "constants": constants}
    spec["tiles"] = {"A": _tile(random, sizes[0])}
    spec["accesses"] = {name: _access(random) for name in ("first", "second")[: random.randint(1, 2)]}
    if random.random() < 0.2:
        spec["accesses"]["plain"] = {
            "instruction": "ld.shared.b32",
            "threads": 32,
            "address": "(lane*C*E) % 1024 / 4 * 4",
        }
    if random.random() < 0.4:
        name = next(iter(spec["accesses"]))
        now = spec["accesses"][name]["instruction"]
        values = [now, *random.sample(["ld.shared.b32", "ldmatrix.x4", "st.shared.v2.b32"], 2)]
        over["I"] = {"at": f"accesses.{name}.instruction", "values": list(dict.fromkeys(values))}
    if random.random() < 0.2:
        over["T"] = {"at": "target", "values": ["sm_80", "sm_90"]}
    chosen = random.sample(list(over), random.randint(2, len(over)))
    kept = {name: over[name] for name in over if name in chosen}
    sweep: Puzzle = {"over": kept}
    if random.random() < 0.4:
        first, second = random.choice([("B", "M"), ("R", "C"), ("E", "P")])
        sweep["where"] = [f"{first} + {second} != {random.randint(2, 6)}"]
    return {**spec, "sweep": sweep}


def _tile(random: Random, element: str) -> Puzzle:
    tile: Puzzle = {"element": element}
    if random.random() < 0.12:
        tile["shape"] = ["R", "C"]
        tile["offset"] = "i*(C + P) + (j ^ (i & 1) << M)"
        return tile
    tile["layout"] = {"shape": ["R", "C"], "order": random.choice(["row", "row", "row", "col"]), "pad": "P"}
    if random.random() < 0.15:
        tile["layout"] = "(R,C):(C+P,1)"
    if random.random() < 0.85:
        tile["swizzle"] = "Swizzle<B,M,S>"
        if random.random() < 0.3:
            tile["swizzle"] = {"bits": "B", "base": "M", "shift": "S", "on": random.choice(["offset", "address"])}
    if random.random() < 0.4:
        tile["base"] = {"align": random.choice([16, 64, 128, 1024])}
    if random.random() < 0.2:
        tile["stages"] = random.choice([2, 2, {"count": 2, "pitch": random.choice([1024, 4096])}])
    if random.random() < 0.1:
        tile["bytes"] = 4096
    return tile


def _access(random: Random) -> Puzzle:
    instruction, lanes = random.choice(
        [
            ("st.shared.v4.b32", 16),
            ("ld.shared.v2.b32", 8),
            ("ld.shared.b32", 4),
            ("ld.shared.b16", 2),
            ("ldmatrix.x4", 16),
            ("ldmatrix.x2", 16),
            ("stmatrix.x4", 16),
            ("cp.async.16", 16),
        ]
    )
    width = f"max(1, {lanes}/E)"
    coord = random.choice(
        [
            [f"tid/max(1, C/{width}) % R", f"tid % max(1, C/{width}) * {width}"],
            ["lane % R", "lane/R % 2 * " + width],
            ["lane % 8", f"lane/8 * {width}"],
            ["warp*8 + lane % 8", f"lane/8 * {width}"],
            ["lane*3 % R", "0"],
            [f"lane/4 + warp*{random.choice([1, 8])}", f"lane%4 * {width}"],
        ]
    )
    found: Puzzle = {
        "tile": "A",
        "instruction": instruction,
        "threads": random.choice([32, 64]),
        "coord": coord,
    }
    if random.random() < 0.3:
        found["for"] = {"k": 2}
        found["coord"] = [coord[0], f"({coord[1]}) + k*{width}"]
    if random.random() < 0.2:
        found["if"] = random.choice(["lane < 24", "tid % 2 == 0", "lane < E*8"])
    if random.random() < 0.2:
        found["weight"] = 3
    return found

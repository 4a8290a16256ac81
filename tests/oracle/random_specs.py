"""Random small specs over the whole format, each cheap to judge by enumeration.

Run as a module, prints for 1,000 specs the share of verdicts for each claim and the time of the
oracle; with `new`, `lanes`, `offsets`, `walks`, `global` or `operands`, of those of the new themes alone, of
those with values of the lanes' own, of those with tiles by expression, of those with pointers that
move, of those that access global memory, or of operands of the tensor core.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable

from . import (
    random_blocks,
    random_boxes,
    random_global,
    random_lanes,
    random_loop_pairs,
    random_names,
    random_offset_tiles,
    random_open_copies,
    random_open_loops,
    random_operands,
    random_pairs,
    random_phases,
    random_sources,
    random_value_loops,
    random_walks,
)
from .brute_force import OracleAmbiguousError, OracleError, judge
from .random_accesses import add_access, add_bare_access
from .random_dressing import dressed
from .random_parts import MATRIX, WIDTH_BYTES, Draft, seeded
from .random_tiles import DrawnTile, matrix_tile, strange_tile, tma_tile
from .yaml_values import Spec, Yaml

Theme = Callable[[Draft], None]
NEW_SHARE = 0.34
"""Of so many random specs the first theme is one of `NEW_THEMES`."""


def random_spec(rng: random.Random) -> Spec:
    """A spec of one or two themes; the same state of `rng` gives the same spec."""
    draft = Draft(rng, slip=0.12 if rng.random() < 0.08 else 0.0)
    if draft.chance(NEW_SHARE):
        rng.choice(NEW_THEMES)(draft)
        if draft.chance(0.35):
            _add_theme(draft, OLD_THEMES)
    else:
        for _ in range(rng.choice([1, 1, 2])):
            _add_theme(draft, OLD_THEMES)
    if not draft.claims:
        random_pairs.permutation(draft)
    if draft.chance(0.04) and draft.target == "sm_90":
        _spoil(draft)
    return dressed(draft)


def new_theme_spec(rng: random.Random) -> Spec:
    """A spec of one or two of the themes that an attack found missing, and of nothing else."""
    draft = Draft(rng)
    for _ in range(rng.choice([1, 1, 2])):
        _add_theme(draft, NEW_THEMES)
    if not draft.claims:
        random_open_loops.open_loops(draft)
    return dressed(draft, lets=0.5)


def lane_spec(rng: random.Random) -> Spec:
    """A spec of accesses whose lanes have values of their own, and of nothing else."""
    draft = Draft(rng)
    for _ in range(rng.choice([1, 1, 2])):
        rng.choice(LANE_THEMES)(draft)
    return dressed(draft)


def offset_spec(rng: random.Random) -> Spec:
    """A spec of tiles by expression, and of nothing else."""
    draft = Draft(rng)
    for _ in range(rng.choice([1, 1, 2])):
        rng.choice(OFFSET_THEMES)(draft)
    return dressed(draft)


def walk_spec(rng: random.Random) -> Spec:
    """A spec of pointers that move, and of nothing else."""
    draft = Draft(rng)
    for _ in range(rng.choice([1, 1, 2])):
        rng.choice(WALK_THEMES)(draft)
    return dressed(draft, lets=0.3)


def global_spec(rng: random.Random) -> Spec:
    """A spec of accesses to global memory, and of nothing else."""
    draft = Draft(rng)
    for _ in range(rng.choice([1, 1, 2])):
        rng.choice(GLOBAL_THEMES)(draft)
    return dressed(draft)


def source_spec(rng: random.Random) -> Spec:
    """A spec of copies that say where they read, and of nothing else."""
    draft = Draft(rng)
    for _ in range(rng.choice([1, 1, 2])):
        rng.choice(COPY_THEMES)(draft)
    return dressed(draft)


def operand_spec(rng: random.Random) -> Spec:
    """A spec of an operand of the tensor core, and of nothing else."""
    draft = Draft(rng)
    random_operands.operands(draft)
    return dressed(draft, lets=0)


def _add_theme(draft: Draft, themes: list[Theme]) -> None:
    """One more theme, unless the target is another one, which has other limits."""
    if draft.target == "sm_90":
        draft.rng.choice(themes)(draft)


def _spoil(draft: Draft) -> None:
    """Adds a subject that the page calls an error, and a claim on it."""
    rng = draft.rng
    name = draft.fresh("bad")
    kind = rng.choice(["expression", "expression", "coordinate", "swizzle", "box", "base", "bytes", "wide"])
    if kind == "expression":
        address = rng.choice(
            [
                "tid*4 >> tid",
                "tid*4 << (lane - 1)",
                "tid*4 / (tid%5)",
                "lane < 0 ? tid / (lane & 3) : tid*4",
                "tid*4 % (lane/8 - 1)",
                "(tid + 1) << 31",
                "tid * 100000000 * 4",
                "tid < 0 && (tid + 1) * 65536 * 65536",
                "1 ? tid*4 : (0 - tid - 1) << 31",
                "tid*4 + no_such_name",
                "1 || tid % lane",
                "tid*4 + (1 << (tid - 4))",
                "(tid << 26) / 4 << 2",
                "~tid << 27",
                "tid * tid * tid * tid * tid",
                "tid*4 + (-2147483647 - tid)*(lane < 0)",
            ]
        )
        draft.accesses[name] = {"instruction": "ld.shared.b32", "threads": 64, "address": "tid*4"}
        access = draft.accesses[name]
        if isinstance(access, dict):
            access[rng.choice(["address", "if", "if"])] = address
        draft.claim("conflict_free", name)
        return
    tile = draft.fresh("bad_tile")
    shape: Spec = {"element": "f16", "layout": "(16,16):(16,1)"}
    if kind in ("coordinate", "wide"):
        column = "lane%16 - 1" if kind == "coordinate" else "0"
        shape["layout"] = "(16,16):(16,1)" if kind == "coordinate" else "(16,16):(33,2)"
        draft.accesses[name] = {
            "tile": tile,
            "instruction": "ld.shared.b32" if kind == "wide" else "ld.shared.b16",
            "threads": 32,
            "coord": ["lane/2", column],
        }
    elif kind == "swizzle":
        shape["swizzle"] = rng.choice(["Swizzle<3,3,2>", "Swizzle<1,3,0>", "Swizzle<2,0,-1>"])
    elif kind == "bytes":
        shape["element"] = "f4"
        shape["swizzle"] = {"bits": 1, "base": 4, "shift": 3, "on": "address"}
    else:
        box: list[Yaml] = [8, rng.choice([4, 12, 128])] if kind == "box" else [8, 64]
        shape = {"element": "f16", "tma": {"swizzle": "128B", "box": box}}
        if kind == "base":
            shape["base"] = rng.choice([64, {"align": 64}])
    draft.tiles[tile] = shape
    draft.claim("injective", tile)


def _any_tile(draft: Draft) -> DrawnTile:
    return draft.rng.choice([matrix_tile, matrix_tile, matrix_tile, strange_tile, tma_tile])(draft)


def _tile_theme(draft: Draft) -> None:
    tile = _any_tile(draft)
    for kind in draft.rng.sample(["injective", "bijective", "in_bounds", "contiguous"], 3):
        if kind == "contiguous":
            _claim_contiguous(draft, tile)
        else:
            draft.claim(kind, tile.name)
    if tile.stages > 1:
        draft.claim("disjoint", tile.name)


def _claim_contiguous(draft: Draft, tile: DrawnTile) -> None:
    rng = draft.rng
    elements = rng.choice([2, 2, 4, 8, max(1, 128 // tile.bits), 3, 16])
    if draft.chance(0.05):
        elements = 4096
    if draft.chance(0.6):
        draft.claim("contiguous", {"tile": tile.name, "elements": elements})
    else:
        mode = rng.randrange(len(tile.extents))
        draft.claim("contiguous", {"tile": tile.name, "elements": elements, "mode": mode})


def _access_theme(draft: Draft) -> None:
    tile = _any_tile(draft)
    access = add_access(draft, tile)
    if access is None:
        draft.claim("injective", tile.name)
        return
    for kind in draft.rng.sample(["aligned", "in_bounds", "conflict_free", "wavefronts", "wavefronts", "covers"], 3):
        if kind == "wavefronts":
            _claim_wavefronts(draft, access)
        elif kind == "covers":
            if draft.chance(0.3):
                draft.claim("covers", {"access": access, "tile": tile.name, "times": draft.rng.choice([1, 2])})
        else:
            draft.claim(kind, access)


def _claim_wavefronts(draft: Draft, access: str) -> None:
    drawn = draft.accesses[access]
    name = str(drawn["instruction"]) if isinstance(drawn, dict) else ""
    width = 16 if name in MATRIX else WIDTH_BYTES[name]
    groups = max(1, width // 4)
    limits = [groups * factor for factor in (1, 1, 2, 2, 4, 8)]
    if name == "cp.async.16":
        # Its costs are any number up to 32, not multiples of the octets.
        limits = [4, 4, 5, 7, 8, 12, 16]
    draft.claim("wavefronts", {"access": access, "at_most": draft.rng.choice(limits)})


def _bare_theme(draft: Draft) -> None:
    access = add_bare_access(draft)
    drawn = draft.accesses[access]
    draft.claim(draft.rng.choice(["aligned", "conflict_free"]), access)
    if draft.chance(0.5):
        _claim_wavefronts(draft, access)
    if isinstance(drawn, dict) and "bytes" in drawn:
        draft.claim("in_bounds", access)


def _copy_theme(draft: Draft) -> None:
    access = add_bare_access(draft, "cp.async.16")
    draft.claim("conflict_free", access)
    _claim_wavefronts(draft, access)


def _pair_theme(draft: Draft) -> None:
    themes = [
        random_pairs.equivalent_tiles,
        random_pairs.equivalent_tiles,
        random_pairs.equivalent_tile_and_map,
        random_pairs.equivalent_accesses,
        random_pairs.equivalent_accesses,
        random_pairs.equivalent_inside_bytes,
        random_pairs.equivalent_maps,
        random_pairs.equivalent_maps,
        random_pairs.disjoint,
        random_pairs.disjoint,
        random_pairs.permutation,
        random_pairs.permutation,
        random_pairs.covers,
        random_pairs.covers,
        random_pairs.covers,
        random_pairs.bare_cover,
    ]
    for theme in draft.rng.sample(themes, 2):
        theme(draft)


def _standard_theme(draft: Draft) -> None:
    tile = _any_tile(draft)
    add_access(draft, tile)
    if draft.chance(0.3):
        add_bare_access(draft)
    if "standard" not in draft.claims:
        draft.claims.append("standard")


OLD_THEMES: list[Theme] = [
    _tile_theme,
    _tile_theme,
    _access_theme,
    _access_theme,
    _access_theme,
    _bare_theme,
    _copy_theme,
    _pair_theme,
    _pair_theme,
    _standard_theme,
    random_pairs.any_equivalent_maps,
]
NEW_THEMES: list[Theme] = [
    random_open_loops.open_loops,
    random_open_loops.open_loops,
    random_open_loops.open_loops,
    random_open_loops.ended_in_time,
    random_open_copies.open_fragments,
    random_open_copies.open_cover,
    random_loop_pairs.open_pair,
    random_loop_pairs.open_pair,
    random_loop_pairs.loop_orders,
    random_names.equal_names,
    random_names.standard_beside,
    random_blocks.blocks,
    random_blocks.unequal_warps,
    random_blocks.unequal_warps,
    random_boxes.boxes,
    random_boxes.older_target,
    random_boxes.older_target,
    random_value_loops.value_loops,
    random_value_loops.value_loops,
]
OFFSET_THEMES: list[Theme] = [random_offset_tiles.offset_tiles, random_offset_tiles.offset_accesses]
WALK_THEMES: list[Theme] = [random_walks.walks]
GLOBAL_THEMES: list[Theme] = [random_global.global_accesses] * 10 + [
    random_global.global_pairs,
    random_global.refused_global,
]
COPY_THEMES: list[Theme] = [random_sources.sourced_copies]
LANE_THEMES: list[Theme] = [random_lanes.lane_values] * 4 + [random_lanes.lane_value_pairs]


DRAWS: dict[str, Callable[[random.Random], Spec]] = {
    "all": random_spec,
    "new": new_theme_spec,
    "lanes": lane_spec,
    "offsets": offset_spec,
    "walks": walk_spec,
    "global": global_spec,
    "sources": source_spec,
    "operands": operand_spec,
    "phases": random_phases.phase_spec,
}
"""What is drawn, by the name that a run is asked for it."""


def main(count: int = 1000, draw: Callable[[random.Random], Spec] = random_spec) -> None:
    """Prints what `count` specs come to."""
    verdicts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    times: list[float] = []
    for seed in range(count):
        spec = draw(seeded(seed))
        began = time.perf_counter()
        try:
            for judgement in judge(spec):
                verdicts[judgement.kind][judgement.verdict] += 1
        except (OracleError, OracleAmbiguousError) as error:
            reasons[f"{type(error).__name__}: {error}"] += 1
        times.append(time.perf_counter() - began)
    for kind, counter in sorted(verdicts.items()):
        total = sum(counter.values())
        shares = "  ".join(f"{verdict} {100 * n / total:.0f}%" for verdict, n in sorted(counter.items()))
        print(f"{kind:14} {total:5}  {shares}")
    for reason, n in reasons.most_common():
        print(f"{n:4}  {reason}")
    times.sort()
    print(f"{sum(times):.1f} s in all, median {1e3 * times[len(times) // 2]:.1f} ms, most {1e3 * times[-1]:.0f} ms")


if __name__ == "__main__":
    main(draw=DRAWS[next((name for name in sys.argv[1:] if name in DRAWS), "all")])

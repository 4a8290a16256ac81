"""Random accesses in `any` loops as kernels have them: fragments along k, and copies that cover a
tile pass by pass.
"""

from __future__ import annotations

from .random_parts import WIDTH_BYTES, Draft, element
from .yaml_values import Yaml


def open_fragments(draft: Draft) -> None:
    """`ldmatrix` along an open k, in a ring of stages or not, wrapped round or bounded by an
    assumption.
    """
    rng = draft.rng
    tile = element(draft, 16)
    kind = rng.choice(("swizzle", "swizzle", "pad", "plain", "tma", "narrow"))
    if kind == "tma":
        tile["tma"] = {"swizzle": "128B", "box": [32, 64]}
    else:
        tile["layout"] = {"shape": [32, 64], "pad": 8} if kind == "pad" else "(32,64):(64,1)"
    if kind in ("swizzle", "narrow"):
        tile["swizzle"] = "Swizzle<3,3,3>" if kind == "swizzle" else "Swizzle<2,3,3>"
    column, assumed = rng.choice(
        (
            ("(k*16 + lane/16*8)%64", ""),
            ("(k & 3)*16 + lane/16*8", ""),
            ("k%4*16 + lane/16*8", "k < 1000000"),
            ("k*16 + lane/16*8", "k < 4"),
            ("k*16 + lane/16*8", "k*16 < 64"),
            ("k*16 + lane/16*8", "k < 5"),
            ("k*16 + lane/16*8", ""),
            ("k*8 + lane/16*8", "k*8 < 48"),
            ("(k%8 ^ (lane & 7))*8", ""),
            ("k%8*8 + lane%2", ""),
        )
    )
    place, name = draft.fresh("K"), draft.fresh("any")
    access: dict[str, Yaml] = {
        "tile": place,
        "instruction": rng.choice(("ldmatrix.x4", "ldmatrix.x4.trans", "ldmatrix.x2", "stmatrix.x1")),
        "threads": rng.choice((32, 64)),
        "for": {"k": "any"},
        "coord": [rng.choice(("lane%16", "warp%2*16 + lane%16", "(lane%16 + k%2*16)")), column],
    }
    if assumed:
        access["assume"] = [assumed]
    if draft.chance(0.4):
        tile["stages"] = 2
        if draft.chance(0.7):
            access["stage"] = rng.choice(("k%2", "k/4%2", "k & 1", "(k >> 2) & 1", "k*4294967295"))
    draft.tiles[place], draft.accesses[name] = tile, access
    for claim in rng.sample(("aligned", "in_bounds", "conflict_free", "wavefronts"), 3):
        draft.claim(claim, {"access": name, "at_most": rng.choice((1, 4, 8))} if claim == "wavefronts" else name)


def open_cover(draft: Draft) -> None:
    """A tile that is copied in passes, the passes being the iterations that exist, are assumed, or
    run.
    """
    rng = draft.rng
    instruction = rng.choice(("st.shared.v4.b32", "st.shared.b32", "cp.async.16"))
    width = WIDTH_BYTES[instruction]
    chunks, threads, passes = rng.choice((2, 4, 8)), rng.choice((16, 32)), rng.choice((1, 2, 3, 4))
    rows, columns = threads // chunks * passes, chunks * width // 2
    tile = element(draft, 16)
    tile["layout"] = f"({rows},{columns}):({columns},1)"
    name, access = draft.fresh("C"), draft.fresh("any")
    row = f"k*{threads // chunks} + tid/{chunks}"
    value: dict[str, Yaml] = {
        "tile": name,
        "instruction": instruction,
        "threads": threads,
        "for": {"k": "any"},
        "coord": [row, f"tid%{chunks}*{width // 2}"],
    }
    last = max(1, passes - 1)
    kind = rng.choice(("assume", "if", "ends", "ends", "wraps", "late"))
    times = 1
    match kind:
        case "assume":
            value["assume"] = [f"k < {passes}"]
        case "if":
            value["if"] = rng.choice((f"k < {passes}", f"k <= {last}", f"k*1000 < {1000 * passes}"))
        case "ends":
            # Exactly the first `last + 1` iterations exist.
            term = f"k*{4_294_967_295 // last}{rng.choice(('', f'*(tid == {threads - 1})', '*(tid > 0)'))}"
            value["coord"] = [f"{row} + {rng.choice((f'0*({term})', f'(({term}) & 0)'))}", f"tid%{chunks}*{width // 2}"]
        case "wraps":
            times = rng.choice((1, 2, 3))
            value["coord"] = [f"({row})%{rows}", f"tid%{chunks}*{width // 2}"]
            value["if"] = f"k < {passes * times}"
        case _:
            # Iterations far out, each pass by one of them.
            value["coord"] = [
                f"(k - 3000000000)*{threads // chunks} + tid/{chunks}",
                f"tid%{chunks}*{width // 2}",
            ]
            value["if"] = f"k >= 3000000000 && k < {3_000_000_000 + passes}"
            if draft.chance(0.5):
                value["coord"] = [f"tid/{chunks}%{rows}", f"tid%{chunks}*{width // 2}"]
                value["if"] = rng.choice(("k == 3000000000", "k == 4294967295", "k > 4294967293", "k/1000000000 == 9"))
    draft.tiles[name], draft.accesses[access] = tile, value
    draft.claim("covers", {"access": access, "tile": name, "times": rng.choice((times, times, times, 2))})
    if draft.chance(0.5):
        draft.claim("in_bounds", access)

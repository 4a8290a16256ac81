"""Random TMA tiles at the edges of what is accepted, and other targets."""

from __future__ import annotations

from .random_parts import Draft, element
from .yaml_values import Yaml

PITCHES = {"32B": 32, "64B": 64, "128B": 128}
NEWER = ("sm_90", "sm_90a", "sm_100", "sm_103a", "sm_110f", "sm_120", "sm_121a")
OLDER = ("sm_80", "sm_86", "sm_89", "sm_75")


def boxes(draft: Draft) -> None:
    """One or two TMA tiles: at most one thing about them may be too much."""
    rng = draft.rng
    mistake = rng.choice(("rows", "inner", "pitch", "base", "stage", "target")) if draft.chance(0.2) else ""
    if not draft.claims:
        # What is drawn already was drawn for sm_90.
        draft.target = rng.choice(OLDER if mistake == "target" else ("sm_90", "sm_90", *NEWER))
    name, bits = _box(draft, mistake)
    for kind in rng.sample(("injective", "bijective", "in_bounds", "contiguous"), 2):
        draft.claim(kind, {"tile": name, "elements": rng.choice((8, 4, 16))} if kind == "contiguous" else name)
    tile = draft.tiles[name]
    assert isinstance(tile, dict)
    if "stages" in tile:
        draft.claim("disjoint", name)
    elif draft.chance(0.5):
        _compare(draft, name, tile, bits)


def _box(draft: Draft, mistake: str) -> tuple[str, int]:
    """The name of a tile, and the bits of its elements."""
    rng = draft.rng
    rows = rng.choice((1, 2, 3, 8, 8, 16, 12, 64, 255, 256))
    if mistake == "rows":
        rows = rng.choice((257, 258, 320))
    # Many rows of few elements: what counts here is the edge.
    bits = 32 if rows > 200 else rng.choice((8, 16, 16, 32))
    mode = "none" if mistake == "inner" else rng.choice(("none", "32B", "64B", "128B"))
    quantum = 128 // bits
    if mode == "none":
        inner = rng.choice((quantum, 2 * quantum, 4 * quantum, 8 * quantum, 3 * quantum, 256))
    else:
        most = PITCHES[mode] * 8 // bits
        inner = rng.choice((most, most, most, min(most, quantum), max(quantum, most - quantum)))
        if mistake == "pitch":
            inner = most + quantum
    if mistake == "inner":
        inner, rows = rng.choice((256 + quantum, 512)), 8
    if inner * rows * bits > 8 * 34_000 and mistake != "rows":
        rows = 8
    stages = draft.chance(0.3) or mistake == "stage"
    tile = element(draft, bits)
    tile["tma"] = {"swizzle": mode, "box": [rows, inner]}
    pitch = (inner * bits // 8 if mode == "none" else PITCHES[mode]) * rows
    if base := _base(draft, mistake == "base"):
        tile["base"] = base
    if stages:
        more = rng.choice((1, 16, 64) if mistake == "stage" else (0, 0, 128))
        tile["stages"] = {"count": 2, "pitch": -(-pitch // 128) * 128 + more}
        if mistake != "stage" and draft.chance(0.5) and not (isinstance(tile.get("base"), int) and pitch % 128):
            tile["stages"] = 2
    name = draft.fresh("box")
    draft.tiles[name] = tile
    return name, bits


def _base(draft: Draft, mistake: bool) -> Yaml:
    rng = draft.rng
    kind = rng.choice(("align", "align", "number", "memory", "fixed memory", ""))
    if mistake:
        kind = rng.choice(("align", "number", "memory", "fixed memory"))
    wrong = rng.choice((16, 64))
    place = draft.fresh("mem")
    match kind:
        case "align":
            return {"align": wrong if mistake else rng.choice((128, 128, 256, 1024))}
        case "number":
            return 1024 + wrong if mistake else rng.choice((128, 1024, 384, 128 * rng.randrange(1, 32)))
        case "memory":
            align = rng.choice((128, 1024))
            aligned_less = mistake and draft.chance(0.4)
            draft.memories[place] = {"bytes": 90_000, "align": 64 if aligned_less else align}
            return {"in": place, "offset": wrong if mistake and not aligned_less else 128 * rng.randrange(4)}
        case "fixed memory":
            # What counts is the sum of both.
            start = rng.choice((0, 1024, 64))
            draft.memories[place] = {"bytes": 90_000, "align": 64, "base": start}
            return {"in": place, "offset": (-start) % 128 + (wrong if mistake else 128 * rng.randrange(3))}
        case _:
            return None


def _compare(draft: Draft, name: str, tile: dict[str, Yaml], bits: int) -> None:
    """The box against the layout that a reader writes for it."""
    rng = draft.rng
    tma = tile["tma"]
    assert isinstance(tma, dict)
    box, mode = tma["box"], str(tma["swizzle"])
    assert isinstance(box, list)
    rows, inner = box
    other = {key: value for key, value in tile.items() if key != "tma"}
    pitch = inner if mode == "none" else PITCHES[mode] * 8 // bits
    other["layout"] = f"({rows},{inner}):({pitch},1)"
    if mode != "none" and draft.chance(0.85):
        width = {"32B": 1, "64B": 2, "128B": 3}[mode]
        other["swizzle"] = rng.choice(
            (
                {"bits": width, "base": 4, "shift": 3, "on": "address"},
                f"Swizzle<{width},{(128 // bits).bit_length() - 1},3>",
            )
        )
    twin = draft.fresh("plain")
    draft.tiles[twin] = other
    draft.claim("equivalent", [name, twin] if draft.chance(0.5) else [twin, name])


def older_target(draft: Draft) -> None:
    """Tiles and accesses for a target before sm_90, sometimes with an instruction that it lacks."""
    rng = draft.rng
    if not draft.claims:
        draft.target = rng.choice(("sm_80", "sm_86", "sm_89", "sm_87", "sm_75", "sm_70"))
    number = int(draft.target[3:])
    instructions = ["ld.shared.b32", "st.shared.v4.b32", "ld.shared.b64"]
    instructions += ["ldmatrix.x4"] * (number >= 75) + ["cp.async.16", "cp.async.ca.16"] * (number >= 80)
    instruction = rng.choice(instructions)
    if number < 90 and draft.chance(0.08):
        instruction = "stmatrix.x2" if number >= 80 else rng.choice(("cp.async.8", "stmatrix.x4"))
    tile = element(draft, 16)
    tile["layout"] = rng.choice(("(32,64):(64,1)", {"shape": [32, 64], "pad": 8}))
    if draft.chance(0.5):
        tile["swizzle"] = "Swizzle<3,3,3>"
    place, name = draft.fresh("T"), draft.fresh("acc")
    draft.tiles[place] = tile
    if draft.chance(0.12):
        draft.tiles[draft.fresh("box")] = {"element": "f16", "tma": {"swizzle": "128B", "box": [32, 64]}}
    draft.accesses[name] = {
        "tile": place,
        "instruction": instruction,
        "threads": rng.choice((32, 64)),
        "coord": rng.choice((["lane%16", "lane/16*8"], ["lane", "0"], ["lane/8", "lane%8*8"])),
    }
    draft.claim("conflict_free", name)
    draft.claim("bijective", place)

"""Random loops whose values are listed, or multiply: alone, and against the same in other words."""

from __future__ import annotations

from .random_parts import WIDTH_BYTES, Draft
from .yaml_values import Yaml

LISTS = (
    (1, 2, 4, 8),
    (8, 4, 2, 1),
    (16, 1, 4),
    (0, 1, 3),
    (0, 2, 4),
    (5,),
    (3, 1),
    (0, 1, 2, 3),
    (1, 2, 4, 8, 16, 32),
    (0, 7, 8, 9, 31),
    (64, 16, 128),
)
MULTIPLYING = (
    (1, 16, 2),
    (1, 17, 2),
    (1, 64, 4),
    (2, 50, 3),
    (1, 1000, 10),
    (3, 4, 2),
    (8, 8, 2),
    (1, 2, 2),
    (4, 33, 2),
)


def value_loop(draft: Draft) -> tuple[Yaml, list[int]]:
    """A loop of a few values, none negative, and these."""
    rng = draft.rng
    if draft.chance(0.4):
        start, stop, times = rng.choice(MULTIPLYING)
        values = [start * times**n for n in range(12) if start * times**n < stop]
        return {"start": start, "stop": stop, "times": times}, values
    values = list(rng.choice(LISTS))
    if draft.chance(0.3):
        rng.shuffle(values)
    return list[Yaml](values), values


def value_loops(draft: Draft) -> None:
    """An access in such loops, as reductions and butterflies have them, and mostly another one
    beside it.
    """
    rng = draft.rng
    instruction = rng.choice(("ld.shared.b32", "st.shared.b32", "ld.shared.b64", "ld.shared.v4.b32", "ld.shared.b8"))
    width = WIDTH_BYTES[instruction]
    bounds, values = value_loop(draft)
    loops: dict[str, Yaml] = {"s": bounds}
    if draft.chance(0.3):
        loops["i"] = rng.choice((1, 2, 3))
    threads = rng.choice((32, 64, 40, 128))
    place = rng.choice(
        (
            "tid",
            "lane ^ s",
            "tid ^ s",
            "tid + s",
            "tid*s",
            "tid*2*s",
            "s",
            "tid*(s + 1)",
            "tid % s" if 0 not in values else "s",
            "tid/32 + s*lane",
        )
    )
    term = f" + i*{rng.choice((1, 32, 100))}" if "i" in loops else ""
    fields: dict[str, Yaml] = {
        "instruction": instruction,
        "threads": threads,
        "for": loops,
        "address": f"(({place}){term})*{width}",
        "bytes": rng.choice((4096, 512, 16384, 65536)),
    }
    if draft.chance(0.4):
        fields["if"] = rng.choice(("tid < s", "tid % (2*s + 1) == 0", "s != 4", "(tid & s) == 0", "s >= 200"))
    if draft.chance(0.3):
        fields["assume"] = [rng.choice(("s < 8", "s % 2 == 0", "s > 1000", "s != 4"))]
    if draft.chance(0.02):
        loops["s"] = rng.choice(([1, 2, 1], {"start": 0, "stop": 8, "times": 2}, {"start": 1, "stop": 8, "times": 1}))
    name = draft.fresh("vals")
    draft.accesses[name] = fields
    for kind in rng.sample(("aligned", "in_bounds", "conflict_free", "wavefronts"), 2):
        draft.claim(kind, {"access": name, "at_most": rng.choice((1, 2, 4, 8, 16))} if kind == "wavefronts" else name)
    if draft.chance(0.6):
        _add_twin(draft, name, fields, values)
    if draft.chance(0.3):
        _add_cover(draft)


def _add_twin(draft: Draft, name: str, fields: dict[str, Yaml], values: list[int]) -> None:
    """The same access with its loop in other words, or with another value in it."""
    rng = draft.rng
    loops = fields["for"]
    if not isinstance(loops, dict) or not values:
        return
    other = dict(fields)
    changed = dict(loops)
    kind = rng.choice(("order", "order", "even", "doubling", "value", "value", "value", "fewer", "more", "words"))
    shuffled = rng.sample(values, len(values))
    match kind:
        case "value":
            shuffled[0] += rng.choice((1, 3, 100))
            if draft.chance(0.5):
                # Only the loops tell the two apart.
                fields["address"] = other["address"] = f"tid*{WIDTH_BYTES[str(fields['instruction'])]}"
        case "fewer" if len(shuffled) > 1:
            shuffled.pop()
        case "more":
            shuffled.append(max(values) + rng.choice((1, 2, 64)))
        case _:
            pass
    changed["s"] = list[Yaml](shuffled) if len(set(shuffled)) == len(shuffled) else list[Yaml](values)
    if kind == "even":
        start, count = min(values), len(values)
        step = rng.choice((1, 2, max(1, (max(values) - start) // max(1, count - 1))))
        changed["s"] = {"start": start, "stop": start + step * (count - 1) + 1, "step": step}
    elif kind == "doubling":
        changed["s"] = {"start": max(1, min(values)), "stop": max(values) + 1, "times": 2}
    elif kind == "words":
        address = str(other["address"])
        if "tid ^ s" in address:
            other["address"] = address.replace("tid ^ s", "(tid | s) - (tid & s)")
        else:
            other["address"] = f"{address} + 0*s + (s == {rng.choice((*values, 999))})*{rng.choice((0, 0, 4))}"
    other["for"] = {key: changed[key] for key in rng.sample(list(changed), len(changed))}
    twin = draft.fresh("vals")
    draft.accesses[twin] = other
    draft.claim("equivalent", [name, twin] if draft.chance(0.5) else [twin, name])


def _add_cover(draft: Draft) -> None:
    """A tile that listed iterations fill, once, twice or with gaps."""
    rng = draft.rng
    tile, access = draft.fresh("T"), draft.fresh("fill")
    draft.tiles[tile] = {"element": "f32", "layout": "(8,32):(32,1)"}
    rows = rng.choice(
        ([0, 1, 2, 3], [0, 3, 1, 2], [0, 1, 3, 2], [2, 0, 1], {"start": 1, "stop": 5, "times": 2}, [0, 2, 5, 7])
    )
    row = rng.choice(("r*2 + tid/32", "r*2 + tid/32", "r + tid/32", "r*2 % 8 + tid/32", "r"))
    draft.accesses[access] = {
        "tile": tile,
        "instruction": "st.shared.b32",
        "threads": 64,
        "for": {"r": rows},
        "coord": [row, "lane"],
    }
    draft.claim("covers", {"access": access, "times": rng.choice((1, 1, 2))})

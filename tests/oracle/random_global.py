"""Random accesses to global memory: few sectors and many, aligned bases and unknown ones, and what
the page refuses.
"""

from __future__ import annotations

from .random_parts import Draft
from .yaml_values import Yaml

WIDTHS = {
    "ld.global.b8": 1,
    "ld.global.u16": 2,
    "ld.global.b32": 4,
    "ld.global.f32": 4,
    "ld.global.nc.f32": 4,
    "ld.global.L1::no_allocate.b32": 4,
    "ld.global.b64": 8,
    "ld.global.v2.f32": 8,
    "ld.global.v4.f32": 16,
    "ld.global.cg.v4.b32": 16,
    "ld.global.v2.b64": 16,
    "st.global.b8": 1,
    "st.global.b16": 2,
    "st.global.f32": 4,
    "st.global.cs.b32": 4,
    "st.global.v2.b32": 8,
    "st.global.b64": 8,
    "st.global.v4.f32": 16,
    "st.global.v2.f64": 16,
}
ROWS = (1, 2, 3, 5, 7, 8, 12, 16, 17, 24, 31, 32, 33, 40, 64, 100, 104, 416, 420)
"""Elements from one row of a matrix to the next."""


def global_accesses(draft: Draft) -> None:
    """An access to global memory, and claims on it."""
    rng = draft.rng
    instruction = rng.choice(list(WIDTHS))
    width = WIDTHS[instruction]
    fields: dict[str, Yaml] = {"instruction": instruction, "threads": rng.choice((32, 32, 64, 128, 20, 40, 1, 96))}
    loops, names = _loops(draft)
    if loops:
        fields["for"] = loops
    if draft.chance(0.25) and "any" not in loops.values():
        own = rng.choice((2, 2, 3))
        fields["lanes"] = {"b": own}
        names.append("b")
        if draft.chance(0.7):
            # So few that the oracle can try all choices.
            fields["threads"] = rng.choice((4, 6, 8, 10, 11))
    if draft.chance(0.1) and "lanes" not in fields and len(loops) == 1 and "any" not in loops.values():
        walk: dict[str, Yaml] = {
            "start": _address(draft, width, []),
            "step": rng.choice((width, 32, 4 * width, "tid*32")),
        }
        if draft.chance(0.3):
            walk["xor"] = rng.choice((width, 32, 64))
        fields["walk"] = walk
    else:
        fields["address"] = _address(draft, width, names)
    if draft.chance(0.3):
        choices = ["lane < 9", "tid < 50", "lane % 2 == 0", "lane != 3", "lane / 8 == 1", "tid > 5", "lane == 31"]
        choices += [f"{names[-1]} != 1", f"lane < 4 || {names[-1]} == 0", f"{names[-1]} == 0"] * 3 if names else []
        fields["if"] = rng.choice(choices)
    if loops and draft.chance(0.15):
        fields["assume"] = [rng.choice(("i < 2", "i % 2 == 0", "i != 1"))]
    base = _base(draft, width)
    if base is not None:
        fields["base"] = base
    if draft.chance(0.2):
        fields["bytes"] = rng.choice((128, 512, 1024, 4096, 65536))
    name = draft.fresh("g")
    draft.accesses[name] = fields
    _claims(draft, name, width, fields)


def global_pairs(draft: Draft) -> None:
    """Two accesses to global memory that go to the same addresses, or do not."""
    rng = draft.rng
    instruction = rng.choice(("ld.global.f32", "st.global.f32", "ld.global.v4.f32"))
    width = WIDTHS[instruction]
    names: list[Yaml] = []
    forms = (f"tid*{width}", f"(warp*32 + lane)*{width}", f"(tid ^ 0)*{width}", f"tid*{width} + (tid == 7)*{width}")
    for _ in range(2):
        names.append(draft.fresh("g"))
        fields: dict[str, Yaml] = {"instruction": instruction, "threads": 64, "address": rng.choice(forms)}
        if draft.chance(0.3):
            fields["base"] = {"align": rng.choice((16, 256))}
        if draft.chance(0.1):
            fields["instruction"] = instruction.replace("global", "shared")
            fields["base"] = {"align": 16}
        draft.accesses[str(names[-1])] = fields
    draft.claim("equivalent", names)


def refused_global(draft: Draft) -> None:
    """What the page refuses: a claim of the other memory, a tile or a memory."""
    rng = draft.rng
    name = draft.fresh("g")
    kind = rng.choice(("claim", "claim", "shared", "tile", "memory", "covers", "wide", "zero", "standard"))
    fields: dict[str, Yaml] = {"instruction": "ld.global.f32", "threads": 32, "address": "tid*4"}
    draft.accesses[name] = fields
    tile = draft.fresh("T")
    match kind:
        case "claim":
            draft.claim("conflict_free", name) if draft.chance(0.5) else draft.claim(
                "wavefronts", {"access": name, rng.choice(("at_most", "exactly")): rng.choice((1, 4, 32))}
            )
        case "shared":
            fields["instruction"] = rng.choice(("ld.shared.f32", "cp.async.4", "ldmatrix.x4"))
            fields["address"] = "tid*16"
            draft.claim("coalesced", name)
        case "tile" | "covers":
            draft.tiles[tile] = {"element": "f32", "layout": "(8,32):(32,1)"}
            if kind == "tile":
                fields.pop("address")
                fields |= {"tile": tile, "coord": [0, "tid"]}
                draft.claim("aligned", name)
            else:
                fields["base"] = {"align": 1024}
                draft.claim("covers", {"access": name, "tile": tile})
        case "memory":
            draft.memories["m"] = {"bytes": 4096}
            fields["base"] = {"in": "m", "offset": 0}
            draft.claim("coalesced", name)
        case "wide":
            fields["instruction"] = "ld.global.v4.f64"
            draft.claim("aligned", name)
        case "zero":
            draft.claim("coalesced", {"access": name, "at_most": 0})
        case _:
            draft.claims.append("standard")


def _loops(draft: Draft) -> tuple[dict[str, Yaml], list[str]]:
    rng = draft.rng
    if draft.chance(0.5):
        return {}, []
    if draft.chance(0.08):
        return {"i": "any"}, ["i"]
    bounds: Yaml = rng.choice((1, 2, 3, 4, {"start": 0, "stop": 12, "step": 4}, [1, 2, 4]))
    return {"i": bounds}, ["i"]


def _address(draft: Draft, width: int, names: list[str]) -> str:
    """A byte address of elements of `width` bytes."""
    rng = draft.rng
    row = rng.choice(ROWS)
    if draft.chance(0.3):
        constant = draft.fresh("LD")
        draft.constants[constant] = (
            row if draft.chance(0.7) else [row, rng.choice([each for each in ROWS if each != row])]
        )
        stride = constant
    else:
        stride = str(row)
    element = rng.choice(
        (
            "tid",
            "tid",
            "lane",
            f"lane*{stride}",
            f"tid*{stride}",
            f"lane/8*{stride} + lane%8",
            f"lane/4*{stride} + lane%4",
            f"lane%8*{stride} + lane/8",
            "lane/2",
            "lane%2",
            "lane ^ 5",
            "31 - lane",
            f"(lane*{rng.choice((3, 5, 7, 11))} + {rng.randrange(9)}) % 32",
            "(lane & 1)*16 + lane/2",
            "0",
            f"lane < {rng.randrange(1, 31)} ? lane : lane + {stride}",
            f"warp*{stride} + lane",
            "tid*3",
            "tid*2 + 1",
        )
    )
    if names:
        element = rng.choice(
            (
                f"{element} + {names[0]}*{stride}",
                f"{element} + {names[0]}*8",
                f"{element} + {names[0]}",
                f"({element})*({names[0]} + 1)",
                f"lane + {names[0]}*{rng.choice((8, 16, 32))}",
                f"(lane < 5 ? {names[0]} : lane)*{stride}",
            )
        )
    text = f"({element})*{width}"
    if draft.chance(0.2):
        text += f" + {rng.choice((width, width, 4, 8, 16, 32, 1))}"
    if draft.chance(0.06):
        text = f"{text} + {draft.wild([])} % 8 * {width} + {8 * width}"
    return text


def _base(draft: Draft, width: int) -> Yaml:
    """A base in one of its notations; None where the access says none."""
    rng = draft.rng
    if draft.chance(0.4):
        return None
    if draft.chance(0.25):
        return rng.choice((0, 32, 256, 4, 16, 48, 100 * width, 1 << 20))
    return {"align": rng.choice((width, width, 4, 8, 16, 32, 64, 256, 1))}


def _claims(draft: Draft, name: str, width: int, fields: dict[str, Yaml]) -> None:
    rng = draft.rng
    if draft.chance(0.6):
        draft.claim("coalesced", name)
    full = max(1, width)
    for limit in rng.sample(sorted({1, 2, full, full + 1, 2 * full, 4, 5, 8, 9, 16, 31, 32, 33}), 2):
        draft.claim("coalesced", {"access": name, "at_most": limit})
    if draft.chance(0.2):
        draft.claim("aligned", name)
    if "bytes" in fields:
        draft.claim("in_bounds", name)

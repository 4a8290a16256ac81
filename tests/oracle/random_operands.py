"""Random operands of the tensor core: most of them right, many with one thing wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .random_parts import Draft
from .yaml_values import Yaml, as_dict

SIZES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "u8": 1}
ELEMENTS = {"f16": "f16", "bf16": "bf16", "tf32": "tf32", "e4m3": "f8e4m3", "u8": "u8"}
Fields: TypeAlias = dict[str, Yaml]


@dataclass(slots=True)
class _Shape:
    """What an operand is drawn from."""

    kind: str
    family: str
    mode: str
    mn_major: bool
    rows: int
    k_steps: int
    stages: int
    columns: int = 0

    @property
    def size(self) -> int:
        return SIZES[self.kind]

    @property
    def step(self) -> int:
        return 32 // self.size

    @property
    def width(self) -> int:
        return 16 if self.mode == "none" else int(self.mode[:-1])


def operands(draft: Draft) -> None:
    """An operand that a kernel could have, perhaps with one mistake, and claims on it; or two for one product."""
    rng = draft.rng
    if draft.chance(0.3):
        _two_operands(draft)
        return
    kind = rng.choice(["f16", "f16", "bf16", "tf32", "e4m3", "u8"])
    family = rng.choice(["wgmma", "wgmma", "wgmma", "tcgen05.mma"])
    draft.target = "sm_90a" if family == "wgmma" else "sm_100a"
    mn_major = kind in ("f16", "bf16") and draft.chance(0.45)
    mode = rng.choice(["128B", "128B", "64B", "32B", "none"])
    shape = _Shape(kind, family, mode, mn_major, rng.choice([8, 16, 32, 64]), rng.choice([1, 2, 4]), 1)
    if mn_major:
        panel = shape.width // shape.size
        shape.rows = panel * max(1, shape.rows // panel)
    role = "B"
    if shape.rows == 64 and draft.chance(0.5):
        role = "A"
    shape.stages = rng.choice([1, 1, 2, 3])
    name, tile = draft.fresh("O"), draft.fresh("T")
    strides = _tile(draft, tile, shape)
    n = shape.rows if role == "B" else rng.choice([8, 16, 64])
    m = 64
    if family == "tcgen05.mma" and draft.chance(0.3):
        m, role, n = 128, "B", max(16, shape.rows)
    if n != shape.rows and role == "B":
        role, m, n = "B", 64, shape.rows
    entry: Fields = {
        "instruction": f"{family}.m{m}n{n}k{shape.step}.{kind}",
        "role": role,
        "for": _loops(shape),
        "descriptor": _descriptor(draft, shape, strides),
        "reads": _reads(draft, tile, shape, by_k=strides.by_k),
    }
    if mn_major or draft.chance(0.3):
        entry["major"] = "MN" if mn_major else "K"
    _follow_the_base(draft, entry, draft.tiles[tile], shape)
    if draft.chance(0.5):
        _mistake(draft, entry, shape)
    draft.operands[name] = entry
    if draft.chance(0.2) and "standard" not in draft.claims:
        draft.claims.append("standard")
        return
    draft.claim("delivers", name)
    for claim in ("aligned", "in_bounds"):
        if draft.chance(0.4):
            draft.claim(claim, {"operand": name})


def _two_operands(draft: Draft) -> None:
    """An operand A and an operand B whose K comes in some order; often in the same one."""
    rng = draft.rng
    kind = rng.choice(["f16", "bf16", "tf32", "e4m3"])
    draft.target = "sm_90a"
    shape = _Shape(kind, "wgmma", rng.choice(["none", "none", "32B", "128B"]), False, 64, rng.choice([2, 3, 4]), 1)
    order = rng.choice(["stated", "chunks", "chunks", "back", "exchanged", "half", "twice"])
    rows_of_b = rng.choice([8, 16, 64])
    names: list[str] = []
    for role in "AB":
        if draft.chance(0.2):
            order = rng.choice(["stated", "chunks", "back", "exchanged"])
        names.append(_one_of_two(draft, shape, role, 64 if role == "A" else rows_of_b, order))
    if draft.chance(0.5):
        names.reverse()
    draft.claim("delivers", names if draft.chance(0.7) else {"operands": names})
    bases = [as_dict(as_dict(draft.tiles[name.replace("O", "T")])["base"]) for name in names]
    if all("in" in each for each in bases) or draft.chance(0.05):
        draft.claim("disjoint", names if draft.chance(0.7) else {"operands": names})
    elif draft.chance(0.5):
        draft.claim("disjoint", {"operand": names[0]})


def _one_of_two(draft: Draft, shape: _Shape, role: str, rows: int, order: str) -> str:
    rng, size, steps = draft.rng, shape.size, shape.k_steps
    per, columns = 16 // size, shape.step * steps
    name, tile = draft.fresh("O"), draft.fresh("T")
    fields: Fields = {"swizzle": shape.mode}
    k = {"back": f"({steps - 1}-k)", "exchanged": "(k^1)" if steps % 2 == 0 else "(k+1)%3"}.get(order, "k")
    if shape.mode == "none":
        far = rows * 16
        layout = f"((8,{rows // 8}),({per},{columns // per})):(({per},{8 * per}),(1,{far // size}))"
        fields |= {"sbo": 128, "lbo": far * steps, "start": f"{k}*{far}"}
        if order != "chunks":
            fields |= {"lbo": far if order != "twice" else 0, "start": f"{k}*{2 * far}"}
    else:
        width = shape.width // size
        panels = -(-columns // width)
        layout = f"({rows},({width},{panels})):({width},(1,{rows * width}))"
        start = f"{k}*32 % {shape.width} + {k}*32/{shape.width}*{rows * shape.width}"
        fields |= {"sbo": 8 * shape.width, "start": start}
        if order == "chunks" and shape.mode == "128B":
            fields["base_offset"] = 1
    entry: Fields = {"element": ELEMENTS[shape.kind], "layout": layout}
    bits = {"none": 0, "32B": 1, "64B": 2, "128B": 3}[shape.mode]
    if bits:
        entry["swizzle"] = {"bits": bits, "base": 4, "shift": 3, "on": "address"}
    entry["base"] = {"align": rng.choice([1024, 1024, 128])}
    if draft.memories or (role == "A" and draft.chance(0.5)):
        drawn: Fields = {"bytes": 200_000, "align": rng.choice([1024, 1024, 128, 8])}
        draft.memories.setdefault("shared", drawn)
        entry["base"] = {"in": "shared", "offset": rng.choice([0, 1024, 16384]) if role == "A" else 32768}
    stage: Fields = {}
    loops: Fields = {"k": steps}
    if draft.chance(0.3):
        pitch = -(-rows * max(columns * size, shape.width) // 1024) * 1024
        entry["stages"] = {"count": 2, "pitch": pitch}
        loops["stage"], stage = 2, {"stage": "stage"}
        fields["start"] = f"{fields['start']} + stage*{rng.choice([pitch, pitch, pitch, 16384, 32])}"
    along = f"k*{shape.step}" if order != "half" else f"k%2*{shape.step}"
    if stage and draft.chance(0.2):
        along = f"k*(1 - stage)*{shape.step}"
    draft.tiles[tile] = entry
    draft.operands[name] = {
        "instruction": f"wgmma.m64n{rows if role == 'B' else 8}k{shape.step}.{shape.kind}",
        "role": role,
        "for": loops,
        "descriptor": fields,
        "reads": {"tile": tile, "at": [0, along], **stage},
    }
    return name


@dataclass(frozen=True, slots=True)
class _Strides:
    """Bytes from one panel, core row, step of K and stage to the next, and the order of the modes."""

    lbo: int
    sbo: int
    step: int
    stage: int
    by_k: bool


def _loops(shape: _Shape) -> Fields:
    loops: Fields = {}
    if shape.k_steps > 1:
        loops["k"] = shape.k_steps
    if shape.stages > 1:
        loops["stage"] = shape.stages
    return loops


def _tile(draft: Draft, name: str, shape: _Shape) -> _Strides:
    """A tile whose layout is made of the mode's atoms."""
    rng, size, width = draft.rng, shape.size, shape.width
    steps, per = shape.k_steps, width // size
    columns = shape.columns = shape.step * steps
    if not shape.mn_major and shape.mode != "none":
        # Rows of the mode's width; a tile that is narrower leaves gaps.
        columns = shape.columns = max(columns, per) if draft.chance(0.7) else columns
        panels = -(-columns // per)
        pad = rng.choice([0, 0, 0, 8 * per])
        panel = shape.rows * per + pad
        inner = f"({per},{panels})" if panels > 1 else f"{columns}"
        strides = f"(1,{panel})" if panels > 1 else "1"
        layout = f"({shape.rows},{inner}):({per},{strides})"
        sbo = 8 * width
        lbo = rng.choice([0, 16, 1024])
        step = 32 if columns <= per else (32 if width >= 64 else panel * size)
        by_k = False
    elif not shape.mn_major:
        far = rng.choice([8 * per, shape.rows * per])
        near = columns // per * 8 * per if far == 8 * per else 8 * per
        layout = f"((8,{shape.rows // 8}),({per},{columns // per})):(({per},{near}),(1,{far}))"
        lbo, sbo, step, by_k = far * size, near * size, 2 * far * size, False
    else:
        panels = shape.rows // per
        far, near = (columns * per, 8 * per) if draft.chance(0.6) else (8 * per, panels * 8 * per)
        rows, row_strides = f"({per},{panels})", f"(1,{far})"
        ks, k_strides = f"(8,{columns // 8})", f"({per},{near})"
        by_k = draft.chance(0.4)
        layout = f"({ks},{rows}):({k_strides},{row_strides})" if by_k else f"({rows},{ks}):({row_strides},{k_strides})"
        lbo, sbo = (near * size, far * size) if shape.mode == "none" else (far * size, near * size)
        step = shape.step // 8 * near * size
    entry: Fields = {"element": ELEMENTS[shape.kind], "layout": layout}
    bits = {"none": 0, "32B": 1, "64B": 2, "128B": 3}[shape.mode]
    if bits and draft.chance(0.55):
        entry["swizzle"] = {"bits": bits, "base": 4, "shift": 3, "on": "address"}
    elif bits:
        entry["swizzle"] = f"Swizzle<{bits},{4 - size.bit_length() + 1},3>"
    align = rng.choice([1024, 1024, 1024, 1024, 128, 256, 16, 8])
    if draft.chance(0.4):
        memory = draft.fresh("m")
        draft.memories[memory] = {"bytes": 200_000, "align": align}
        entry["base"] = {"in": memory, "offset": rng.choice([0, 1024, 384, 384, 640, 512])}
    elif draft.chance(0.7):
        entry["base"] = {"align": align} if draft.chance(0.8) else rng.choice([0, 1024, 1152, 4096])
    pitch = 16384
    if shape.stages > 1:
        entry["stages"] = {"count": shape.stages, "pitch": pitch}
    draft.tiles[name] = entry
    return _Strides(lbo, sbo, step, pitch, by_k)


def _descriptor(draft: Draft, shape: _Shape, strides: _Strides) -> Fields:
    terms = ["0"]
    if shape.k_steps > 1:
        terms.append(_steps(shape, strides))
    if shape.stages > 1:
        terms.append(f"stage*{strides.stage}")
    fields: Fields = {"start": " + ".join(terms), "sbo": strides.sbo, "swizzle": shape.mode}
    if strides.lbo or draft.chance(0.5):
        fields["lbo"] = strides.lbo
    return fields


def _follow_the_base(draft: Draft, entry: Fields, tile: Yaml, shape: _Shape) -> None:
    """The base offset that takes where the tile begins out of the swizzle, for a swizzle on offsets."""
    assert isinstance(tile, dict)
    fields, base = entry["descriptor"], tile.get("base")
    assert isinstance(fields, dict)
    if not isinstance(tile.get("swizzle"), str) or shape.family != "wgmma" or not draft.chance(0.7):
        return
    if isinstance(base, dict) and isinstance(memory := draft.memories.get(str(base.get("in"))), dict):
        base = base["offset"] if memory["align"] == 1024 else None
    if isinstance(base, int) and base % 128 == 0:
        fields["base_offset"] = base // 128 % 8


def _steps(shape: _Shape, strides: _Strides) -> str:
    """The advance along K: inside a panel by 32 bytes, then to the next panel."""
    width, size = shape.width, shape.size
    panels = shape.columns * size // width
    if not shape.mn_major and shape.mode != "none" and panels > 1 and width > 32:
        panel = f"({shape.rows}*{width})"
        return f"k*32 % {width} + k*32/{width}*{panel}"
    return f"k*{strides.step}"


def _reads(draft: Draft, tile: str, shape: _Shape, *, by_k: bool) -> Fields:
    along: Yaml = f"k*{shape.step}" if shape.k_steps > 1 else 0
    at: list[Yaml] = [along, 0] if by_k else [0, along]
    reads: Fields = {"tile": tile, "at": at}
    if by_k:
        reads["modes"] = ["K", "MN"]
    if shape.stages > 1:
        reads["stage"] = "stage"
    elif draft.chance(0.1):
        reads["stage"] = 0
    return reads


def _mistake(draft: Draft, entry: Fields, shape: _Shape) -> None:
    """One of the mistakes that kernels have."""
    rng, fields = draft.rng, entry["descriptor"]
    reads = entry["reads"]
    assert isinstance(fields, dict)
    assert isinstance(reads, dict)
    kind = rng.choice(
        ["swapped", "mode", "base offset", "start", "step", "sbo", "lbo", "at", "major", "modes", "base", "gone", "odd"]
    )
    match kind:
        case "swapped":
            fields["lbo"], fields["sbo"] = fields["sbo"], fields.get("lbo", 0)
        case "mode":
            fields["swizzle"] = rng.choice(["none", "32B", "64B", "128B"])
        case "base offset":
            fields["base_offset"] = rng.randrange(8) if shape.family == "wgmma" or draft.chance(0.1) else 0
        case "start":
            fields["start"] = f"{fields['start']} + {rng.choice([16, 32, 128, 1024, 8, 2])}"
        case "step":
            fields["start"] = str(fields["start"]).replace("k*", f"k*{rng.choice([2, 3])}*").replace("2*32", "16")
        case "sbo":
            fields["sbo"] = rng.choice([16, 128, 256, 512, 1024, 2048, 1000])
        case "lbo":
            fields["lbo"] = rng.choice([0, 16, 128, 1024, 2048, 8192])
        case "at":
            reads["at"] = [0, 0]
        case "major":
            entry["major"] = "K" if shape.mn_major else "MN"
        case "modes":
            reads["modes"] = ["K", "MN"] if "modes" not in reads else ["MN", "K"]
        case "base":
            fields["base"] = rng.choice([{"align": 1024}, {"align": 128}, {"align": 16}, 0, 1024])
        case "gone":
            loops = entry["for"]
            assert isinstance(loops, dict)
            if loops:
                loops[rng.choice(list(loops))] = 0
        case _:
            fields["start"] = f"({fields['start']})*{rng.choice([2, 3, 9])}"

"""Random accesses whose lanes have values of their own: few choices for the oracle, in many forms."""

from __future__ import annotations

from .random_expressions import condition, text_of
from .random_parts import WIDTH_BYTES, Draft, swizzle_numbers, swizzle_value
from .yaml_values import Yaml

LOADS_THAT_JOIN = ["ld.shared.b64", "ld.shared.v2.b32", "ld.shared.v4.b32", "ld.shared.v2.b64", "ld.shared.v4.f32"]


def lane_values(draft: Draft) -> None:
    """One access by an address or a tile's coordinate, and claims on it."""
    if draft.chance(0.6):
        _bare(draft)
    elif draft.chance(0.75):
        _looked_up(draft)
    else:
        _rows_of_pages(draft)


def lane_value_pairs(draft: Draft) -> None:
    """Two accesses with unknowns of the same names, or nearly; the second one says the same or
    not.
    """
    rng = draft.rng
    own, last = _range(draft, [2, 3, 4, 5, 8])
    threads = rng.choice([1, 8, 20, 32, 40, 64])
    first = rng.choice(["lane*4 + b*128", "(lane + b*32)*4", "b*4 + tid*32", "(tid ^ b)*4", "tid*4"])
    other = rng.choice(
        [
            first,
            "(b*32 + lane)*4",
            "(lane << 2) + (b << 7)",
            "(b + tid*8)*4",
            f"tid*4 ^ b*4 ^ (b > {last})",
            "tid*4 + b*0",
            f"min(b, {last})*128 + lane*4",
            f"lane*4 + (b%{last + 1})*128",
        ]
    )
    names = [draft.fresh("own")]
    draft.accesses[names[0]] = {
        "instruction": "ld.shared.b32", "threads": threads, "lanes": {"b": own}, "address": first
    }  # fmt: skip
    names.append(draft.fresh("own"))
    if draft.chance(0.15):
        own, _ = _range(draft, [2, 3, 4, 5, 8])
    access: dict[str, Yaml] = {
        "instruction": "ld.shared.b32", "threads": threads, "lanes": {"b": own}, "address": other
    }  # fmt: skip
    if draft.chance(0.2):
        for each in (access, draft.accesses[names[0]]):
            if isinstance(each, dict):
                each["if"] = rng.choice(["b != 1", "lane < 9 || b > 0", "b < 99", "!(b == 1)", "b*2 != 2"])
    draft.accesses[names[1]] = access
    draft.claim("equivalent", {"accesses": list[Yaml](names)})
    draft.claim("aligned", names[1])


def _range(draft: Draft, counts: list[int]) -> tuple[Yaml, int]:
    """A range in one of its notations, and its largest value."""
    rng = draft.rng
    count = rng.choice(counts)
    kind = rng.random()
    if kind < 0.55:
        return count, count - 1
    if kind < 0.7:
        name = draft.fresh("R")
        draft.constants[name] = count
        return name, count - 1
    if kind < 0.8:
        bits = rng.choice([1, 1, 2])
        return {"bits": bits}, (1 << bits) - 1
    step, start = rng.choice([1, 2, 4, 8]), rng.choice([0, 0, 1, 2, 4])
    stop = start + (count - 1) * step + rng.choice([1, 1, step])
    return {"start": start, "stop": stop, "step": step}, start + (count - 1) * step


def _few(draft: Draft) -> str:
    """A condition that few lanes meet, so that only these choose."""
    rng = draft.rng
    return rng.choice(
        [
            f"lane%8 == {rng.randrange(8)}",
            f"lane < {rng.choice([1, 2, 3, 5])}",
            f"lane/4 == {rng.randrange(8)}",
            f"(lane & {rng.choice([7, 11, 13, 19, 28])}) == {rng.choice([0, 0, 1, 4])}",
            f"lane >= {rng.choice([27, 29, 30])}",
            f"({rng.getrandbits(31) & rng.getrandbits(31) & rng.getrandbits(31):#x} >> lane%31) & 1",
        ]
    )


def _address(draft: Draft, instruction: str, names: list[str]) -> str:
    """A byte address that reads the first of the names, which is an unknown."""
    rng = draft.rng
    w = 1 if instruction.endswith("b8") and draft.chance(0.3) else max(4, WIDTH_BYTES[instruction])
    row = rng.choice([128, 128, 64, 32, 132 // w * w or w, 256, w, 2 * w])
    b = names[0] if len(names) < 2 or draft.chance(0.6) else f"({names[0]} + {names[1]})"
    plain = rng.choice(
        [f"lane*{w}", f"lane/2*{w}", f"lane/4*{w} + lane%2*{128 // w * w}", f"(lane ^ 1)*{w}", "0", f"lane%4*{w}"]
    )
    wild = draft.wild([names[0]])
    return rng.choice(
        [
            f"{b}*{row} + lane*{w}",
            f"{b}*{w}",
            f"({b}*{rng.choice([2, 4, 8])} + lane%{rng.choice([2, 4, 8])})*{w}",
            f"({_few(draft)}) ? {b}*{row} : {plain}",
            f"({_few(draft)}) ? {b}*{row} + {plain} : {plain}",
            f"({_few(draft)}) ? {b}*{w} : {plain}",
            f"{plain} + ({_few(draft)})*{b}*{row}",
            f"(lane ^ {b})*{w}",
            f"((lane + {b}) & 31)*{w}",
            f"((lane & ~1) + ({_few(draft)} ? {b} & 1 : 0))*{w}",
            f"{plain} + (lane < 4 ? {wild} & {rng.choice([1, 3])} : 0)*{row}",
            f"max({b}, lane/8)*{row} + lane%8*{w}",
            # Groups that collide with each other only where they join, which some lane can prevent.
            f"lane/{rng.choice([8, 16])}*{rng.choice([128, 256])} + ({_few(draft)})*{b}*{w}",
            f"lane/{rng.choice([8, 16])}*128 + ({_few(draft)} ? {b} & 1 : 0)*{w} + lane%8/4*{2 * w}",
            f"({_few(draft)}) ? ({b} + 1)*{row} : {plain} + (lane%16 == 3 ? {b}*{w} : 0)",
        ]
    )


def _bare(draft: Draft) -> None:
    rng = draft.rng
    instruction = rng.choice(LOADS_THAT_JOIN if draft.chance(0.35) else list(WIDTH_BYTES))
    names = rng.choice([["b"], ["b"], ["b"], ["b", "c"]])
    lanes: dict[str, Yaml] = {}
    for name in names:
        lanes[name], _ = _range(draft, [1, 2, 2, 3, 3, 4, 4] if name == "b" else [1, 2])
    threads = rng.choice([32, 32, 32, 64, 40, 1, 2, 4, 5, 8])
    access: dict[str, Yaml] = {"instruction": instruction, "threads": threads, "lanes": lanes}
    address = _address(draft, instruction, names)
    if draft.chance(0.3):
        access["for"] = {"i": rng.choice([1, 2, 3])}
        address = f"({address}) + i*{rng.choice([4, 16, 64, 128])}"
        if draft.chance(0.3):
            access["assume"] = [rng.choice(["i < 2", "i%2 == 0", "i != 1"])]
    if draft.chance(0.06):
        address = f"({address}) - {rng.choice([4, 16])}"
        access["if"] = rng.choice([f"{names[0]} > 0", "lane > 3"])
    elif draft.chance(0.35):
        access["if"] = rng.choice(
            [
                f"{names[0]} != 0",
                f"{names[0]} < {rng.choice([1, 2, 3])}",
                f"lane < {rng.choice([3, 5, 6])}",
                f"lane < 4 || {names[0]} == 1",
                f"{names[0]} > 50",
                f"!({_few(draft)})",
                text_of(condition(draft.source(("lane", names[0])), 2), rng),
            ]
        )
    access["address"] = address
    if draft.chance(0.3):
        access["base"] = rng.choice([{"align": 16}, {"align": 128}, 64, 1024 + 16])
    elif draft.chance(0.6):
        access["bytes"] = rng.choice([128, 256, 512, 640, 1024, 2048])
    if draft.chance(0.03):
        loops: dict[str, Yaml] = {"k": "any"}
        access["for"] = loops
        access["address"] = f"{address} + 0*k" if "i*" not in address else address.replace("i*", "k*")
        access.pop("assume", None)
    elif draft.chance(0.03):
        access["assume"] = [f"{names[0]} < 2"]
    name = draft.fresh("own")
    draft.accesses[name] = access
    _claims(draft, name, WIDTH_BYTES[instruction])
    if "bytes" in access:
        draft.claim("in_bounds", name)


def _claims(draft: Draft, name: str, width: int) -> None:
    rng = draft.rng
    draft.claim("conflict_free", name)
    groups = max(1, width // 4)
    limits = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, groups, 2 * groups, groups + 1]
    for limit in rng.sample(limits, 2):
        draft.claim("wavefronts", {"access": name, "at_most": limit})
    if draft.chance(0.4):
        draft.claim("aligned", name)


def _looked_up(draft: Draft) -> None:
    """A look-up table: rows, padded or swizzled, replicated or not; a stage that is data at times."""
    rng = draft.rng
    rows, columns = rng.choice([2, 4, 8, 16]), rng.choice([4, 8, 16, 32])
    bits = rng.choice([8, 16, 32, 32, 64])
    layout: Yaml = f"({rows},{columns}):({columns},1)"
    if draft.chance(0.3):
        layout = {"shape": [rows, columns], "pad": rng.choice([1, 2, 4])}
    tile: dict[str, Yaml] = {"bits": bits, "layout": layout, "base": {"align": rng.choice([16, 128, 1024])}}
    if draft.chance(0.3):
        tile["swizzle"] = swizzle_value(rng, swizzle_numbers(rng, 2, 8), on_address=draft.chance(0.4))
    staged = draft.chance(0.25)
    if staged:
        tile["stages"] = rng.choice([2, {"count": 2, "pitch": 2048}])
    own: Yaml = min(rows, rng.choice([2, 3, 4])) + (1 if draft.chance(0.07) else 0)
    few = _few(draft)
    row = rng.choice(["b", f"({few}) ? b : lane%{rows}", f"({few}) ? b : 0", f"(b + lane)%{rows}", f"b*2%{rows}"])
    column = rng.choice([f"lane%{columns}", f"lane/2%{columns}", "0", f"(lane ^ b)%{columns}", f"tid%{columns}"])
    name = draft.fresh("tab")
    draft.tiles[name] = tile
    stem = rng.choice(["ld", "ld", "st"])
    access: dict[str, Yaml] = {
        "tile": name,
        "instruction": f"{stem}.shared.b{bits}" if bits != 32 or draft.chance(0.8) else "atom.shared.add.u32",
        "threads": rng.choice([32, 32, 64, 6]),
        "lanes": {"b": own},
        "coord": [row, column],
    }
    if staged and draft.chance(0.7):
        access["stage"] = rng.choice(["b%2", "b & 1", "warp%2", f"({few}) ? b/2%2 : 0"])
    if draft.chance(0.25):
        access["if"] = rng.choice(["b != 1", "lane < 5", "b < 2 && lane%8 < 3"])
    used = draft.fresh("own")
    draft.accesses[used] = access
    _claims(draft, used, bits // 8)
    draft.claim("in_bounds", used)
    if draft.chance(0.08):
        draft.claim("covers", {"access": used, "tile": name})
    if draft.chance(0.05):
        access["coord"], access["stage"] = ["lane%2", f"lane%{columns}"], 0
        access.pop("if", None)
        draft.claim("covers", {"access": used, "tile": name})


def _rows_of_pages(draft: Draft) -> None:
    """A fragment whose rows come from a table of pages."""
    rng = draft.rng
    rows = rng.choice([8, 16, 32])
    name = draft.fresh("pages")
    tile: dict[str, Yaml] = {"element": "f16", "layout": f"({rows},32):({rng.choice([32, 40, 64])},1)"}
    if draft.chance(0.5):
        tile["swizzle"] = swizzle_value(rng, swizzle_numbers(rng, 3, 9), on_address=False)
    draft.tiles[name] = tile
    few = _few(draft)
    used = draft.fresh("own")
    draft.accesses[used] = {
        "tile": name,
        "instruction": rng.choice(["ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "stmatrix.x2", "ldmatrix.x4.trans"]),
        "threads": rng.choice([32, 64]),
        "lanes": {"p": rng.choice([2, 3, 4])},
        "coord": [
            rng.choice([f"({few}) ? p*2 : lane%8", f"(lane + p)%{rows}", "p", f"(p*8 + lane%8)%{rows}"]),
            "lane/8%4*8",
        ],
    }
    _claims(draft, used, 16)
    draft.claim("in_bounds", used)

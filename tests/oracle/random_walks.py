"""Random walks: pointers that move from one iteration to the next, and beside them the address that
they should have.
"""

from __future__ import annotations

import re

from .random_parts import WIDTH_BYTES, Draft, base_value
from .random_value_loops import value_loop
from .yaml_values import Yaml

STARTS = (
    "tid*16",
    "lane*16 + warp*512",
    "lane%8*128 + lane/8*16",
    "(lane%8*8 ^ lane/4)*16",
    "tid*4 + 2048",
    "lane%16*64 + i*1024",
    "i*16 + lane*32",
    "4096 - tid*16",
    "tid*2",
    "0",
)
STEPS = ("16", "4", "128", "512", "-16", "s*16", "s%2*64 - 32", "lane%2*16", "(s == 2)*128", "s*s*4", "-tid*16", "i*16")
XORS = ("16", "32", "64", "112", "s%2*32", "(s ^ s + 1)*16", "lane%2*16", "s*16", "(s % 4 == 3)*64", "i*32", "-16")


def walks(draft: Draft) -> None:
    """A walk, claims on it, and mostly the address that it should have."""
    rng = draft.rng
    instruction = rng.choice(("ld.shared.b32", "ld.shared.v4.b32", "st.shared.b64", "ldmatrix.x4", "ld.shared.b8"))
    bounds, values = _loop(draft)
    loops: dict[str, Yaml] = {"s": bounds}
    if draft.chance(0.4):
        loops["i"] = rng.choice((1, 2, 3))
    walk: dict[str, Yaml] = {"start": _text(draft, STARTS, loops)}
    moved = rng.choice((("step",), ("xor",), ("step", "xor")))
    walk |= {key: _text(draft, STEPS if key == "step" else XORS, loops) for key in moved}
    if draft.chance(0.1):
        walk["step"] = "1 << 31 - s%2" if draft.chance(0.3) else f"tid/{rng.choice((4, 8))}*16"
    if len(loops) > 1 or draft.chance(0.4):
        walk["over"] = "s"
    fields: dict[str, Yaml] = {
        "instruction": instruction,
        "threads": rng.choice((32, 64, 128)),
        "for": {key: loops[key] for key in rng.sample(list(loops), len(loops))},
        "walk": {key: walk[key] for key in rng.sample(list(walk), len(walk))},
    }
    kinds = ["aligned", "conflict_free", "wavefronts"]
    if draft.chance(0.5):
        fields["bytes"] = rng.choice((2048, 4096, 8192, 65536))
        kinds.append("in_bounds")
    elif (base := base_value(draft, 1)) is not None:
        fields["base"] = base
    if draft.chance(0.25) and not instruction.startswith("ldmatrix"):
        fields["if"] = rng.choice(("tid < 40", "s != 2", "lane % 2 == 0", "tid*16 >= 256"))
    if draft.chance(0.2):
        fields["assume"] = [rng.choice(("s < 8", "s % 2 == 0", "s != 4"))]
    if draft.chance(0.03):
        _spoil(draft, fields)
    name = draft.fresh("walk")
    draft.accesses[name] = fields
    for kind in rng.sample(kinds, 2):
        draft.claim(kind, {"access": name, "at_most": rng.choice((1, 2, 4, 8))} if kind == "wavefronts" else name)
    if draft.chance(0.7) and values:
        _compare(draft, name, fields, walk, sorted(values), WIDTH_BYTES.get(instruction, 16))


def _loop(draft: Draft) -> tuple[Yaml, list[int]]:
    """A loop, most often a plain one, and its values."""
    rng = draft.rng
    if draft.chance(0.3):
        bounds, values = value_loop(draft)
        return bounds, values
    start, step, count = rng.choice((0, 0, 0, 2, 64)), rng.choice((1, 1, 2, 16)), rng.choice((0, 1, 2, 3, 4, 5, 8))
    if start == 0 and step == 1:
        return count, list(range(count))
    return {"start": start, "stop": start + step * count, "step": step}, [start + step * at for at in range(count)]


def _text(draft: Draft, texts: tuple[str, ...], loops: dict[str, Yaml]) -> Yaml:
    text = draft.rng.choice([each for each in texts if "i" in loops or not re.search(r"\bi\b", each)])
    return int(text) if text.isdigit() and draft.chance(0.5) else text


def _compare(
    draft: Draft, name: str, fields: dict[str, Yaml], walk: dict[str, Yaml], values: list[int], width: int
) -> None:
    """The address written out, case by case; now and then a mistake in it."""
    rng = draft.rng
    start, step, xor = (str(walk.get(key, 0)) for key in ("start", "step", "xor"))
    mistake = rng.choice(("", "", "", "order", "late", "early", "bit", "last"))
    at = f"({start})"
    cases: list[str] = []
    for value, after in zip(values, [*values[1:], values[-1]], strict=True):
        cases.append(at)
        there = after if mistake == "late" else value
        moved, changed = (re.sub(r"\bs\b", f"({there})", text) for text in (step, xor))
        at = f"((({at}) + ({moved})) ^ ({changed}))" if mistake == "order" else f"((({at}) ^ ({changed})) + ({moved}))"
    if mistake == "early":
        cases = [*cases[1:], at]
    if mistake == "bit":
        chosen = rng.randrange(len(cases))
        cases[chosen] = f"({cases[chosen]} ^ {width})"
    if mistake == "last":
        cases[-1] = cases[0]
    text = cases[-1]
    for value, case in reversed(list(zip(values[:-1], cases[:-1], strict=True))):
        text = f"(s == {value} ? {case} : {text})"
    if len(text) > 3000 or text.count("^") + text.count("+") > 40:
        return
    other = {key: value for key, value in fields.items() if key != "walk"}
    other["address"] = text
    twin = draft.fresh("direct")
    draft.accesses[twin] = other
    draft.claim("equivalent", [name, twin] if draft.chance(0.5) else [twin, name])


def _spoil(draft: Draft, fields: dict[str, Yaml]) -> None:
    """A walk that the page calls an error."""
    walk = dict(fields["walk"]) if isinstance(fields["walk"], dict) else {}
    kind = draft.rng.choice(("over", "start", "address", "still", "open", "own"))
    match kind:
        case "over":
            walk["over"] = draft.rng.choice(("t", "tid"))
        case "start":
            walk["start"] = "s*16"
        case "address":
            fields["address"] = "tid*4"
        case "still":
            walk = {"start": walk["start"]}
        case "open":
            fields["for"] = {**(fields["for"] if isinstance(fields["for"], dict) else {}), "u": "any"}
        case _:
            fields["lanes"] = {"bin": 4}
            walk["step"] = "bin*16"
    fields["walk"] = walk

"""Random pairs of accesses whose loops are the same in another order, or not quite the same, for
`equivalent`.
"""

from __future__ import annotations

from .random_endings import add_ending, as_open
from .random_open_loops import LIMITS, open_access
from .random_parts import WIDTH_BYTES, Draft
from .yaml_values import Yaml


def open_pair(draft: Draft) -> None:
    """An access in open loops and one that differs in what exists, in the order of its loops, or in
    a loop.
    """
    rng = draft.rng
    name = open_access(draft)
    fields = draft.accesses[name]
    assert isinstance(fields, dict)
    other = dict(fields)
    for _ in range(rng.choice((1, 1, 2))):
        _change(draft, other)
    if draft.chance(0.35):
        # Only a few iterations run: what does not exist beyond them makes no difference.
        k = rng.choice(("k < 2", "k == 0", "k < 1", "k < 40", "k == 2147483648"))
        for each in (fields, other):
            each["if"] = f"({each['if']}) && {k}" if "if" in each else k
    if draft.chance(0.2):
        for each in (fields, other):
            each["if"] = f"({each.get('if', 1)}) && k < 0"
    twin = draft.fresh("any")
    draft.accesses[twin] = other
    draft.claim("equivalent", [name, twin] if draft.chance(0.5) else [twin, name])


def _change(draft: Draft, fields: dict[str, Yaml]) -> None:
    rng = draft.rng
    loops = fields["for"]
    assert isinstance(loops, dict)
    kind = rng.choice(("ending", "ending", "ending", "order", "words", "words", "loop", "if", "limit"))
    match kind:
        case "ending":
            add_ending(draft, as_open(fields))
        case "order":
            fields["for"] = {key: loops[key] for key in reversed(loops)}
        case "words":
            for key in ("address", "stage", "if"):
                if key in fields:
                    fields[key] = _in_other_words(draft, str(fields[key]))
            if isinstance(coordinates := fields.get("coord"), list):
                fields["coord"] = [_in_other_words(draft, str(item)) for item in coordinates]
        case "loop":
            if draft.chance(0.4):
                fields["for"] = {**loops, "j": rng.choice((1, 2, "any"))}
        case "limit":
            if "i" in loops and draft.chance(0.5):
                fields["for"] = {**loops, "i": rng.choice((1, 2, 3, 4))}
        case _:
            if draft.chance(0.5):
                condition = rng.choice((f"k < {rng.choice(LIMITS)}", f"k != {rng.choice(LIMITS)}", "tid != 4"))
                fields["if"] = f"({fields.get('if', 1)}) && {condition}"


def _in_other_words(draft: Draft, text: str) -> str:
    """The text with one form of k exchanged for another of the same value, or nearly so."""
    rng = draft.rng
    pairs = [
        ("k%8", "(k & 7)"),
        ("k%4", "(k & 3)"),
        ("k%2", "(k & 1)"),
        ("k%2", "(k%4%2)"),
        ("(k & 7)", "k%8"),
        ("(k & 3)", "k%4"),
        ("k/4", "(k >> 2)"),
        ("k/2", "(k >> 1)"),
        ("tid", "(warp*32 + lane)"),
        ("k%3", "k%6%3"),
    ]
    fitting = [(a, b) for a, b in pairs if a in text]
    if fitting and draft.chance(0.8):
        a, b = rng.choice(fitting)
        return text.replace(a, b)
    return f"({text}) {rng.choice(('+ 0', '* 1', '| 0', '+ (k == 4294967295)', '^ (lane == 99)'))}"


def loop_orders(draft: Draft) -> None:
    """Ordinary loops in another order, with other limits, or one more."""
    rng = draft.rng
    instruction = rng.choice(("ld.shared.b32", "st.shared.v4.b32", "ld.shared.b64"))
    width = WIDTH_BYTES[instruction]
    loops: dict[str, Yaml] = {
        "i": rng.choice((2, 3, 4)),
        "k": {"start": rng.choice((0, 8)), "stop": rng.choice((24, 32)), "step": 8},
    }
    if draft.chance(0.3):
        loops["j"] = rng.choice((1, 2))
    terms = [
        f"tid*{width}",
        f"i*{rng.choice((128, 512))}",
        f"k*{rng.choice((16, 64))}",
        *(["j*4096"] if "j" in loops else []),
    ]
    fields: dict[str, Yaml] = {
        "instruction": instruction,
        "threads": rng.choice((32, 40, 64)),
        "for": loops,
        "address": " + ".join(terms),
    }
    if draft.chance(0.4):
        fields["if"] = rng.choice(("i < k", "k%16 == 0", "i*8 <= k || tid < 7", "i != 1"))
    if draft.chance(0.2):
        fields["if"] = "tid >= 64"
    if draft.chance(0.2):
        fields["assume"] = [rng.choice(("i < 2", "k >= 16", "i*8 == k"))]
    other = dict(fields)
    order = rng.sample(list(loops), len(loops))
    changed = {key: loops[key] for key in order}
    kind = rng.choice(("order", "order", "order", "limit", "start", "more", "fewer", "swapped", "assume"))
    match kind:
        case "limit":
            changed["i"] = rng.choice((1, 2, 3, 4, 5))
        case "start":
            changed["k"] = {"start": rng.choice((0, 8, 16)), "stop": 32, "step": rng.choice((8, 4))}
        case "more":
            changed["n"] = rng.choice((1, 2))
        case "fewer":
            del changed["i"]
            other["address"] = f"tid*{width} + k*16"
            other.pop("if", None)
            other.pop("assume", None)
        case "swapped":
            # The names change places: i runs where k ran.
            changed["i"], changed["k"] = changed["k"], changed["i"]
        case "assume":
            other["assume"] = [rng.choice(("i < 2", "k < 24", "i + k >= 0"))]
        case _:
            pass
    other["for"] = changed
    other["address"] = " + ".join(rng.sample(terms, len(terms))) if kind != "fewer" else other["address"]
    if "i" in changed and draft.chance(0.2):
        other["address"] = f"{other['address']} + (i == 1)*{rng.choice((0, 16))}"
    p, q = draft.fresh("acc"), draft.fresh("acb")
    draft.accesses[p], draft.accesses[q] = fields, other
    draft.claim("equivalent", [p, q] if draft.chance(0.5) else [q, p])

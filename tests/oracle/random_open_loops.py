"""Random accesses in loops marked `any`: places that repeat or move on, and terms that leave the
range in some thread.

The forms are those of which the oracle knows what stands for all iterations: a loop variable by
itself, modulo or divided by a constant, in a comparison, or times what no open loop changes. Of two
open loops a term has one.
"""

from __future__ import annotations

from .random_endings import LARGE, OpenAccess, add_ending, hidden
from .random_parts import WIDTH_BYTES, Draft, element
from .yaml_values import Yaml

INSTRUCTIONS = (
    "ld.shared.b32",
    "ld.shared.b32",
    "st.shared.b16",
    "ld.shared.b64",
    "ld.shared.v4.b32",
    "st.shared.v4.b32",
    "cp.async.16",
    "atom.shared.add.u32",
)
LIMITS = (1, 2, 3, 5, 40, 1000, 2_147_483_648, 3_000_000_000, 4_294_967_290, 4_294_967_295)


def open_access(draft: Draft) -> str:
    """An access in one or two open loops, sometimes beside an ordinary one; its name."""
    rng = draft.rng
    instruction = rng.choice(INSTRUCTIONS)
    threads = rng.choice((32, 32, 32, 64, 16, 40, 33, 7))
    drawn = OpenAccess({"instruction": instruction, "threads": threads}, ("k",), threads, WIDTH_BYTES[instruction])
    loops: dict[str, Yaml] = {"k": "any"}
    if draft.chance(0.2):
        loops = {"k": "any", "m": "any"} if draft.chance(0.7) else {"m": "any", "k": "any"}
        drawn = OpenAccess(drawn.fields, ("k", "m"), threads, drawn.width)
    elif draft.chance(0.25):
        loops["i"] = rng.choice((1, 2, 3))
    drawn.fields["for"] = loops
    if draft.chance(0.35):
        _add_coordinates(draft, drawn)
    else:
        _add_address(draft, drawn)
    if draft.chance(0.55):
        drawn.fields["if"] = _predicate(draft, drawn)
    if draft.chance(0.25):
        drawn.fields["assume"] = [_assumption(draft, drawn) for _ in range(rng.choice((1, 1, 2)))]
    if draft.chance(0.55):
        add_ending(draft, drawn)
    name = draft.fresh("any")
    draft.accesses[name] = drawn.fields
    return name


def open_loops(draft: Draft) -> None:
    """An access in open loops, with claims of every kind."""
    rng = draft.rng
    name = open_access(draft)
    fields = draft.accesses[name]
    assert isinstance(fields, dict)
    kinds = ["aligned", "conflict_free", "wavefronts"]
    if "tile" in fields or "bytes" in fields:
        kinds.append("in_bounds")
    if "tile" in fields and not str(fields["coord"]).startswith(("['k*", "['m*")):
        # How often rows are touched that move on and on, the oracle does not count.
        kinds.append("covers")
    for kind in rng.sample(kinds, 3):
        if kind == "wavefronts":
            draft.claim(kind, {"access": name, "at_most": rng.choice((1, 2, 4, 8))})
        elif kind == "covers":
            draft.claim(kind, {"access": name, "times": rng.choice((1, 1, 2))})
        else:
            draft.claim(kind, name)


def ended_in_time(draft: Draft) -> None:
    """Shifts, quotients, stages and places that are defined in the first iterations only, and a
    loop that ends there.

    Or one iteration later, where they are an error.
    """
    rng = draft.rng
    last = rng.choice((1, 2, 3, 7, 30))
    ends_after = last + rng.choice((-1, 0, 0, 0, 0, 1))
    # k*large leaves the range beyond ends_after, for one thread or for all.
    large = 4_294_967_295 // max(1, ends_after)
    who = rng.choice(("", "", "*(tid == 31)", "*(lane > 30)"))
    term = hidden(draft, f"k*{large}{who}")
    instruction = rng.choice(("ld.shared.b32", "st.shared.b32", "ld.shared.v4.b32"))
    width = WIDTH_BYTES[instruction]
    fields: dict[str, Yaml] = {"instruction": instruction, "threads": rng.choice((32, 32, 40)), "for": {"k": "any"}}
    kind = rng.choice(("shift", "divisor", "address", "stage"))
    name = draft.fresh("any")
    if kind == "stage":
        tile = element(draft, 32)
        tile |= {"layout": f"(32,{width // 4}):({width // 4},1)", "stages": last + 1}
        place = draft.fresh("K")
        draft.tiles[place] = tile
        fields |= {"tile": place, "coord": ["lane", 0], "stage": rng.choice((f"k + {term}", f"{last} - k + {term}"))}
    else:
        places = {
            "shift": f"(lane*{width} >> (k + {31 - last}))*{width}",
            "divisor": f"64/({last + 1} - k)*{width} + lane*{width}",
            "address": f"({last} - k)*{32 * width} + lane*{width}",
        }
        fields["address"] = rng.choice((f"{places[kind]} + {term}", f"{term} + {places[kind]}"))
        fields["bytes"] = rng.choice((128, 64 * width, 32 * width * (last + 1)))
    if draft.chance(0.3):
        fields["if"] = rng.choice(("k < 2", "tid != 3", f"k <= {last}", "lane < 16"))
    draft.accesses[name] = fields
    for each in rng.sample(("aligned", "in_bounds", "conflict_free"), 2):
        draft.claim(each, name)
    if kind == "stage" and draft.chance(0.7):
        draft.claim("covers", {"access": name, "times": rng.choice((1, 1, 2))})


# --- places ----------------------------------------------------------------------------------------------------------


def _who(draft: Draft) -> str:
    return draft.rng.choice(("tid", "tid", "lane"))


def _repeats(draft: Draft, k: str, times: int) -> str:
    """A term of k that repeats, or goes from one value to another, in steps of `times`."""
    rng = draft.rng
    return rng.choice(
        (
            f"{k}%{rng.choice((2, 3, 4, 8))}*{times}",
            f"{k}%{rng.choice((2, 4, 8))}*{times}",
            f"({k} & {rng.choice((1, 3, 7))})*{times}",
            f"{k}/{rng.choice((2, 4, 3))}%4*{times}",
            f"({k} >> 2 & 3)*{times}",
            f"({k} < {rng.choice(LIMITS)})*{times}",
            f"({k} == {rng.choice(LIMITS)})*{times}",
            f"({k} > {rng.choice(LIMITS)} ? {times} : {k}%2*{times})",
            f"min({k}, {rng.choice((1, 3))})*{times}",
            f"({k} - {k}/4*4)*{times}",
        )
    )


def _add_address(draft: Draft, drawn: OpenAccess) -> None:
    rng = draft.rng
    w, x = drawn.width, _who(draft)
    k = drawn.open_names[0]
    lanes = rng.choice(
        (
            f"{x}*{w}",
            f"{x}*{w}",
            f"(({x} ^ ({k} & {rng.choice((1, 3, 7))})) & 31)*{w}",
            f"({x} + {k})%32*{w}",
            f"{x}*{k}%32*{w}",
            f"({drawn.threads - 1} - tid)*{k} % 32*{w}",
            f"{x}*{w}*({k} < {rng.choice(LIMITS)})",
            f"{x}*{rng.choice((2, 3, 8, 32))}*{w}",
            f"{x}*{w} + ({k} == {rng.choice(LIMITS)})*{rng.choice((1, 2, w, 16))}",
        )
    )
    terms = [lanes]
    for name in drawn.open_names:
        if name != k and draft.chance(0.5):
            terms.append(_repeats(draft, name, rng.choice((w, 16, 128, 32 * w))))
        elif name == k and draft.chance(0.5):
            move = f"{k}*{rng.choice((w, 16, 64, 128, 512))}"
            terms.append(move if draft.chance(0.35) else _repeats(draft, k, rng.choice((w, 16, 64, 128, 32 * w))))
    loops = drawn.fields["for"]
    if isinstance(loops, dict) and "i" in loops:
        terms.append(f"i*{rng.choice((w, 128))}")
    if draft.chance(0.1):
        # Misaligned, or in other words, from some iteration on or in every other one.
        terms.append(_repeats(draft, rng.choice(drawn.open_names), rng.choice((1, 2, max(1, w // 2)))))
    drawn.fields["address"] = " + ".join(rng.sample(terms, len(terms)))
    if draft.chance(0.7):
        drawn.fields["bytes"] = rng.choice((128, 512, 1024, 2048, 4096))


def _add_coordinates(draft: Draft, drawn: OpenAccess) -> None:
    """Coordinates in a small tile of its own."""
    rng = draft.rng
    bits = rng.choice((8, 16, 32))
    vector = max(1, drawn.width * 8 // bits)
    bits = min(bits, 8 * drawn.width)
    chunks, rows = rng.choice((2, 4, 8)), rng.choice((4, 8, 16, 32))
    columns = chunks * vector
    tile = element(draft, bits)
    tile["layout"] = rng.choice(
        (
            f"({rows},{columns}):({columns},1)",
            f"((2,{rows // 2}),{columns}):(({columns},{2 * columns}),1)",
            {"shape": [rows, columns], "pad": vector},
        )
    )
    low = vector.bit_length() - 1
    if draft.chance(0.4) and chunks > 2:
        tile["swizzle"] = rng.choice(
            (f"Swizzle<1,{low},2>", f"Swizzle<2,{low},2>", {"bits": 1, "base": 4, "shift": 2, "on": "address"})
        )
    tile["base"] = rng.choice(({"align": 128}, {"align": 1024}, 1024))
    k, x = drawn.open_names[0], _who(draft)
    row = rng.choice(
        (
            f"({x}/{chunks} + {k})%{rows}",
            f"({x}/{chunks} + {_repeats(draft, k, rng.choice((1, 2)))})%{rows}",
            f"({x}/{chunks})%{rows}",
            f"{x}/{chunks}",
            f"{k}%{rows}",
            f"{k}*{rng.choice((1, 2))} + {x}/{chunks}%2",
        )
    )
    other = drawn.open_names[-1]
    chunk = rng.choice(
        (
            f"{x}%{chunks}",
            f"{x}%{chunks}",
            f"({x}%{chunks} ^ ({other} & {chunks - 1}))",
            f"({x} + {other})%{chunks}" if other == k else f"({x} + {other}%2)%{chunks}",
            f"({x} + ({other} == {rng.choice(LIMITS)}))%{chunks}",
        )
    )
    name = draft.fresh("K")
    drawn.fields.update({"tile": name, "coord": [row, f"{chunk}*{vector}"]})
    if draft.chance(0.3):
        tile["stages"] = 2
        drawn.fields["stage"] = rng.choice(
            (f"{k}%2", f"{other} & 1", f"{k} > {rng.choice(LIMITS)}", f"({x} + {k}%2)%2", f"min({k}, 1)")
        )
    draft.tiles[name] = tile


# --- conditions ----------------------------------------------------------------------------


def _predicate(draft: Draft, drawn: OpenAccess) -> str:
    rng = draft.rng
    k = rng.choice(drawn.open_names)
    limit = rng.choice(LIMITS)
    alone = rng.choice(
        (
            f"{k} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {limit}",
            f"{k} < {rng.choice((2, 3, 40))}",
            f"{k} == {rng.choice((0, 1, 7, 3_000_000_000))}",
            f"{k}%{rng.choice((2, 3, 5))} == {rng.choice((0, 1))}",
            f"({k} & 3) == {rng.choice((0, 1, 4))}",
            f"{k}/1000000000 == {rng.choice((0, 2, 4, 5))}",
            f"{k} >> 30 == {rng.choice((1, 3))}",
            f"{k}%4 == lane%4",
            f"{k} < tid",
            f"!{k}",
            k,
            "tid != 3",
            "lane < 16",
        )
    )
    if draft.chance(0.3):
        other = rng.choice(("tid < 8", "lane%2 == 0", f"{k} < {limit}", f"{drawn.open_names[-1]}%2 == 0"))
        return f"({alone}) {rng.choice(('&&', '||', '!='))} ({other})"
    return alone


def _assumption(draft: Draft, drawn: OpenAccess) -> str:
    rng = draft.rng
    k = rng.choice(drawn.open_names)
    limit = rng.choice(LIMITS)
    return rng.choice(
        (
            f"{k} < {limit}",
            f"{k} >= {limit}",
            f"{k} < {rng.choice((1, 4, 40))}",
            f"{k}%2 == 0",
            f"{k}*{rng.choice(LARGE)} >= 0",
            f"{k}*1000000 < {limit}",
            f"({k} & 7) < 3",
        )
    )

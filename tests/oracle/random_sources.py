"""Random copies of 16 bytes that say where they read: rows with a pitch, swapped and shared chunks,
unknown and known places of the array, and what the page refuses.
"""

from __future__ import annotations

from .random_copies import copy_address, partial_octets
from .random_parts import Draft
from .yaml_values import Yaml

PITCHES = (16, 32, 48, 64, 80, 96, 128, 144, 160, 256, 272, 512, 1024, 4096)


def sourced_copies(draft: Draft) -> None:
    """A copy of 16 bytes with its source, and claims on it."""
    rng = draft.rng
    x = rng.choice(("tid", "lane"))
    fields: dict[str, Yaml] = {"instruction": "cp.async.16", "threads": rng.choice((32, 32, 32, 64, 8, 20, 40))}
    loops: dict[str, Yaml] = {}
    if draft.chance(0.4):
        loops["k"] = rng.choice((2, 3, {"start": 0, "stop": 64, "step": 16}, [1, 2, 4], 5000, "any"))
        fields["for"] = loops
    fields["address"] = _destination(draft, x) + (rng.choice((" + k*128", " + k*16", " + k*2048")) if loops else "")
    source = _source(draft, x) + (rng.choice((" + k*128", " + k*64", " + k*16", " + k*4096", "")) if loops else "")
    if draft.chance(0.07):
        source += rng.choice((" + 8", " - 16", " - 16*tid", "*4/3"))
    base = rng.choice(
        (None, None, 0, 16, 4096, {"align": 16}, {"align": 32}, {"align": 64}, {"align": 128}, {"align": 256})
    )
    if draft.chance(0.05):
        base = rng.choice(({"align": 8}, 4, 100))
    fields["source"] = source if base is None and draft.chance(0.5) else {"address": source}
    if base is not None:
        fields["source"] = {"address": source, "base": base}
    if draft.chance(0.4):
        fields["base"] = rng.choice((0, 128, 48, {"align": 128}, {"align": 16}, {"align": 1024}))
    if draft.chance(0.3):
        fields["if"] = partial_octets(draft)
    if draft.chance(0.04):
        fields["instruction"] = rng.choice(("cp.async.8", "cp.async.ca.16", "ld.shared.v4.b32", "st.shared.v4.b32"))
    if draft.chance(0.05) and "any" not in loops.values():
        fields["lanes"] = {"b": 2}
        if draft.chance(0.7):
            fields["source"] = f"b*16 + {source}"
    if draft.chance(0.2):
        # What a careful kernel does: rows of whole lines from rows of whole lines.
        fields["address"], fields["base"] = f"({x} ^ {x}/8%8)*16", {"align": 128}
        fields["source"] = {"address": f"{x}/8*{rng.choice((128, 512))} + {x}%8*16", "base": {"align": 128}}
    name = draft.fresh("copy")
    draft.accesses[name] = fields
    kinds = ("aligned", "conflict_free", "wavefronts", "wavefronts", "exactly")
    for kind in sorted(set(rng.choices(kinds, k=2))):
        if kind == "exactly":
            draft.claim("wavefronts", {"access": name, "exactly": rng.choice((1, 2, 4, 8, 12, 16, 24))})
        elif kind == "wavefronts":
            draft.claim(kind, {"access": name, "at_most": rng.choice((1, 4, 6, 8, 12, 16, 24, 31, 32))})
        else:
            draft.claim(kind, name)


def _destination(draft: Draft, x: str) -> str:
    rng = draft.rng
    if draft.chance(0.4):
        return copy_address(draft, x)
    return rng.choice(
        (
            f"{x}*16",
            f"{x}*32",
            f"{x}/2*48 + {x}%2*16",
            f"{x}/4*64 + ({x}%4 ^ {x}/8%4)*16",
            f"{x}/4*64 + ({x}%4 + {x}/8)%4*16",
            f"{x}/8*{rng.choice((128, 144, 160, 192))} + {x}%8*16",
            f"({x} ^ {x}/8%8)*16",
            f"{x}%8*128 + {x}/8*16",
        )
    )


def _source(draft: Draft, x: str) -> str:
    rng = draft.rng
    if draft.chance(0.25):
        return copy_address(draft, x)
    pitch = rng.choice(PITCHES)
    return rng.choice(
        (
            f"{x}*16",
            f"{x}*{pitch}",
            f"{x}/2*{pitch} + {x}%2*16",
            f"{x}/4*{pitch} + {x}%4*16",
            f"{x}/8*{pitch} + {x}%8*16",
            f"{x}/16*{pitch} + {x}%16*16",
            f"({x} ^ {rng.randrange(1, 8)})*16",
            f"{x}/4*{pitch} + ({x}%4 ^ {x}/4%4)*16",
            f"{x}%8*{pitch} + {x}/8*16",
            f"{x}/2*16",
        )
    )

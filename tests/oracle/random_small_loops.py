"""Random accesses in open loops for a narrow range of values, in which all iterations can be run
through.

Their expressions are wilder than those of `random_open_loops`: many of them the oracle declines to
judge by few iterations. What it does not decline it must judge as if it had run through all.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .random_expressions import Source, text_of, wild
from .random_parts import Draft
from .yaml_values import Spec, Yaml

MOST_OF_ONE, MOST_OF_TWO = 2**9 - 1, 2**6 - 1
UNDEFINED_SOMEWHERE = ("9/({k}%4)", "9%({k} - 40)", "{k}%{t}", "9/({k}%3 - 1)", "1 >> ({k}%40)")


@dataclass(frozen=True, slots=True)
class Small:
    """What a spec is drawn from: its open loops and the largest value."""

    draft: Draft
    names: tuple[str, ...]
    most: int

    def low(self) -> int:
        return self.draft.rng.choice((2, self.most // 12, self.most // 5))

    def high(self) -> int:
        return self.draft.rng.choice((self.most * 2 // 5, self.most * 3 // 5, self.most - 12))


def small_spec(rng: random.Random, *, two: bool = False) -> Spec:
    """Two accesses, alike but for a term or not at all, in one open loop or in two; the largest
    value is `most`.
    """
    draft = Draft(rng)
    loops: dict[str, Yaml] = {"k": "any", "m": "any"} if two else {"k": "any"}
    if not two and draft.chance(0.2):
        loops["i"] = rng.choice((2, 3))
    small = Small(draft, tuple(loops), MOST_OF_TWO if two else MOST_OF_ONE)
    threads = 1 if len(loops) == 2 else rng.choice((1, 3, 4))
    left, right = _access(small, loops, threads), _access(small, loops, threads)
    if draft.chance(0.6):
        right = dict(left)
        key = "address" if "address" in right else "stage"
        right[key] = f"({right.get(key, 0)}) + 0*({_term(small, 'k')})"
    claims: list[Yaml] = [{kind: "A"} for kind in ("aligned", "conflict_free", "in_bounds")]
    claims.append({"equivalent": ["A", "B"]})
    spec: Spec = {"accesses": {"A": left, "B": right}, "claims": claims}
    if not two:
        spec["tiles"] = {"T": _tile(draft)}
    if "tile" in left:
        claims.append({"covers": {"access": "A", "times": rng.choice((1, 256, 2))}})
    return spec


def _tile(draft: Draft) -> Yaml:
    tile: dict[str, Yaml] = {"bits": 8, "layout": "(8,32):(32,1)", "stages": 2, "base": 0}
    if draft.chance(0.4):
        tile["layout"] = "((2,4),32):((128,32),1)"
    if draft.chance(0.4):
        on_address: Yaml = {"bits": 1, "base": 2, "shift": 3, "on": "address"}
        tile["swizzle"] = draft.rng.choice(("Swizzle<1,2,3>", on_address))
    return tile


def _access(small: Small, loops: dict[str, Yaml], threads: int) -> dict[str, Yaml]:
    draft, rng = small.draft, small.draft.rng
    width = rng.choice((1, 4))
    access: dict[str, Yaml] = {"instruction": f"ld.shared.b{8 * width}", "threads": threads, "for": loops}
    value = any_value(small)
    if small.most == MOST_OF_ONE and draft.chance(0.4):
        column = rng.choice(("tid*4", any_value(small), f"{any_value(small)}*4"))
        access |= {"tile": "T", "coord": [rng.choice((f"({value}) & 7", value, "tid%4")), column]}
        if draft.chance(0.4):
            access["stage"] = rng.choice((f"({any_value(small)}) & 1", "tid%2"))
    else:
        forms = (
            f"tid*{width} + ({value})*{rng.choice((4, 16, 32, 1 + small.most // 8))}",
            f"(({value}) & 15)*{width} + tid*16",
            f"tid*{width} + 0*({value})",
            value,
        )
        access |= {"address": rng.choice(forms), "bytes": rng.choice((small.most // 8, small.most // 2))}
    if draft.chance(0.5):
        condition = any_value(small)
        access["if"] = rng.choice((condition, f"{condition} < {rng.choice((0, 3, 100))}", f"{condition} == 3"))
    if draft.chance(0.3):
        access["assume"] = [rng.choice((f"k%8 < {rng.choice((0, 3, 9))}", f"k > {small.high()}"))]
    return access


def any_value(small: Small) -> str:
    """An expression of the loops, the thread, and numbers of the range."""
    draft, rng = small.draft, small.draft.rng
    if draft.chance(0.2):
        return text_of(wild(Source(rng, {}, ("tid", "lane", *small.names)), 3).tree)
    first = _term(small, rng.choice(small.names))
    if draft.chance(0.5):
        return first
    return f"({first} {rng.choice('+-*&^|<')} {_term(small, rng.choice(small.names))})"


def _term(small: Small, k: str) -> str:
    draft, rng = small.draft, small.draft.rng
    t = rng.choice(("tid", "lane", "(3 - tid)", "1", "(tid + 1)", "(tid == 2)", "2"))
    if draft.chance(0.03):
        return rng.choice(UNDEFINED_SOMEWHERE).format(k=k, t=t)
    low, high = small.low(), small.high()
    return rng.choice(
        (
            f"{k}%8",
            f"({k} & 3)",
            f"{k}*{t}*{rng.choice((1, 3, 10, small.most // 5))}",
            f"{k}/4%8",
            f"({k} + {t})%16",
            f"({k}*{rng.choice((2, 3, 4))} + {t})%{rng.choice((16, 12, 32))}",
            f"({k} - {rng.choice((3, high))})",
            f"-{k}",
            f"~{k}",
            f"({k} >> 2)",
            f"({k} << {rng.choice((1, 3))})",
            f"({k} ^ {t})",
            f"({k} | 5)",
            f"({k} & -8)",
            f"min({k}, {rng.choice((5, high))})",
            f"max({k}, {rng.choice((7, high))})",
            f"({k} < {rng.choice((low, high))} ? {k} : {t})",
            f"({k} - {low})%8",
            f"({k} - {low})/16",
            f"({k}%3 ? {k}%4 : {t})",
            f"({k} - {k}%4)",
            f"({k} + {k}%3*5)",
            f"8/({k}%3 + 1)",
            f"({k}*16 + {k}%5*9)",
            f"({k} == {rng.choice((3, high))})",
            f"({k} > {rng.choice((3, high))} && {k}%2)",
            f"(!{k})",
            f"(1 << ({k} & 3))",
        )
    )

"""Random specs of rings with roles, with mistakes in counts, stages, phase bits and the order of steps."""

from __future__ import annotations

import random

from .yaml_values import Spec, Yaml

ITERATIONS = 7
"""Iterations in which each mistake that is made here has shown itself."""


def role_spec(source: random.Random) -> Spec:
    """A spec with one phase of two or three roles with few threads, and a claim on it."""
    stages = source.choice((1, 1, 2, 2, 3))
    sizes = source.choice(((1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (1, 1, 1)))
    names = ["producer", "consumer", "other"][: len(sizes)]
    firsts = [sum(sizes[:at]) for at in range(len(sizes))]
    wrong = source.random() < 0.6

    def maybe(right: Yaml, *others: Yaml) -> Yaml:
        return source.choice(others) if wrong and source.random() < 0.15 else right

    width = 128
    accesses: dict[str, Yaml] = {}
    for name, kind in (("fill", "st"), ("read", "ld"), ("more", source.choice(("st", "ld", "ld")))):
        shift = maybe(0, 1)
        place = source.choice(("tid * 4", "0", "(tid ^ 1) * 4"))
        accesses[name] = {
            "instruction": f"{kind}.shared.b32",
            "threads": 32,
            "for": {"i": "any"},
            "address": f"(i + {shift}) % {stages} * {width} + {place}",
        }
    stage: Yaml = f"i % {stages}" if stages > 1 else 0
    full = f"i / {stages} % 2"
    empty = f"(i / {stages} + 1) % 2"
    steps: dict[str, list[Yaml]] = {
        "producer": [
            {"wait": "empty", "stage": stage, "phase": maybe(empty, full, "0", "1", "i % 2")},
            "fill",
            {"arrive": "full", "stage": maybe(stage, f"(i + 1) % {stages}")},
        ],
        "consumer": [
            {"wait": "full", "stage": maybe(stage, f"(i + 1) % {stages}"), "phase": maybe(full, empty, "0", "1")},
            "read",
            {"arrive": "empty", "stage": stage},
        ],
        "other": [
            {"wait": "full", "stage": stage, "phase": maybe(full, empty, "1")},
            {"access": "more", "at": {"i": maybe("i", "i + 1")}},
            {"arrive": "empty", "stage": stage},
        ],
    }
    for name in names:
        line = steps[name]
        if wrong and source.random() < 0.12:
            line.pop(source.choice((0, len(line) - 1)))
        if wrong and source.random() < 0.12:
            at = source.randrange(len(line) - 1)
            line[at], line[at + 1] = line[at + 1], line[at]
        if source.random() < 0.1:
            line.insert(source.randint(0, len(line)), "more" if source.random() < 0.5 else "read")
    arriving = sum(sizes[1:])
    roles: dict[str, Yaml] = {
        name: {"threads": f"tid >= {first} && tid < {first + size}", "steps": steps[name]}
        for name, first, size in zip(names, firsts, sizes, strict=True)
    }
    barriers: dict[str, Yaml] = {
        "full": {"stages": stages, "arrivals": maybe(sizes[0], sizes[0] + 1, max(1, sizes[0] - 1))},
        "empty": {"stages": stages, "arrivals": maybe(arriving, arriving + 1, max(1, arriving - 1))},
    }
    count: Yaml = source.choice(("any", "any", "any", 0, 1, 2, 5))
    return {
        "swzverify": 1,
        "target": "sm_90",
        "accesses": accesses,
        "phases": {"P": {"for": {"i": count}, "barriers": barriers, "roles": roles}},
        "claims": [{"race_free": "P"}],
    }

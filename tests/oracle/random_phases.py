"""Random specs with phases: rings of stages that are written and read in some order, with barriers
and waits at random places.
"""

from __future__ import annotations

import random

from .yaml_values import Spec, Yaml

THREADS = (32, 64)
WRITES = ("st.shared.b32", "st.shared.b32", "cp.async.4")
LOOPS: tuple[Yaml, ...] = ("any", "any", 5, 7, {"start": 2, "stop": 14, "step": 2})


def phase_spec(seed: int) -> Spec:
    """A spec with one phase, and claims on it."""
    source = random.Random(seed)
    threads, stages, loop = source.choice(THREADS), source.choice((1, 2, 2, 3, 4)), source.choice(LOOPS)
    names = ["T", "U"] if source.random() < 0.3 else ["T"]
    tiles: dict[str, Yaml] = {name: _tile(source, threads, stages, at, names) for at, name in enumerate(names)}
    accesses: dict[str, Yaml] = {}
    reads, writes = [], []
    for number in range(source.randint(2, 4)):
        writes_it = number == 0 or (number > 1 and source.random() < 0.3)
        name = f"{'w' if writes_it else 'r'}{number}"
        (writes if writes_it else reads).append(name)
        accesses[name] = _access(source, threads, stages, loop, source.choice(names), writes=writes_it)
    phase: dict[str, Yaml] = {"for": {"i": loop}, "steps": _steps(source, accesses)}
    claims: list[Yaml] = [{"race_free": "P"}]
    claims += [{"reads_what_was_written": {"read": read, "write": write}} for read in reads for write in writes]
    spec: Spec = {"target": "sm_90", "tiles": tiles, "accesses": accesses, "phases": {"P": phase}, "claims": claims}
    if len(names) > 1:
        spec["memories"] = {"M": {"bytes": 8192, "align": 1024}}
    return spec


def _tile(source: random.Random, threads: int, stages: int, at: int, names: list[str]) -> Yaml:
    layout = f"(8,{threads // 8}):{source.choice(('(1,8)', f'({threads // 8},1)'))}"
    tile: dict[str, Yaml] = {"element": "f32", "layout": layout, "stages": stages}
    if source.random() < 0.3:
        tile["swizzle"] = "Swizzle<2,0,3>"
    if len(names) > 1:
        # Where the second one begins, the first one ends, or has not yet ended.
        tile["base"] = {"in": "M", "offset": at * 1024 * source.choice((1, 1, 1, 0))}
    return tile


def _access(source: random.Random, threads: int, stages: int, loop: Yaml, tile: str, *, writes: bool) -> Yaml:
    thread = source.choice(("tid", "tid", "(tid ^ 1)", f"({threads - 1} - tid)", f"((tid + 5) % {threads})"))
    step = "i / 2" if isinstance(loop, dict) else "i"
    ahead = source.randrange(stages) if writes else source.choice((0, 0, 0, 1))
    access: dict[str, Yaml] = {
        "instruction": source.choice(WRITES) if writes else "ld.shared.b32",
        "tile": tile,
        "threads": threads,
        "for": {"i": loop},
        "coord": [f"{thread} % 8", f"{thread} / 8"],
        "stage": f"({step} + {ahead}) % {stages}",
    }
    if source.random() < 0.15:
        access["if"] = source.choice((f"tid < {threads // 2}", "tid % 2 == 0", "lane < 24"))
    if source.random() < 0.1 and writes and loop != "any":
        access["assume"] = "i != 4"
    return access


def _steps(source: random.Random, accesses: dict[str, Yaml]) -> list[Yaml]:
    """The accesses in some order, with what orders them."""
    steps: list[Yaml] = []
    order = list(accesses)
    source.shuffle(order)
    has_copy = False
    for name in order:
        steps.append(name)
        access = accesses[name]
        if isinstance(access, dict) and access["instruction"] == "cp.async.4":
            has_copy = True
            steps.append("commit_group")
    if has_copy:
        steps.insert(source.randint(0, len(steps)), {"wait_group": source.choice((0, 0, 1, 1, 2))})
    for _ in range(source.choice((0, 1, 1, 2, 2, 2))):
        place = source.randint(0, len(steps))
        waits = [at + 1 for at, step in enumerate(steps) if isinstance(step, dict)]
        steps.insert(waits[0] if waits and source.random() < 0.5 else place, "barrier")
    return steps

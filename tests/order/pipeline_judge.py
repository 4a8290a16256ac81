"""Holds a judge of races against the launches of random pipelines.

What a launch shows may depend on the order of the warps and on when copies complete. So each launch
runs several times, in random orders too. A kernel without a race in these runs may still have one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import Races, races_of

from .random_judge import Judge, Said
from .random_kernels import Kernel
from .random_pipelines import NUMBERS

ORDERS = (None, 1, 2)
"""The order of the code, and seeds of random orders."""
MORE = (None, *range(1, 25))
"""Orders that are tried before a race is taken for a false one."""
STEPS = 3000
_BOX = re.compile(
    r"cp\.async\.bulk\.tensor\.2d\.shared::cluster\.global(\S*) (\[[^]]*\]), \[([^,]*), \{[^}]*\}\], (\[[^]]*\]);"
    r" // box of (\d+)"
)
ENDINGS = ("free", "race", "race-benign", "divergent-barrier", "deadlock")


def untensored(text: str) -> str:
    """The same kernel with plain bulk copies: the interpreter knows no tensor maps, and section 11 tells them apart by
    their bytes alone.
    """
    return _BOX.sub(r"cp.async.bulk.shared::cluster.global\1 \2, [\3], \5, \4;", text)


def run(drawn: Kernel, number: int, order: int | None, steps: int = STEPS) -> Races:
    """The races of one run."""
    return races_of(untensored(drawn.text), "k", drawn.block, params=[number, Buffer(8192)], shuffle=order, steps=steps)


@lru_cache(maxsize=64)
def runs_of(drawn: Kernel) -> tuple[Races, ...]:
    """All runs of a kernel."""
    return tuple(run(drawn, number, order) for number in NUMBERS for order in ORDERS)


def is_undefined(each: Races) -> bool:
    """Whether a run does to a barrier what PTX does not define, or threads wait for ever."""
    return each.verdict == "divergent-barrier" or each.result.error.startswith(("FaultError", "HangError"))


def seen(runs: Iterable[Races]) -> frozenset[str]:
    """The verdicts of runs; those that did not end in a way that section 11 names count for nothing."""
    return frozenset(each.verdict for each in runs if each.verdict in ENDINGS)


def marked(said: Said, drawn: Kernel, runs: tuple[Races, ...]) -> str:
    """What the runs say of a judge's answer."""
    verdicts = seen(runs)
    bad = verdicts - {"free", "deadlock"}
    told = ", ".join(sorted(verdicts))
    for race in (race for each in runs if each.verdict in ENDINGS for race in said.denies(each)):
        return f"WRONG pair {race.lines} ({told})"
    if said.verdict in ("free", "race-benign") and bad - {said.verdict}:
        return f"WRONG {said.verdict} ({told})"
    if said.verdict == "divergent-barrier" and "cp.async.bulk.tensor" not in drawn.text:
        more = (run(drawn, number, order) for number in NUMBERS for order in MORE)
        if not any(map(is_undefined, runs)) and not any(map(is_undefined, more)):
            return f"FALSE divergent-barrier ({told})"
    known = {pair for each in runs for pair in each.lines()}
    # The interpreter has plain copies for tensor copies: they bring the bytes of the box, not those that are expected.
    is_of_box = "cp.async.bulk.tensor" in drawn.text
    is_other_box = is_of_box and any(each.startswith("wrong: bytes") for each in drawn.constructs)
    for each in () if is_other_box else (said,) if is_of_box else (said, *said.others):
        number = next((value for name, value in each.parameters.items() if name.split("+")[0] == "n"), NUMBERS[-1])
        if each.lines is not None and each.verdict in ("race", "depends") and each.lines not in known and number < 100:
            known |= {pair for order in MORE for pair in run(drawn, number, order).lines()}
            if each.lines not in known:
                return f"FALSE {each.verdict} ({told})"
    return f"{said.verdict} ({told})"


def judge_kernels(
    kernels: Iterable[Kernel], judge: Judge, runs: Callable[[Kernel], tuple[Races, ...]] = runs_of
) -> tuple[Counter[str], list[str]]:
    """How often each answer of a judge came on these kernels, and the wrong answers."""
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for drawn in kernels:
        said = judge(drawn.text, drawn.block)
        mark = marked(said, drawn, runs(drawn))
        total[mark] += 1
        if mark.startswith(("WRONG", "FALSE")):
            wrong.append(f"seed {drawn.seed}: {mark}; {said}; {sorted(drawn.constructs)}")
    return total, wrong

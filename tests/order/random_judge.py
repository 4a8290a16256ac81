"""Holds a judge of races against the launches of random kernels.

    python -m tests.order.random_judge FIRST LAST

prints how often each construct appears in them, and what the launches show. The judge is any
function of a kernel's text and block; `judge_random` counts where the launches contradict it.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from tests.ptx_oracle import Buffer
from tests.ptx_oracle.race_cases import CASES
from tests.ptx_oracle.races import Races, races_of
from tests.ptx_oracle.touches import Race

from .random_kernels import GRID, NUMBERS, Kernel, kernel

MOST_TRIPS = 4096
"""A witness with a larger parameter is not run."""


@dataclass(frozen=True)
class Said:
    """What a judge says of a kernel.

    `lines` are the lines of the two accesses of a race, and `parameters` the launch that shows it; `others` has the
    same of more races. `pairs` has the verdict of each pair of lines that is not free, if anything is said of pairs.
    """

    verdict: str
    lines: tuple[int, int] | None = None
    parameters: Mapping[str, int] = field(default_factory=dict[str, int])
    others: tuple[Said, ...] = ()
    pairs: Mapping[tuple[int, int], str] | None = None

    def denies(self, races: Races) -> list[Race]:
        """The races of a launch whose pair of lines is said to be free, or to be harmless.

        Where no order is known of a bulk copy, one pair stands for all pairs of its instruction.
        """
        if self.pairs is None or races.divergences:
            return []
        stands = {line for lines, verdict in self.pairs.items() if verdict != "race-benign" for line in lines}
        return [race for race in races.pairs if self._denies(race, stands)]

    def _denies(self, race: Race, stands: set[int]) -> bool:
        verdict = (self.pairs or {}).get(race.lines)
        if verdict is None:
            return not (any(race.copies) and stands.intersection(race.lines))
        return verdict == "race-benign" and not race.is_benign


class CannotRunError(Exception):
    """A launch that the interpreter cannot run to its end, or not with all its accesses."""


Judge = Callable[[str, tuple[int, int, int]], Said]


def said_of(found: Any) -> Said:
    """What an object with `verdict` and `pairs` says, as the package's `KernelRaces` has them."""
    pairs: dict[tuple[int, int], str] = {}
    shown: list[Said] = []
    for pair in found.pairs:
        first, second = sorted((pair.first.line, pair.second.line))
        pairs.setdefault((first, second), str(pair.verdict))
        if pair.witness is not None:
            shown.append(Said(str(pair.verdict), (first, second), dict(pair.witness.parameters)))
    if str(found.verdict) == "unknown" and not pairs and not found.free_pairs:
        return Said("unknown")  # The kernel was not followed.
    shown.sort(key=lambda each: each.verdict != str(found.verdict))
    if not shown or shown[0].verdict != str(found.verdict):
        return Said(str(found.verdict), others=tuple(shown), pairs=pairs)
    return replace(shown[0], others=tuple(shown[1:]), pairs=pairs)


@lru_cache(maxsize=512)
def launched(text: str, block: tuple[int, int, int], number: int, seed: int = 1) -> Races:
    """The races of the launch with this parameter."""
    found = races_of(text, "k", block, (GRID,), params=[number, Buffer(4096, "mod:8")], seed=seed, steps=20_000)
    # A warp that has parted may do what the interpreter refuses.
    if (found.result.error and not found.divergences) or found.left_out:
        raise CannotRunError(f"n={number}: {found.result.error} {found.left_out}")
    return found


def truth(drawn: Kernel, numbers: Iterable[int] = NUMBERS) -> dict[int, Races]:
    """What the launches of a kernel show, by the parameter."""
    return {number: launched(drawn.text, drawn.block, number) for number in numbers}


def verdict_of(launches: Mapping[int, Races]) -> str:
    """One verdict for all launches: `depends` if some race and some do not."""
    seen = {races.verdict for races in launches.values()}
    for verdict in ("divergent-barrier", "race", "race-benign"):
        if verdict in seen:
            return "depends" if verdict == "race" and seen & {"free", "race-benign"} else verdict
    return "free"


def marked(said: Said, drawn: Kernel, launches: Mapping[int, Races]) -> str:
    """What the launches say of a judge's answer; `WRONG` where they contradict it."""
    seen = verdict_of(launches)
    for number, found in launches.items():
        for race in said.denies(found):
            return f"WRONG pair {race.lines} at n={number} ({seen})"
    races = any(not race.is_benign for found in launches.values() for race in found.pairs)
    if said.verdict == "unknown":
        return f"unknown ({seen})"
    if said.verdict in ("free", "race-benign"):
        if races or seen == "divergent-barrier" or (said.verdict == "free" and seen == "race-benign"):
            return f"WRONG {said.verdict} ({seen})"
        if any(found.of_returned for found in launches.values()):
            return f"{said.verdict}, as returned threads have arrived"
        return said.verdict
    if said.verdict == "divergent-barrier":
        return said.verdict if seen == "divergent-barrier" else f"divergent-barrier not seen ({seen})"
    if said.lines is None:
        return f"{said.verdict} {'' if races else 'not seen '}({seen})"
    for each in (said, *said.others):
        number = next((value for name, value in each.parameters.items() if _is_number(name)), NUMBERS[0])
        if any(value > 1 for name, value in each.parameters.items() if name.startswith("ctaid")):
            continue  # the launches have two blocks
        if "atom.global" in drawn.text:
            continue  # the run of the judge may count from another word than the launches
        if not 0 <= number <= MOST_TRIPS:
            return f"{said.verdict} not run ({seen})"
        there = launches.get(number) or launched(drawn.text, drawn.block, number)
        if each.lines not in there.lines():
            more = "" if there.verdict == "free" else ", but others do"
            return f"FALSE {each.verdict}: its accesses have order{more} ({seen})"
    return f"{said.verdict} ({seen})"


def _is_number(name: str) -> bool:
    """Whether a value of a witness is that of the parameter, as a whole: `n`, or `n+0:4` for its bytes."""
    return name in ("n", "n+0:4", "k_param_0", "k_param_0+0:4")


def judge_random(first: int, last: int, judge: Judge) -> tuple[Counter[str], list[str]]:
    """How often each answer of a judge came on the kernels of these seeds, and the wrong answers."""
    return _judged(map(kernel, range(first, last)), judge, NUMBERS)


def judge_cases(judge: Judge) -> tuple[Counter[str], list[str]]:
    """The same on the small kernels of `ptx_oracle`, whose verdicts are known."""
    cases = (Kernel(0, case.text, (64, 1, 1), frozenset({case.name})) for case in CASES)
    return _judged(cases, judge, (1,))


def _judged(kernels: Iterable[Kernel], judge: Judge, numbers: Iterable[int]) -> tuple[Counter[str], list[str]]:
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for drawn in kernels:
        try:
            launches = truth(drawn, numbers)
            said = judge(drawn.text, drawn.block)
            mark = marked(said, drawn, launches)
        except CannotRunError as error:
            total[f"cannot run: {error}"] += 1
            continue
        total[mark] += 1
        if mark.startswith(("WRONG", "FALSE")):
            wrong.append(f"seed {drawn.seed}: {mark}; {said}; {sorted(drawn.constructs)}")
    return total, wrong


def appearances(first: int, last: int) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """The verdicts of the launches, over all kernels and for each construct."""
    total: Counter[str] = Counter()
    by_construct: dict[str, Counter[str]] = defaultdict(Counter)
    for seed in range(first, last):
        drawn = kernel(seed)
        seen = verdict_of(truth(drawn))
        total[seen] += 1
        for construct in drawn.constructs:
            by_construct[construct][seen] += 1
    return total, by_construct


def main(words: list[str]) -> None:
    """Print how often each construct appears."""
    total, by_construct = appearances(int(words[0]), int(words[1]))
    print(dict(total))
    for construct, seen in sorted(by_construct.items()):
        print(f"  {construct}: {sum(seen.values())} kernels, {dict(seen)}")


if __name__ == "__main__":
    main(sys.argv[1:])

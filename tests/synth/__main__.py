"""A long run against brute force: `python -m tests.synth [--problems N] [--first SEED]`.

Each answer is proved by the prover too. The exit status is 1 where anything disagreed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from swzverify.errors import SwzError
from swzverify.prover import Options
from swzverify.search.synth.proof import prove_member
from swzverify.search.synth.solution import find
from tests.synth.agreement import compare, problem_of
from tests.synth.puzzles import puzzle


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.synth", description=__doc__)
    parser.add_argument("--problems", type=int, default=500, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(arguments.first, arguments.first + arguments.problems):
        asked = puzzle(seed)
        result = compare(asked)
        word = "skipped" if result.skipped else "impossible" if result.impossible else "free"
        differs = result.differs
        if not result.skipped and not differs:
            differs = _contradiction(seed)
        if differs:
            print(f"seed {seed}, {asked.family}: {differs}\n{asked.text()}", flush=True)
        counts["different" if differs else word] += 1
        counts["all"] += 1
        if counts["all"] % 50 == 0:
            print(f"{counts['all']} problems: {dict(counts)}", file=sys.stderr, flush=True)
    print(f"{counts['all']} problems: {dict(counts)}")
    return 1 if counts["different"] else 0


def _contradiction(seed: int) -> str:
    """What the prover says against an answer; a tile that no family can place has none."""
    problem = problem_of(puzzle(seed))
    try:
        answer = find(problem).answer
        prove_member(problem, answer, Options())
    except SwzError as error:
        return "" if error.code == "SWZ563" else error.message
    return ""


if __name__ == "__main__":
    raise SystemExit(main())

"""A long run against brute force: `python -m tests.sweep [--sweeps N] [--first SEED]`.

Every case is measured twice: together with those that differ in a swizzle alone, and by itself. The
exit status is 1 where anything disagreed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.sweep.agreement import differences
from tests.sweep.puzzles import puzzle


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("--sweeps", type=int, default=300, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    different = 0
    for seed in range(arguments.first, arguments.first + arguments.sweeps):
        for together in (True, False):
            wrong, found = differences(puzzle(seed), together=together)
            counts += found
            different += len(wrong)
            for each in wrong[:3]:
                print(f"seed {seed}: {each}", flush=True)
    print(
        f"{counts.total()} cases of {arguments.sweeps} sweeps, each measured twice: {dict(counts)}, {different} differ"
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

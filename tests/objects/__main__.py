"""A long run against plain enumeration: `python -m tests.objects [--objects N] [--first SEED]`.

The exit status is 1 where anything disagreed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.objects.agreement import differences


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.objects", description=__doc__)
    parser.add_argument("--objects", type=int, default=2000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    different = 0
    for seed in range(arguments.first, arguments.first + arguments.objects):
        wrong = differences(seed, counts)
        different += len(wrong)
        for each in wrong:
            print(f"seed {seed}: {each}", flush=True)
    print(f"{arguments.objects} objects: {dict(sorted(counts.items()))}; {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

"""Whether the package measures of a sweep what brute force says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import yaml

from swzverify.spec.sweep.bench import Bench, Question
from tests.sweep import oracle
from tests.sweep.puzzles import Puzzle

Row = dict[str, int | str | None]


def rows_of(puzzle: Puzzle, *, together: bool = True) -> list[Row]:
    """What the package measures, in pieces as a sweep's chunks are."""
    bench = Bench(Question(yaml.safe_dump(puzzle, sort_keys=False), "p.yaml"), together=together)
    step = max(1, len(bench.cases) // 3)
    return [row for first in range(0, len(bench.cases), step) for row in bench.rows(first, first + step)]


def differences(
    puzzle: Puzzle, *, together: bool = True, change: Callable[[Row], Row] = lambda row: row
) -> tuple[list[str], Counter[str]]:
    """What differs, in words, and how many cases there are of each status. `change` plants a mistake."""
    axes = list(puzzle["sweep"]["over"])
    expected = {tuple(case.values[name] for name in axes): case for case in oracle.cases(puzzle)}
    found = [change(row) for row in rows_of(puzzle, together=together)]
    numbers = [row["case"] for row in found]
    wrong = [] if len(set(numbers)) == len(numbers) == len(expected) else [f"{len(found)} rows, {len(expected)} cases"]
    counts: Counter[str] = Counter()
    for row in found:
        case = expected.get(tuple(row[name] for name in axes))  # type: ignore[misc]
        if case is None:
            wrong.append(f"a case that is none: {row}")
            continue
        counts[case.status] += 1
        if row["status"] != case.status:
            wrong.append(f"{case.values}: {row['status']} {row['code']} {row['message']}, by brute force {case.status}")
        if case.status == "refused":
            continue
        for name in puzzle["accesses"]:
            cost = case.costs.get(name, (None, None))
            measured = (row[f"{name}_wavefronts"], row[f"{name}_conflicts"])
            if measured != cost:
                wrong.append(f"{case.values}: {name} costs {measured}, by brute force {cost}")
        if case.status in ("free", "conflicts"):
            weights = {name: access.get("weight", 1) for name, access in puzzle["accesses"].items()}
            total = tuple(sum(case.costs[name][i] * weights[name] for name in weights) for i in (0, 1))
            if (row["wavefronts"], row["conflicts"]) != total:
                wrong.append(f"{case.values}: {row['wavefronts']}, {row['conflicts']} in all, by brute force {total}")
    return wrong, counts

"""Random messages of a few warps: the package's judge alone against their runs, pair by pair."""

from __future__ import annotations

from collections import Counter

import pytest

from swzverify.compiled.scan import races as scan
from swzverify.compiled.scan.given import Given
from tests.order.conftest import races_in
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import Races
from tests.ptx_oracle.races import races_of as launched

from .pipeline_judge import ENDINGS, ORDERS, STEPS
from .random_judge import said_of
from .random_messages import messages
from .random_ranks import Cluster


def runs_of(kernel: Cluster) -> list[Races]:
    """Runs of a kernel in some orders."""
    return [
        launched(
            kernel.text,
            "k",
            kernel.block,
            kernel.cluster,
            params=[1, Buffer(8192)],
            shuffle=order,
            steps=STEPS,
            cluster=kernel.cluster,
        )
        for order in ORDERS
    ]


@pytest.mark.parametrize("many", [512, -1], ids=["few pairs", "many pairs"])
@pytest.mark.parametrize(
    "seeds", [range(1, 3), pytest.param(range(300), marks=pytest.mark.nightly)], ids=["day", "night"]
)
def test_no_run_contradicts_the_judge(seeds: range, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of the package would find what its judge takes for free; with many pairs, places are asked for first."""
    monkeypatch.setattr(scan.Runs, "confirmed", lambda _, found, *__: found)
    monkeypatch.setattr(scan, "_MOST_QUESTIONS", many)
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for kernel in map(messages, seeds):
        given = Given(cluster=kernel.cluster) if kernel.ranks > 1 else Given()
        found = races_in(kernel.text, kernel.block, given)
        runs = [each for each in runs_of(kernel) if each.verdict in ENDINGS]
        denied = sorted({race.lines for each in runs for race in said_of(found).denies(each)})
        is_wrong = found.verdict.value == "free" and any(each.pairs for each in runs)
        total[f"{found.verdict.value} ({', '.join(sorted({each.verdict for each in runs}))})"] += 1
        if denied or is_wrong:
            wrong.append(f"seed {kernel.seed}: {found.verdict.value}, {denied}")
    print(dict(total))
    assert wrong == []

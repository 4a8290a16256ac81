"""Random kernels of clusters of several blocks: the package's judge against their runs, pair by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from functools import lru_cache
from types import ModuleType

import pytest

from swzverify.compiled.order import interleaved, projections
from swzverify.compiled.order.events import Act
from swzverify.compiled.order.objects import Key
from swzverify.compiled.scan.given import Given
from tests.order.conftest import races_in
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import Races
from tests.ptx_oracle.races import races_of as launched

from .pipeline_judge import ENDINGS, ORDERS, STEPS, seen
from .random_judge import Said, said_of
from .random_ranks import Cluster, helped, ranked

NUMBERS = (1, 4)


ABSENT = "the memory of a block is reached that is not there"
STAYS = "no block of a cluster returns before"


def said(kernel: Cluster) -> tuple[Said, bool]:
    """What the package says, and whether it assumes that no block returns too early."""
    found = races_in(kernel.text, kernel.block, Given(cluster=kernel.cluster))
    return said_of(found), any(each.startswith(STAYS) for each in found.assumptions)


@lru_cache(maxsize=64)
def runs_of(kernel: Cluster) -> tuple[Races, ...]:
    """All runs of a kernel."""
    return tuple(
        launched(
            kernel.text,
            "k",
            kernel.block,
            kernel.cluster,
            params=[number, Buffer(8192)],
            shuffle=order,
            steps=STEPS,
            cluster=kernel.cluster,
        )
        for number in NUMBERS
        for order in ORDERS
    )


def marked(kernel: Cluster, found: Said, *, stays: bool) -> str:
    """What the runs say of the package's answer; with `stays`, those in which a block is not there say nothing."""
    is_absent = [any(each.why == ABSENT for each in run.divergences) for run in runs_of(kernel)]
    runs = [run for run, absent in zip(runs_of(kernel), is_absent, strict=True) if not (absent and stays)]
    verdicts = seen(runs)
    told = ", ".join(sorted(verdicts))
    for race in (race for each in runs if each.verdict in ENDINGS for race in found.denies(each)):
        return f"WRONG pair {race.lines} ({told})"
    if found.verdict in ("free", "race-benign") and verdicts - {"free", "deadlock", found.verdict}:
        return f"WRONG {found.verdict} ({told})"
    return f"{found.verdict} ({told})"


def _judged(kernels: Iterable[Cluster]) -> tuple[Counter[str], list[str]]:
    """How often each mark came on some kernels, and what is wrong."""
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for kernel in kernels:
        answer, stays = said(kernel)
        mark = marked(kernel, answer, stays=stays)
        total[mark] += 1
        if mark.startswith("WRONG"):
            wrong.append(f"seed {kernel.seed}: {mark}; {sorted(kernel.constructs)}")
    return total, wrong


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(400), marks=pytest.mark.nightly)], ids=["day", "night"])
def test_no_run_contradicts_the_package(seeds: range) -> None:
    total, wrong = _judged(map(ranked, seeds))
    print(dict(total))
    assert wrong == []


@pytest.mark.parametrize("seeds", [(0, 3), pytest.param(range(200), marks=pytest.mark.nightly)], ids=["day", "night"])
def test_threads_that_arrive_beside_copies(seeds: Sequence[int]) -> None:
    total, wrong = _judged(ranked(seed, (helped,)) for seed in seeds)
    print(dict(total))
    assert wrong == []
    assert any(mark.startswith("free") for mark in total)
    assert any("race" in mark for mark in total)


def _without_copies(acts: Sequence[Set[tuple[Key, Act]]]) -> set[Key]:
    """As `_tying`, without the barriers to which a thread copies, at which another one arrives."""
    kinds = {Act.WAIT, Act.SYNC}, {Act.ARRIVE, Act.LEAVE, Act.SYNC, Act.COPY}
    waited, arrived = ({key for of in acts for key, act in of if act in kind} for kind in kinds)
    return waited & arrived


@pytest.mark.parametrize(
    ("room", "name", "mistake"),
    [(projections, "_tying", _without_copies), (interleaved, "_has_parity", lambda _: False)],
    ids=["arrivals beside copies are left out", "no phase has a parity"],
)
def test_planted_mistakes_are_found(
    room: ModuleType, name: str, mistake: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, name, mistake)
    assert _judged([ranked(3, (helped,))])[1]

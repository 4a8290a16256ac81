"""Clusters of several blocks that reach the shared memory of each other: verdicts, runs, and planted mistakes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pytest

from swzverify.compiled.kernel import ranks
from swzverify.compiled.order import barriers, events, objects, pipelines, walk
from swzverify.compiled.order.verdict import KernelRaces
from swzverify.compiled.scan import race_parts
from swzverify.compiled.scan.given import Given
from swzverify.ir.expr import TRUE
from tests.order.conftest import HEAD, races_in
from tests.order.ranks import RANKS
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import races_of as launched

Patch = Callable[[pytest.MonkeyPatch], None]
CLUSTER = (2, 1, 1)


def text_of(name: str) -> str:
    """The PTX of a kernel."""
    return f"{HEAD.replace('.reg .f32', '.reg .b16 %h<2>; .reg .f32')}{RANKS[name].body}\nret;\n}}\n"


@lru_cache(maxsize=64)
def known(name: str) -> KernelRaces:
    """The same, once."""
    return found(name)


def found(name: str) -> KernelRaces:
    """The verdict on a kernel."""
    return races_in(text_of(name), given=Given(cluster=CLUSTER))


@pytest.mark.parametrize("name", RANKS)
def test_free_only_if_right(name: str) -> None:
    assert known(name).verdict.value == ("free" if RANKS[name].verdict == "free" else "unknown")


@pytest.mark.parametrize("name", [name for name, each in RANKS.items() if each.verdict == "free"])
def test_runs_of_right_ones_are_free(name: str) -> None:
    for order in (None, 1):
        run = launched(
            text_of(name), "k", (64,), CLUSTER, params=[Buffer(8), 2, Buffer(512)], shuffle=order, cluster=CLUSTER
        )
        assert run.verdict == ("deadlock" if "hangs" in name else "free")


def test_what_is_assumed_is_said() -> None:
    said = known("a ring").assumptions
    assert "the launch has clusters of 2,1,1 blocks" in said
    assert any(each.startswith("no block of a cluster returns before") for each in said)
    assert not any("the only one of its cluster" in each for each in said)


@pytest.mark.parametrize(
    ("name", "words"),
    {
        "at once": "a block has begun",
        "returned before": "a block is still there",
        "in a block that the cluster has not": "may name a block that the cluster has not",
        "by another value of the address": "makes another value of an address in another block",
        "a ring, one arrival is enough": "2 arrivals may come to",
    }.items(),
)
def test_one_reason_says_what_is_not_known(name: str, words: str) -> None:
    assert words in known(name).reason


# ---- planted mistakes


def _barriers_of_blocks_are_of_the_cluster(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(barriers.Scope, "holds", lambda *_: True)


def _masks_are_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(walk.Walk, "_ranks", lambda *_: [0])


def _every_address_is_in_the_own_block(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ranks, "RANK_BITS", 32)


def _blocks_are_always_there(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(race_parts, "late_lines", lambda *_: [])


def _ranks_are_all_there(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ranks, "less", lambda *_, **__: TRUE)


def _addresses_are_never_stray(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pipelines, "stray_address", lambda _: None)


def _counts_need_not_add_up(patch: pytest.MonkeyPatch) -> None:
    right = objects._maker

    def wrong(key: objects.Expr, deeds: list[tuple[int, objects.Deed]], roles: list[objects.Role]) -> tuple[int, int]:
        shares = {at: deed.count for at, deed in deeds if deed.act is events.Act.ARRIVE}
        return right(key, deeds, roles)[0], sum(len(roles[at].threads) * share for at, share in shares.items())

    patch.setattr(objects, "_maker", wrong)


MISTAKES: dict[str, tuple[Patch, str]] = {
    "barriers": (_barriers_of_blocks_are_of_the_cluster, "with the barrier of the block"),
    "masks": (_masks_are_ignored, "a copy to the other block"),
    "own": (_every_address_is_in_the_own_block, "without a barrier"),
    "times": (_blocks_are_always_there, "returned before"),
    "begun": (_blocks_are_always_there, "at once"),
    "outside": (_ranks_are_all_there, "in a block that the cluster has not"),
    "stray": (_addresses_are_never_stray, "by another value of the address"),
    "counts": (_counts_need_not_add_up, "a ring, one arrival is enough"),
}


@pytest.mark.parametrize(
    "name", [each if each != "counts" else pytest.param(each, marks=pytest.mark.nightly) for each in MISTAKES]
)
def test_planted_mistakes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mistake of ours, some kernel that is not right is free."""
    patch, kernel = MISTAKES[name]
    patch(monkeypatch)
    assert found(kernel).verdict.value == "free"

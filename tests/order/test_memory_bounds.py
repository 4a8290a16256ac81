"""Loops that go through an array: what is called free has no race in any launch whose accesses are in bounds.

Random kernels store to `s` in a loop whose trips the parameter n gives, and to other places of `s` beside it. The
interpreter runs them with many n; launches that leave the array, of 8192 bytes, do not count.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import pytest

from swzverify.compiled.order.memory_bounds import MemoryBounds
from tests.nightly import counts
from tests.order.conftest import races_in
from tests.ptx_oracle import Buffer, races
from tests.ptx_oracle.race_cases import HEAD

WORDS = 2048
BLOCK = (64, 1, 1)
NUMBERS = (
    0,
    1,
    2,
    3,
    5,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    100,
    128,
    500,
    511,
    512,
    1000,
    1023,
    1024,
    1025,
    2000,
    2047,
    2048,
    2300,
)


def text_of(seed: int) -> str:
    """The kernel of a seed."""
    source = random.Random(seed)
    scale = source.choice((1, 1, 2, 4))  # words from trip to trip, by threads
    step = 64 * scale
    kind = source.choice(("up", "up", "down", "count", "count", "late", "most", "first"))
    beside = source.choice(("at n", "at n", "before n", "n less 1", "twice n", "word", "word", "few trips", "none"))
    lines = ["mov.u32 %r20, %r1;"]
    body = ["shl.b32 %r21, %r20, 2;", "add.u32 %r21, %r3, %r21;"]
    store = "st.shared.u32 [%r21], %r1;"
    if kind == "late":  # the access is not in every trip
        guard = source.randrange(2)
        body += [f"setp.ge.u32 %p5, %r20, {source.choice((0, 64, 512))};", f"@%p5 {store}" if guard else store]
    elif kind == "first":  # nor is it here, and what stands beside it is made in late trips
        body += [
            "setp.lt.u32 %p5, %r20, 512;",
            f"@%p5 {store}",
            f"setp.ge.u32 %p5, %r20, {source.choice((512, 2200))};",
        ]
        body += ["@%p5 st.shared.u32 [%r3+28], %r1;"]
    else:
        body.append(store)
    at = {
        "at n": "add.u32 %r22, %r20, %r2;",
        "before n": "sub.u32 %r22, %r2, %r20;",
        "twice n": "mad.lo.u32 %r22, %r2, 2, %r20;",
    }
    at["n less 1"] = "add.u32 %r22, %r20, %r2;\nsub.u32 %r22, %r22, 1;"
    if beside in at:
        body += [at[beside], "shl.b32 %r22, %r22, 2;", "add.u32 %r22, %r3, %r22;", "st.shared.u32 [%r22], %r1;"]
    body.append(f"add.u32 %r20, %r20, {step};")
    if kind == "down":  # from the end of the array to its start
        body[1] = "sub.u32 %r21, %r3, %r21;\nadd.u32 %r21, %r21, 8188;"
    if kind == "count":
        lines += ["mov.u32 %r23, %r2;", "setp.eq.u32 %p6, %r2, 0;", "@%p6 bra OUT;"]
        body += ["sub.u32 %r23, %r23, 1;", "setp.ne.u32 %p6, %r23, 0;"]
    else:
        less = "gt" if kind == "most" else "ge"
        lines += [f"setp.{less}.s32 %p6, %r1, %r2;", "@%p6 bra OUT;"]
        body += [f"setp.{'le' if kind == 'most' else 'lt'}.s32 %p6, %r20, %r2;"]
    lines += ["L:", *body, "@%p6 bra L;", "OUT:"]
    if beside == "word":
        place = 4 * source.choice((0, 1024, 1500, 2000, 2040, 2047))
        lines += ["setp.eq.u32 %p7, %r1, 5;", f"@%p7 st.shared.u32 [%r3+{place}], %r1;"]
    if beside == "few trips":
        lines += [
            "setp.eq.u32 %p8, %r1, 5;",
            "setp.lt.and.u32 %p7, %r2, 20, %p8;",
            "@%p7 st.shared.u32 [%r3+256], %r1;",
        ]
    return HEAD + "\n".join(lines) + "\nret;\n}\n"


def judged(text: str) -> Any:
    """What the races of a kernel are said to be."""
    return races_in(text, BLOCK)


@lru_cache(maxsize=256)
def shown(text: str) -> tuple[int, ...]:
    """The parameters of launches that stay in the array and have a race."""
    found: list[int] = []
    for number in NUMBERS:
        run = races.races_of(text, "k", BLOCK, params=[number, Buffer(4096, "u32")])
        if not run.result.error and run.verdict != "free":
            found.append(number)
    return tuple(found)


def held(seeds: Iterable[int]) -> Counter[str]:
    """How many kernels have each verdict.

    Raises:
        AssertionError: A kernel that is called free has a race.
    """
    found = Counter[str]()
    for seed in seeds:
        text = text_of(seed)
        said = judged(text)
        found[said.verdict] += 1
        if said.verdict == "free":
            found["by the array"] += any("stays within" in each for each in said.assumptions)
            assert not shown(text), (seed, shown(text))
    return found


@pytest.mark.parametrize("count", counts(12, 800))
def test_no_free_loop_has_a_race(count: int) -> None:
    found = held(range(count))
    assert found["by the array"] > count // 8
    assert found["race"] + found["depends"] > count // 8


@pytest.mark.parametrize("end", ["4096", "%r9"])
def test_what_every_launch_breaks_is_not_assumed(end: str) -> None:
    """The loop leaves the array in each launch, behind a race."""
    lines = (
        "setp.eq.u32 %p7, %r1, 5;",
        "@%p7 st.shared.u32 [%r3+256], %r1;",
        "max.u32 %r9, %r2, 5000;",
        "mov.u32 %r20, %r1;",
        "L:",
        "shl.b32 %r21, %r20, 2;",
        "add.u32 %r21, %r3, %r21;",
        "st.shared.u32 [%r21], %r1;",
        "add.u32 %r20, %r20, 64;",
        f"setp.lt.u32 %p6, %r20, {end};",
        "@%p6 bra L;",
    )
    text = HEAD + "\n".join(lines) + "\nret;\n}\n"
    run = races.races_of(text, "k", BLOCK, params=[1, Buffer(4096, "u32")])
    assert run.verdict == "race"
    assert "outside" in run.result.error
    assert judged(text).verdict != "free"


def _too_few_trips(patch: pytest.MonkeyPatch) -> None:
    """The last trip is taken as one that came long before."""
    right = MemoryBounds._last_trip

    def wrong(*given: Any) -> int | None:
        last = right(*given)
        return None if last is None else last // 2

    patch.setattr(MemoryBounds, "_last_trip", wrong)


def _not_in_every_trip(patch: pytest.MonkeyPatch) -> None:
    """An access counts although some trips do not make it."""
    patch.setattr(MemoryBounds, "_is_in_every_trip", lambda *_: True)


def _any_condition(patch: pytest.MonkeyPatch) -> None:
    """Every loop goes on only from trips that come after others from which it went on."""
    right = MemoryBounds.__init__
    patch.setattr(MemoryBounds, "__init__", lambda self, kernel, _never: right(self, kernel, lambda _: True))


@pytest.mark.parametrize(("plant", "seed"), [(_too_few_trips, 8), (_not_in_every_trip, 53), (_any_condition, 70)])
def test_planted_mistakes_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    held([seed])
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        held([seed])

"""Random specs against themselves, and random domains against the sets of their points."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.apps.diff.points import cover
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_parse import parse
from swzverify.spec import SpecError
from swzverify.subjects import Access, Loop
from tests.nightly import share
from tests.oracle.random_parts import seeded
from tests.oracle.random_specs import random_spec
from tests.spec.test_oracle_specs import as_yaml

from .conftest import between, outcome, placed

LOAD, CHIP = find_instruction("ld.shared.b32"), find_target("sm_90")


def readable(seed: int) -> str | None:
    """A random spec that loads, as text."""
    text = as_yaml(random_spec(seeded(seed)), blocks=True)
    try:
        placed(text)
    except SpecError:
        return None
    return text


@pytest.mark.parametrize("first", share(range(0, 60, 15), 4))
def test_a_random_spec_says_the_same_as_itself_however_it_is_written(first):
    compared = 0
    for seed in range(first, first + 15):
        text = readable(seed)
        if text is None:
            continue
        other = as_yaml(random_spec(seeded(seed)), blocks=False)
        assert outcome(text, other) == {}, text
        compared += 1
    assert compared > 8


@pytest.mark.parametrize("first", share(range(0, 60, 15), 4))
def test_what_random_specs_lack_is_never_called_unchanged(first):
    """Each claim taken out alone is told, and none of the others."""
    taken = 0
    for seed in range(first, first + 15):
        text = readable(seed)
        spec = random_spec(seeded(seed))
        if text is None or not isinstance(spec["claims"], list) or len(spec["claims"]) < 2:
            continue
        if "standard" in spec["claims"]:
            continue
        less = as_yaml({**spec, "claims": spec["claims"][1:]}, blocks=True)
        found = [each for each in between(text, less) if each.status.value != "unchanged" or each.note]
        assert found, text
        # Another claim of the list may say as much, which is then named.
        assert all(each.status.value in ("deleted", "weakened") or each.note.startswith("said by") for each in found)
        taken += 1
    assert taken > 2


CONDITIONS = [
    "tid < 40", "lane < 16", "tid % 3 != 1", "i < 2", "i != 1", "i + j < 4", "tid + i*8 < 50", "i >= 0", "j == 0", "1",
]  # fmt: skip


@st.composite
def accesses(draw: st.DrawFn) -> Access:
    """Small accesses over the loops i and j."""
    starts, steps = st.integers(0, 2), st.integers(1, 3)
    loops = tuple(
        Loop(name, start, start + draw(st.integers(0, 6)), draw(steps)) for name in "ij" for start in [draw(starts)]
    )
    conditions = st.sampled_from(CONDITIONS)
    assume = draw(st.lists(conditions.filter(lambda text: "tid" not in text and "lane" not in text), max_size=2))
    predicate = draw(st.none() | conditions)
    return Access(
        "a",
        LOAD,
        CHIP,
        (draw(st.sampled_from([16, 32, 40, 64])),),
        loops=loops,
        address=parse("tid*4"),
        predicate=None if predicate is None else parse(predicate),
        assume=tuple(map(parse, assume)),
    )


def points(access: Access) -> set[tuple[int, ...]]:
    """Every thread and iteration that is there, one at a time."""
    found = set[tuple[int, ...]]()
    values = [range(loop.start, loop.stop or 0, loop.step) for loop in access.loops]
    for tid, i, j in product(range(access.threads), *values):
        env = {"tid": tid, "lane": tid % 32, "warp": tid // 32, "i": i, "j": j}
        conditions = (*access.assume, *(() if access.predicate is None else (access.predicate,)))
        if all(evaluate(each, env) for each in conditions):
            found.add((tid, i, j))
    return found


@pytest.mark.nightly
@settings(deadline=None, max_examples=300)
@given(accesses(), accesses())
def test_many_domains_cover_another_where_their_points_do(one, other):
    assert cover(one, other).holds is (points(one) <= points(other))


@settings(deadline=None, max_examples=100)
@given(accesses(), accesses())
def test_a_domain_covers_another_where_its_points_do(one, other):
    assert cover(one, other).holds is (points(one) <= points(other))

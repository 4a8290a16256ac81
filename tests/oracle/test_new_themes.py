"""That random specs reach what an attack found missing, and that the oracle judges nearly all of
them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from .brute_force import Judgement, OracleAmbiguousError, OracleError, judge
from .random_parts import seeded
from .random_specs import new_theme_spec, random_spec
from .yaml_values import Spec, Yaml, as_dict

SPECS = 750
ERRORS = ("SWZ106", "SWZ222", "SWZ225", "SWZ226", "SWZ304", "SWZ305", "SWZ306", "SWZ307", "SWZ403")


def accesses(spec: Spec) -> list[dict[str, Yaml]]:
    return [as_dict(value) for value in as_dict(spec.get("accesses")).values()]


def open_loops(access: dict[str, Yaml]) -> int:
    return sum(bounds == "any" for bounds in as_dict(access.get("for")).values())


def features(spec: Spec, judgements: list[Judgement]) -> Iterator[str]:
    """What of the new themes a spec has."""
    tiles, drawn, maps = (set(as_dict(spec.get(key))) for key in ("tiles", "accesses", "maps"))
    yield from (f"{open_loops(access)} open loops" for access in accesses(spec))
    yield from (f"a block of {len(b)}" for access in accesses(spec) if isinstance(b := access.get("block"), list))
    yield from ("equal names" for _ in (tiles & drawn) | (tiles & maps) | (drawn & maps))
    yield from ("a memory's name" for _ in as_dict(spec.get("memories")).keys() & (tiles | drawn))
    claims = spec["claims"]
    if isinstance(claims, list) and "standard" in claims and len(claims) > 1:
        yield "standard beside stated claims"
    if spec["target"] != "sm_90":
        yield "another target"
    for found in judgements:
        if found.wavefronts is not None and (found.slowest, len(found.clashing)) != (found.clashing, 1):
            yield "two worst cases"
        if found.kind == "equivalent" and found.subject_kind == "access, access":
            pair = [as_dict(as_dict(spec["accesses"])[name]) for name in found.subject.split(", ")]
            loops = [list(as_dict(access.get("for"))) for access in pair]
            if loops[0] != loops[1]:
                yield f"{'same' if sorted(loops[0]) == sorted(loops[1]) else 'other'} loops, {found.verdict}"


LEAST: dict[str, int] = {
    "1 open loops": 200,
    "2 open loops": 25,
    "a block of 1": 3,
    "a block of 2": 15,
    "a block of 3": 15,
    "equal names": 65,
    "a memory's name": 10,
    "standard beside stated claims": 25,
    "another target": 30,
    "two worst cases": 30,
    "same loops, proved": 6,
    "same loops, refuted": 3,
    "other loops, refuted": 3,
}


@pytest.mark.nightly
def test_new_themes_reach_what_was_missing() -> None:
    found: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    in_open_loops: defaultdict[str, Counter[str]] = defaultdict(Counter)
    ambiguous = 0
    for seed in range(SPECS):
        spec = new_theme_spec(seeded(seed))
        judgements: list[Judgement] = []
        try:
            judgements = judge(spec)
        except OracleAmbiguousError:
            ambiguous += 1
        except OracleError as error:
            refused[error.code] += 1
        found.update(features(spec, judgements))
        opened = {name for name, access in as_dict(spec.get("accesses")).items() if open_loops(as_dict(access))}
        for each in judgements:
            if each.subject_kind.startswith("access") and each.subject.split(", ")[0] in opened:
                in_open_loops[each.kind][each.verdict] += 1
    assert not {feature: found[feature] for feature, least in LEAST.items() if found[feature] < least}
    assert ambiguous < SPECS * 8 // 100
    assert set(ERRORS) <= set(refused)
    assert refused.total() < SPECS // 8
    for kind in ("aligned", "in_bounds", "conflict_free", "wavefronts", "covers", "equivalent"):
        assert min(in_open_loops[kind][verdict] for verdict in ("proved", "refuted", "vacuous")) >= 2, kind


@pytest.mark.parametrize("part", [4, pytest.param(1, marks=pytest.mark.nightly)])
def test_random_specs_have_a_share_of_new_themes_and_are_judged(part: int) -> None:
    opened = ambiguous = 0
    for seed in range(400 // part):
        spec = random_spec(seeded(seed))
        opened += any(open_loops(access) for access in accesses(spec))
        try:
            judge(spec)
        except OracleAmbiguousError:
            ambiguous += 1
        except OracleError:
            pass
    assert 50 // part < opened < 120 // part
    assert ambiguous < 400 // part * 5 // 100


def test_new_themes_are_repeatable() -> None:
    for seed in range(40):
        assert new_theme_spec(seeded(seed)) == new_theme_spec(seeded(seed))

"""Random specs whose accesses have weights: both ways read the same ones, refuse the same ones, and
no verdict changes.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from swzverify.spec import SpecError, build_access, parse_spec
from swzverify.spec.values import Values
from tests.differential.comparison import as_yaml, compare, drawn
from tests.nightly import share
from tests.oracle.access_forms import read_weight
from tests.oracle.brute_force import OracleError, judge
from tests.oracle.yaml_values import Spec, Yaml, as_dict

SEEDS = range(70_000, 70_120)
EDGES = (0, 1, 2, 999_999, 1_000_000, 1_000_001, -1)


def weighted(seed: int) -> Spec:
    """A random spec, its accesses with weights: numbers, some of them at the edges, and expressions
    of constants.
    """
    spec, rng = drawn(seed), random.Random(seed)
    names = [name for name, value in as_dict(spec.get("constants")).items() if isinstance(value, int | list)]
    for access in as_dict(spec.get("accesses")).values():
        if isinstance(access, dict) and rng.random() < 0.7:
            access["weight"] = _weight(rng, names)
    return spec


def _weight(rng: random.Random, names: list[str]) -> Yaml:
    if names and rng.random() < 0.5:
        name = rng.choice(names)
        return rng.choice([name, f"{name}*3 + 1", f"({name} & 7) + 1", f"1 << {name}%4", f"{name} - 2"])
    return rng.choice(EDGES) if rng.random() < 0.2 else rng.randrange(1, 100)


def difference(seed: int) -> str:
    """Where the tool and the oracle do not agree on a spec; empty where they do."""
    spec = weighted(seed)
    outcome = compare(spec, seed, starve=False)
    if outcome.disagreements:
        return outcome.disagreements[0].problem
    try:
        judge(spec)
        cases = parse_spec(as_yaml(spec)).cases
    except (SpecError, OracleError):
        return ""
    for case in cases:
        own = {name: read_weight(as_dict(part), case.constants) for name, part in as_dict(spec.get("accesses")).items()}
        if own != dict(case.weights):
            return f"weights {dict(case.weights)}, by the oracle {own}"
    return ""


@pytest.mark.parametrize("first", share(range(SEEDS.start, SEEDS.stop, 15), 8))
def test_weights_are_the_oracles(first: int) -> None:
    for seed in range(first, first + 15):
        assert not difference(seed), f"seed {seed}"


def test_some_are_refused_and_some_differ() -> None:
    refused, read = 0, set[int]()
    for seed in SEEDS:
        spec = weighted(seed)
        parts = [as_dict(part) for part in as_dict(spec.get("accesses")).values()]
        refused += any(part.get("weight") in (0, -1, 1_000_001) for part in parts)
        try:
            read |= {weight for case in parse_spec(as_yaml(spec)).cases for weight in case.weights.values()}
        except SpecError:
            continue
        if refused > 3 and len(read) > 20:
            break
    assert refused > 3
    assert len(read) > 20


def a_smaller_most(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(build_access, "MAX_WEIGHT", 50)


def any_weight(patch: pytest.MonkeyPatch) -> None:
    number = Values.number

    def loose(self: Values, *arguments: object, **limits: object) -> int:
        return number(self, *arguments, **({} if "weight" in arguments else limits))  # type: ignore[arg-type]

    patch.setattr(Values, "number", loose)


def a_weight_too_many(patch: pytest.MonkeyPatch) -> None:
    number = Values.number

    def more(self: Values, *arguments: object, **limits: object) -> int:
        return number(self, *arguments, **limits) + ("weight" in arguments)  # type: ignore[arg-type]

    patch.setattr(Values, "number", more)


@pytest.mark.parametrize("plant", [a_smaller_most, any_weight, a_weight_too_many], ids=lambda plant: plant.__name__)
def test_a_planted_misreading_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert any(difference(seed) for seed in SEEDS)

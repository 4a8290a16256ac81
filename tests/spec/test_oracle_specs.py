"""The brute-force oracle's random specs, written out as YAML: the reader must know every form that
they use.
"""

from __future__ import annotations

import io
from collections import Counter

import pytest
from ruamel.yaml import YAML

from swzverify.spec import SpecClaim, SpecError, parse_spec
from tests.nightly import share
from tests.oracle.brute_force import expand_claims
from tests.oracle.random_parts import seeded
from tests.oracle.random_specs import random_spec


def as_yaml(spec: object, *, blocks: bool) -> str:
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False if blocks else None
    writer.representer.ignore_aliases = lambda _: True
    stream = io.StringIO()
    writer.dump(spec, stream)
    return stream.getvalue()


def claims_or_error(text: str) -> tuple[tuple[SpecClaim, ...], SpecError | None]:
    try:
        return parse_spec(text, path="r").claims, None
    except SpecError as error:
        return (), error


@pytest.mark.parametrize("first", share(range(0, 200, 50), 2))
def test_random_specs_are_read(first: int) -> None:
    read = 0
    for seed in range(first, first + 50):
        spec = random_spec(seeded(seed))
        text = as_yaml(spec, blocks=seed % 2 == 0)
        claims, error = claims_or_error(text)
        if error is not None:
            # The oracle spoils some specs on purpose: never in form, always in a layout or an
            # expression.
            codes = {problem.code for problem in error.problems} - {
                "SWZ105",
                "SWZ106",
                "SWZ110",
            }  # names and loops; less memory
            assert {code[:4] for code in codes} <= {"SWZ2", "SWZ3", "SWZ4"}, f"{seed}\n{error}"
            continue
        cases = len({tuple(claim.case.items()) for claim in claims})
        kinds = Counter(kind for kind, _ in expand_claims(spec))
        assert len(claims) % cases == 0
        if spec["claims"] != "standard" and "standard" not in spec["claims"]:
            assert Counter(claim.kind for claim in claims) == Counter({kind: n * cases for kind, n in kinds.items()}), (
                text
            )
        else:
            assert {claim.kind for claim in claims} == set(kinds)
        read += 1
    assert read > 35

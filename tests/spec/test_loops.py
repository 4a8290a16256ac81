"""The forms of `for:` in a spec, and their mistakes."""

from __future__ import annotations

import pytest

from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec
from swzverify.subjects import ListedLoop, Loop
from swzverify.subjects.listed_loop import AnyLoop


def spec(bounds: str) -> str:
    return (
        "swzverify: 1\nconstants: {N: 16, M: [2, 4]}\naccesses:\n"
        f"  a: {{instruction: ld.shared.b32, threads: 32, for: {{s: {bounds}}}, address: lane*4 + s*4}}\n"
        "claims: [aligned: a]\n"
    )


def loops(bounds: str) -> list[AnyLoop]:
    return [case.accesses["a"].loops[0] for case in parse_spec(spec(bounds), path="a.yaml").cases]


@pytest.mark.parametrize(
    ("bounds", "loop"),
    [
        ("[1, 2, 4, 8]", ListedLoop("s", (1, 2, 4, 8))),
        ("[8, N/2 - 7, 2]", ListedLoop("s", (1, 2, 8))),
        ("[0, 16, 8]", Loop("s", 0, 17, 8)),
        ("[3]", Loop("s", 3, 4)),
        ("{start: 1, stop: 256, times: 2}", ListedLoop("s", (1, 2, 4, 8, 16, 32, 64, 128))),
        ("{start: 1, stop: N + 1, times: 2*2}", ListedLoop("s", (1, 4, 16))),
        ("{start: 1, stop: N, times: 4}", Loop("s", 1, 5, 3)),
        ("{start: 9, stop: 9, times: 2}", Loop("s", 9, 9)),
        ("4", Loop("s", 0, 4)),
    ],
)
def test_the_forms_of_a_loop(bounds: str, loop: AnyLoop) -> None:
    assert loops(bounds) == [loop, loop]


def test_values_may_differ_from_case_to_case() -> None:
    assert loops("[1, 3, M*3]") == [ListedLoop("s", (1, 3, 6)), ListedLoop("s", (1, 3, 12))]
    assert loops("{start: 1, stop: 17, times: M}") == [ListedLoop("s", (1, 2, 4, 8, 16)), ListedLoop("s", (1, 4, 16))]


@pytest.mark.parametrize(
    ("bounds", "code", "said"),
    [
        ("[]", "SWZ105", "at least 1 entries"),
        ("[1, 2, 1]", "SWZ105", "loop s has the value 1 twice"),
        ("[1, 2, M]", "SWZ105", "loop s has the value 2 twice"),
        ("[1, lane]", "SWZ301", "unknown name 'lane'"),
        ("[1, any]", "SWZ301", "unknown name 'any'"),
        ("[1, [2]]", "SWZ105", "expected an integer or an expression"),
        ("{start: 0, stop: 8, times: 2}", "SWZ105", "the start 0: at least 1"),
        ("{stop: 8, times: 2}", "SWZ105", "the start 0: at least 1"),
        ("{start: 1, stop: 8, times: 1}", "SWZ105", "the factor 1: at least 2"),
        ("{start: 1, stop: 8, step: 1, times: 2}", "SWZ105", "`step` or `times`, not both"),
        ("{start: 1, stop: 8, tims: 2}", "SWZ104", "did you mean 'times'?"),
        ("{start: 1, times: 2}", "SWZ104", "the key 'stop' is missing"),
    ],
)
def test_a_mistake_in_a_loop(bounds: str, code: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(spec(bounds), path="a.yaml")
    assert [problem.code for problem in caught.value.problems] == [code]
    assert said in str(caught.value)

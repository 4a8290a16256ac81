"""`walk:` of an access: what is refused, with its place, and what it comes to."""

from __future__ import annotations

import pytest

from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec

HEAD = "swzverify: 1\ntarget: sm_90\nlet: {half: lane/16}\n"
HEAD += "accesses:\n  a:\n    instruction: ld.shared.b32\n    threads: 32\n"
CLAIM = "claims:\n  - aligned: a\n"


def problems(*lines: str) -> list[tuple[str, int, str]]:
    text = HEAD + "".join(f"    {line}\n" for line in lines) + CLAIM
    try:
        parse_spec(text)
    except SpecError as error:
        return [(each.code, each.line, each.message) for each in error.problems]
    return []


@pytest.mark.parametrize(
    ("lines", "code", "line", "words"),
    [
        (["for: {k: 4}", "walk: {start: k*4, step: 4}"], "SWZ105", 9, "reads 'k'"),
        (["for: {k: 4}", "walk: {start: lane*4}"], "SWZ104", 9, "`step` or `xor`"),
        (["for: {k: 4}", "walk: {step: 4}"], "SWZ104", 9, "start"),
        (["for: {k: 4}", "walk: {start: lane*4, step: 4}", "address: tid"], "SWZ105", 9, "`address` or `walk`"),
        (["walk: {start: lane*4, step: 4}"], "SWZ105", 8, "a loop"),
        (["for: {i: 2, k: 4}", "walk: {start: lane*4, step: 4}"], "SWZ105", 9, "`over`"),
        (["for: {i: 2, k: 4}", "walk: {over: j, start: lane*4, step: 4}"], "SWZ105", 9, "no loop 'j'"),
        (["for: {k: any}", "walk: {start: lane*4, step: 4}"], "SWZ206", 9, "no bound"),
        (["for: {k: 4, i: any}", "walk: {over: k, start: lane*4, step: 4}"], "SWZ206", 9, "'i'"),
        (["for: {k: 4}", "lanes: {b: 4}", "walk: {start: lane*4, step: b}"], "SWZ105", 10, "reads 'b'"),
        (["for: {k: 4}", "walk: {start: lane*4, step: nothing}"], "SWZ301", 9, "'nothing'"),
        (["for: {k: 4}", "walk: {start: half - 4, step: 4}"], "SWZ306", 9, "negative"),
        (["for: {k: 3000}", "walk: {start: half, step: half}"], "SWZ302", 9, "3000 iterations"),
        (["for: {k: 4}", "walk: {start: lane, step: 1/(k - 1)}"], "SWZ305", 9, ""),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(lines: list[str], code: str, line: int, words: str) -> None:
    found = problems(*lines)
    assert [(each[0], each[1]) for each in found] == [(code, line)]
    assert words in found[0][2]


def test_a_walk_may_use_lets_and_its_loop() -> None:
    assert problems("for: {k: 4}", "walk: {start: half*64 + lane, xor: k*16, step: half}") == []


def test_the_last_value_of_the_loop_takes_no_step() -> None:
    """1/(3 - k) is judged at 0, 1 and 2 alone."""
    assert problems("for: {k: 4}", "walk: {start: lane, step: 1/(3 - k)}") == []

"""What specs do not have is refused wherever it stands, and nothing that is in order."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.errors import Problem
from swzverify.spec import SpecError, parse_spec
from swzverify.spec.guard import decoded, hidden_character
from swzverify.spec.problems import Problems, TooManyProblems
from swzverify.spec.tree import MAX_DEPTH, MAX_NODES
from swzverify.spec.yaml_tree import read_yaml
from tests.spec.samples import FULL, PROSE
from tests.spec.test_reader import FORMS, check_against_ruamel, mutated

SPECS = sorted((Path(__file__).parents[2] / "specs").rglob("*.swz.yaml"))
MARKS = ["&x ", "*x", "!t ", "&", "*", "!", " &a", "- &b", ": *c", "? ", "\n  &d", "<<: ", "--- ", "...\n", "|2\n"]
MARKS += [">+\n", "\t", ", *e", "[&f", "{!g", "'*h", '"&i', "\n", "\n    ", "\n%", "{", "]", "\n? ", "\n: ", ": |\n"]


def refused(text: str) -> list[Problem]:
    """What is wrong with a text, in the order of the file."""
    problems = Problems("a.yaml", text.split("\n"))
    with suppress(TooManyProblems):
        read_yaml(text, problems)
    return sorted(problems.found, key=lambda problem: (problem.line, problem.column))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_library_passes(path: Path) -> None:
    text = decoded(path.read_bytes(), Problems("a.yaml"))
    assert text is not None
    assert refused(text) == []


IN_ORDER = {
    "signs inside": "a: x & y * z ! w\nb: tid&7\nc: a*b\nd: 1 <<2\ne: x!=y\nf: a &b\ng: a *b !c\n",
    "signs in a flow": "a: [x &y, z *w, u !v, x&y, z*w]\n",
    "signs in quotes": "a: '&x'\nb: \"*y\"\nc: ['!z', \"& *\"]\n",
    "quotes over lines": "a: 'x\n  &y\n\n  *z'\nb: \"x\n  !y\"\n",
    "signs in a text": "a: |\n  &x\n  *y: z\n  !w\nb: >-\n  <<: v\n   &u\n\n  - *t\nc: 1\n",
    "text of a given indentation": "a:\n- |2\n    &x\n   *y\n- z\n",
    "text at the end": "a: |\n  &x",
    "text of nothing": "a: |\nb: 1\n",
    "signs in a comment": "a: 1  # &x *y !z\n# &x\n  # *y\nb: [1,  # !z\n  2]\n",
    "plain over lines": "a: x\n  &y\n  *z\n  !w\nb: 1\n",
    "plain over lines in a flow": "a: [x\n  &y,\n  z\n  *w]\n",
    "plain in a list over lines": "a:\n- x\n  & y\n- z\n  *w\n",
    "merge sign as a value": "a: <<\nb: [<<]\nc: x << y\n",
    "merge sign in a longer key": "a<<: 1\n",
    "directive sign inside": "a: x\n  %y\nb: tid%8\n",
    "document signs inside": "a: ---\nb: x --- y\nc: ...\n",
    "document mark at the start": "# x\n---\na: 1\n",
    "document mark at the end": "a: 1\n...\n# x\n",
    "colons inside": "a: b:c\nb: (8,64):(64,1)\nc: {d: (1):(2)}\n",
    "letters of all scripts": "a: \u89e3 \u00e9 \u0434 \u05d0 \u0639 \U0001f600\ufe0f\n",
    "explicit key": "? a\n: b\n",
    "quoted keys": "'a b': 1\n\"c\": 2\n{d: 3}: 4\n",
}


@pytest.mark.parametrize("text", IN_ORDER.values(), ids=IN_ORDER.keys())
def test_what_is_in_order_passes(text: str) -> None:
    assert [problem for problem in refused(text) if problem.code != "SWZ105"] == []


def test_the_limits_themselves_pass_and_one_more_does_not() -> None:
    deep = "a: " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "\n"
    many = "a: [" + "1," * (MAX_NODES - 4) + "1]\n"
    key = "k" * 100 + ": 1\n"
    for text, more in ((deep, "[]"), (many, "1"), (key, "k")):
        assert refused(text) == []
        place = text.rindex("[") + 1 if "[" in text else 0
        assert [
            problem.code for problem in refused(text[:place] + more + ("," if more == "1" else "") + text[place:])
        ] == ["SWZ107"]


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from([FULL, PROSE, *FORMS.values(), *IN_ORDER.values()]))
def test_against_the_parser(seed: int, text: str) -> None:
    rng = random.Random(seed)
    text = mutated(text, seed, rng.randrange(1, 5))
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(MARKS) + text[at:]
    check_against_ruamel(text)


@pytest.mark.parametrize("text", ["a\u202eb", "a\x1bb", "\ufeff", "\u200b", "\ud800", "\U000e0041", "\x85", "\u2028"])
def test_hidden_characters(text: str) -> None:
    assert hidden_character(text) is not None
    with pytest.raises(SpecError, match=r"SWZ1(11|02)"):
        parse_spec(f"swzverify: 1\ntitle: {text}\n")


def test_letters_are_not_hidden() -> None:
    assert hidden_character("two\nlines\tand \u89e3, \u00e9, \u2264, \U0001f600\ufe0f") is None


def test_every_mistake_of_a_kind_is_told_with_its_place() -> None:
    text = "swzverify: 1\ntitle: &a x\nsource: *a\ntiles:\n  <<: !t {}\n"
    problems = refused(text)
    assert [(problem.code, problem.line, problem.column) for problem in problems] == [
        ("SWZ108", 2, 8),
        ("SWZ108", 3, 9),
        ("SWZ108", 5, 3),
        ("SWZ108", 5, 7),
    ]

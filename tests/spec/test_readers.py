"""The quick reader against ruamel.yaml, and what both of them make of YAML's forms."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.spec.full_yaml import read_full
from swzverify.spec.problems import Problems
from swzverify.spec.quick_yaml import read_quick
from swzverify.spec.source import to_data
from swzverify.spec.tree import Mapping, Scalar, get, key_of

from .samples import FULL, PROSE

PIECES = ["'", '"', ":", ": ", " #", "#", "-", "- ", ",", "[", "]", "{", "}", "|", ">", "&", "*", "!", "%", "@", "?"]
PIECES += [" ", "  ", "\n", "\n\n", "\n  ", "\t", "x", "0", "~", "a: b", "é", "---", "...", "\\", "<<", "=", "|-", "`"]


def both(text: str) -> None:
    """Where the quick reader reads a text at all, the full one reads the same tree and finds nothing wrong."""
    quick = read_quick(text)
    if quick is not None:
        problems = Problems("x")
        assert read_full(text, problems) == quick
        assert len(problems) == 0


@pytest.mark.parametrize("text", [FULL, FULL + "\n\n# the end\n"], ids=["full", "comment at the end"])
def test_quick_reads_specs(text: str) -> None:
    assert read_quick(text) is not None
    both(text)


QUICK = {
    "flow over lines": "a: [1,\n  2,  # two\n  3]\nb: 1\n",
    "flow in flow": "a: {b: [1, {c: d}], e: []}\n",
    "sequence at the key's indent": "a:\n- 1\n- x: y\n  z: w\nb: 2\n",
    "sequences in a sequence": "- - 1\n  - 2\n- - 3\n",
    "plain over lines": "a: one\n  two\n    three\nb: 4\n",
    "literal": "a: |\n  one\n  two: 3\nb: 4\n",
    "folded and stripped": "a: >-\n  one\n  two\nb: 4\n",
    "quotes": "a: 'x: y'\nb: \"z # w\"\nc: ['p', \"q\"]\n",
    "signs inside": "a: x & y | z ^ ~w % 2 * 3 < 4 > 5 != 6\nb: (tid >> 1) & 7\nc: -1\nd: a:b\n",
    "comments everywhere": "# x\na:  # y\n  # z\n  b: 1 # w\n# v\n",
    "value below its key": "a:\n\n  b:\n    c: 1\n",
}


@pytest.mark.parametrize("text", QUICK.values(), ids=QUICK.keys())
def test_quick_knows(text: str) -> None:
    assert read_quick(text) is not None
    both(text)


NOT_QUICK = {
    "anchor": "a: &x 1\n",
    "alias": "a: *x\n",
    "tag": "a: !!str 1\n",
    "tab": "a:\t1\n",
    "document start": "---\na: 1\n",
    "two documents": "a: 1\n---\nb: 2\n",
    "directive": "%YAML 1.2\n---\na: 1\n",
    "escape": 'a: "x\\n"\n',
    "colon inside": "a: b: c\n",
    "unclosed": "a: [1, 2\n",
    "text after flow": "a: [1] x\n",
    "wrong indent": "a:\n    b: 1\n  c: 2\n",
    "mapping then sequence": "a: 1\n- 2\n",
    "quoted over lines": "a: 'x\n  y'\n",
    "explicit key": "? a\n: b\n",
    "indented literal": "a: |\n  x\n    y\nb: 1\n",
    "empty value": "a:\nb: 1\n",
    "next line separator": "a: x\u0085b: 1\n",
    "control character": "a: \x01\n",
    "nothing": "# nothing\n",
}


@pytest.mark.parametrize("text", NOT_QUICK.values(), ids=NOT_QUICK.keys())
def test_quick_leaves_to_ruamel(text: str) -> None:
    assert read_quick(text) is None


def mutated(text: str, seed: int, edits: int) -> str:
    """The text after some random insertions, deletions and moves of stretches."""
    rng = random.Random(seed)  # nothing secret
    for _ in range(edits):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(4):
            case 0:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randrange(1, 4) :]
            case 2:
                end = at + rng.randrange(1, 30)
                text = text[:at] + text[at:end] * 2 + text[end:]
            case _:
                line = text.splitlines(keepends=True)
                if line:
                    here = rng.randrange(len(line))
                    line[here] = rng.choice([" ", "  ", "- ", ""]) + line[here].lstrip(" ")
                text = "".join(line)
    return text if text.endswith("\n") else text + "\n"


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from([FULL, PROSE, *QUICK.values()]))
def test_readers_agree_on_damaged_texts(seed: int, edits: int, text: str) -> None:
    both(mutated(text, seed, edits))


def test_full_reader_keeps_places() -> None:
    root = read_full(PROSE, Problems("x"))
    assert root is not None
    assert get(root, "title") == Scalar("a folded text on two lines\n", False, 4, 8)
    assert get(root, "source") == Scalar("a literal text\n  with an indented line", False, 7, 9)
    assert key_of(get(root, "tiles"), "quoted key") == Scalar("quoted key", False, 11, 3, 12, 4)
    assert get(root, "tiles", "quoted key", "b") == Scalar("x # y", False, 14, 8, 7, 9, True)
    assert get(root, "tiles", "list", 1, 1) == Scalar("three", True, 19, 7, 5, 7)
    assert get(root, "tiles", "list", 2, "w") == Scalar("it's", False, 21, 8, 7, 0)
    assert to_data(get(root, "empty")) is None
    assert isinstance(root, Mapping)


def test_plain_scalars_are_typed_by_yaml_1_2() -> None:
    text = "a: [32:1, 0x1F, -7, 1.5, 1e3, ~, true, yes, no, 0o17, 0b11, 1_000, 12:30:45, '5', .5, null, +4]\n"
    root = read_full(text, Problems("x"))
    assert root is not None
    assert to_data(root) == {
        "a": [
            "32:1",
            31,
            -7,
            1.5,
            1000.0,
            None,
            True,
            "yes",
            "no",
            "0o17",
            "0b11",
            "1_000",
            "12:30:45",
            "5",
            0.5,
            None,
            4,
        ]
    }

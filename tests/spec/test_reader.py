"""The reader against ruamel.yaml, and what it makes of YAML's forms."""

from __future__ import annotations

import random
import re
from contextlib import suppress

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.errors import Problem
from swzverify.spec.problems import Problems, TooManyProblems
from swzverify.spec.source import to_data
from swzverify.spec.tree import Mapping, Node, Scalar, get, key_of
from swzverify.spec.yaml_tree import LEAST_LIBYAML, MAX_SCALAR_CHARACTERS, read_yaml

from .ruamel_tree import ruamel_shape, shape_of
from .samples import FULL, PROSE

PIECES = ["'", '"', ":", ": ", " #", "#", "-", "- ", ",", "[", "]", "{", "}", "|", ">", "&", "*", "!", "%", "@", "?"]
PIECES += [" ", "  ", "\n", "\n\n", "\n  ", "\t", "x", "0", "~", "a: b", "é", "---", "...", "\\", "<<", "=", "|-", "`"]


def read(text: str) -> tuple[Node | None, tuple[Problem, ...]]:
    """What our reader makes of a text."""
    problems = Problems("x", text.split("\n"))
    return read_yaml(text, problems), problems.found


def check_same(text: str) -> None:
    """Our reader accepts a text, and ruamel.yaml reads the same in it."""
    root, found = read(text)
    assert root is not None
    assert found == ()
    assert shape_of(root) == ruamel_shape(text)


STRICTER = ("but got ':'", "is not allowed inside [ ] and { }")
"""Colons without a key, and colons before brackets: libyaml refuses them, ruamel.yaml reads an
empty key or a text.
"""
LENIENT = re.compile(r"[|>][-+0-9]*#|[|>][-+0-9]* *(?:#.*)?\n+ +\n|['\"\]}] *:[^ \n]")
"""A comment right behind `|`, a blank line before the text, and no blank behind a key in quotes are
read by libyaml.
"""


def check_against_ruamel(text: str) -> None:
    """A mapping that our reader accepts is the same to ruamel.yaml; what it calls no YAML is no
    mapping there.
    """
    problems = Problems("x", text.split("\n"))
    root = None
    with suppress(TooManyProblems):
        root = read_yaml(text, problems)
    shape = ruamel_shape(text)
    other = shape if shape is not None and shape[0] == "map" else None
    if not len(problems):
        ours = shape_of(root) if isinstance(root, Mapping) else None
        assert ours == other or (other is None and LENIENT.search(text)), text
    elif all(found.code == "SWZ102" and not found.message.endswith(STRICTER) for found in problems.found):
        assert other is None, text


FORMS = {
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


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_forms_are_read_as_ruamel_reads_them(text: str) -> None:
    check_same(text)


REFUSED = {
    "anchor": ("a: &x 1\n", "SWZ108", 4),
    "alias": ("a: *x\n", "SWZ108", 4),
    "tag": ("a: !!str 1\n", "SWZ108", 4),
    "merge key": ("<<: 1\n", "SWZ108", 1),
    "second document": ("--- a\n--- b\n", "SWZ108", 1),
    "second document behind an end": ("a: 1\n...\n# c\nb: 2\n", "SWZ108", 1),
    "directive": ("%YAML 1.2\n---\na: 1\n", "SWZ108", 1),
    "tab before a value": ("a:\t1\n", "SWZ102", 3),
    "tab in a plain value": ("a: x#\ty\n", "SWZ102", 6),
    "tab behind a plain value": ("a: x\t# c\n", "SWZ102", 5),
    "tab behind a header": ("a: |\t\n  x\n", "SWZ102", 5),
    "tab on a line of its own": ("a: 1\n \t\n", "SWZ102", 2),
    "key of a list": ("[a]: 1\n", "SWZ105", 1),
    "key that is not ASCII": ("a\u00e9: 1\n", "SWZ112", 2),
    "key of a no-break space": ("\u00a0: 1\n", "SWZ112", 1),
    "tab behind an anchor": ("a: &x\t1\n", "SWZ108", 4),
    "place behind other letters": ("a: [\u89e3\u00e9\U0001f600, @]\n", "SWZ102", 10),
    "unknown escape": ('a: "\\q"\n', "SWZ102", 5),
    "escape of a surrogate": ('a: "\\ud800"\n', "SWZ111", 5),
    "colon inside": ("a: b: c\n", "SWZ102", 5),
    "colon before a bracket": ("a: [b:]\n", "SWZ102", 6),
    "text after flow": ("a: [1] x\n", "SWZ102", 8),
    "sign behind a header": ("a: > *x\n", "SWZ102", 6),
}


@pytest.mark.parametrize(("text", "code", "column"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_a_place(text: str, code: str, column: int) -> None:
    _, found = read(text)
    assert [(problem.code, problem.column) for problem in found] == [(code, column)]


TABS = "a: '\t'  # \t\nb: [1,\t2]\n#\t\nc: |\n  x\ty\n"


def test_tabs_stay_in_quotes_comments_brackets_and_texts() -> None:
    check_same(TABS)


@pytest.mark.parametrize("value", ["'x'", "x", "|"])
def test_long_texts_are_refused(value: str) -> None:
    _, found = read("a: " + value.replace("x", "x" * (MAX_SCALAR_CHARACTERS + 1)).replace("|", "|\n  " + "x" * 70_000))
    assert [problem.code for problem in found] == ["SWZ107"]


@pytest.mark.parametrize(("has", "version"), [(False, LEAST_LIBYAML), (True, (0, 2, 2))])
def test_libyaml_is_asked_for(monkeypatch: pytest.MonkeyPatch, has: bool, version: tuple[int, int, int]) -> None:
    monkeypatch.setattr(yaml, "__with_libyaml__", has)
    monkeypatch.setattr("yaml._yaml.get_version", lambda: version)
    root, (problem,) = read("a: 1\n")
    assert root is None
    assert (problem.code, "libyaml" in problem.message) == ("SWZ101", True)


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


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from([FULL, PROSE, *FORMS.values()]))
def test_readers_agree_on_damaged_texts(seed: int, edits: int, text: str) -> None:
    check_against_ruamel(mutated(text, seed, edits))


def test_places_are_kept() -> None:
    root, _ = read(PROSE)
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
    root, _ = read(text)
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

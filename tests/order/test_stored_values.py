"""Two stores to one byte whose values read what a launch gives: they do no harm where both write one value."""

from __future__ import annotations

import random

import pytest

from swzverify.compiled.kernel import stored
from swzverify.compiled.scan import race_meetings
from swzverify.compiled.trial import recorder
from swzverify.ir.expr import const
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import races_of as launched

from .conftest import HEAD, races

_STORE = "st.shared.u32 [s], {};\n"
_ONE = "setp.eq.u32 %p1, %r1, {};\n@%p1 " + _STORE
_PLACE = "mov.u32 %r9, %ctaid.x;\n"
CASES = {
    "a multiple of the parameter": ("mul.lo.u32 %r9, %r1, %r7;\n" + _STORE.format("%r9"), "depends"),
    "the parameter and a number": (_ONE.format(0, "%r7") + _ONE.format(1, 7), "depends"),
    "the thread and the parameter": ("add.u32 %r9, %r1, %r7;\n" + _STORE.format("%r9"), "race"),
    "the parameter alone": (_STORE.format("%r7"), "race-benign"),
    "the thread": (_STORE.format("%r1"), "race"),
    "a multiple of the block": (_PLACE + "mul.lo.u32 %r9, %r1, %r9;\n" + _STORE.format("%r9"), "depends"),
    "the block and the thread": (_PLACE + "add.u32 %r9, %r1, %r9;\n" + _STORE.format("%r9"), "race"),
}


@pytest.mark.parametrize("name", CASES)
def test_race_only_if_each_launch_has_it(name: str) -> None:
    body, verdict = CASES[name]
    text = f"{HEAD}{body}ret;\n}}\n"
    launches = [
        launched(text, "k", (64,), (blocks,), params=[Buffer(64), number, Buffer(64)]).verdict
        for number in (0, 1, 7)
        for blocks in (1, 2)
    ]
    seen = {*launches}
    assert races(body).verdict.value == verdict
    assert seen == ({"race", "race-benign"} if verdict == "depends" else {verdict})


def test_planted_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of the launch in what is stored are not looked at."""
    monkeypatch.setattr(race_meetings, "deciding_values", lambda *_: [])
    assert races(CASES["a multiple of the parameter"][0]).verdict.value == "race"


_ROW = "and.b32 %r20, %r1, 7;\nmad.lo.u32 %r20, %r20, 16, %r3;\n"
_ROWS = _ROW + "{}\nstmatrix.sync.aligned.m8n8.x1{}.shared.b16 [%r20], {{%r21}};\n"
_ROW_OR_WORDS = (
    _ROW
    + "mov.b32 %r21, {0};\nsetp.lt.u32 %p1, %r1, 32;\n@!%p1 bra W;\n"
    + "stmatrix.sync.aligned.m8n8.x1{1}.shared.b16 [%r20], {{%r21}};\nbra E;\n"
    + "W:\nst.shared.v4.b32 [%r20], {{{0}, {0}, {0}, {0}}};\nE:\n"
)
_EQUAL, _OTHER = 0x00070007, 0x00020001
MATRICES = {
    "one number with equal halves": (_ROWS.format(f"mov.b32 %r21, {_EQUAL};", ""), "race-benign", "race-benign"),
    "the same, transposed": (_ROWS.format(f"mov.b32 %r21, {_EQUAL};", ".trans"), "race-benign", "race-benign"),
    "two registers of one number": (
        _ROW.replace("7;", "15;")
        + f"mov.b32 %r21, {_EQUAL};\nstmatrix.sync.aligned.m8n8.x2.shared.b16 [%r20], {{%r21, %r21}};\n",
        "race-benign",
        "race-benign",
    ),
    "two registers of two numbers": (
        _ROW.replace("7;", "15;") + f"mov.b32 %r21, {_EQUAL};\nmov.b32 %r22, {_OTHER};\n"
        "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r20], {%r21, %r22};\n",
        "unknown",
        "race-benign",
    ),
    "one number with two halves": (_ROWS.format(f"mov.b32 %r21, {_OTHER};", ".trans"), "unknown", "race-benign"),
    "the lane": (_ROWS.format("and.b32 %r21, %r1, 31;", ""), "unknown", "race-benign"),
    "the thread": (_ROWS.format("mov.b32 %r21, %r1;", ""), "race", "race"),
    "the warp": (_ROWS.format("shr.u32 %r21, %r1, 5;", ""), "race", "race"),
    "rows and words of equal halves": (_ROW_OR_WORDS.format(_EQUAL, ""), "race-benign", "race-benign"),
    "rows and the same words": (_ROW_OR_WORDS.format(_OTHER, ""), "unknown", "race-benign"),
    "transposed rows and other words": (_ROW_OR_WORDS.format(_OTHER, ".trans"), "race", "race"),
}
"""Bodies with what swzverify says, and what the interpreter sees."""


@pytest.mark.parametrize("name", MATRICES)
def test_rows_of_matrices(name: str) -> None:
    body, verdict, seen = MATRICES[name]
    params = [Buffer(64), 1, Buffer(64)]
    assert launched(f"{HEAD}{body}ret;\n}}\n", "k", (64,), (1,), params=params).verdict == seen
    assert races(body).verdict.value == verdict


def test_planted_mistake_in_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row is taken to have the words of its registers one behind the other, also if it is transposed."""
    monkeypatch.setattr(stored, "_row_of", lambda word: const(sum(word << (32 * at) for at in range(4)), 128))
    assert races(MATRICES["rows and the same words"][0]).verdict.value == "race-benign"
    found = races(MATRICES["transposed rows and other words"][0]).verdict.value
    assert found not in (MATRICES["transposed rows and other words"][1], "free")


def test_planted_mistake_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run does not transpose what `stmatrix` writes."""
    body = MATRICES["transposed rows and other words"][0]
    monkeypatch.setattr(recorder, "is_transposed", lambda _: False)
    assert races(body).verdict.value == "unknown"


def _random_rows(seed: int) -> str:
    """Two warps write to eight or more rows, by `stmatrix` or by vectors, with numbers or values of lanes."""
    rng = random.Random(seed)
    words = [_EQUAL, _OTHER, 0, 0x00010002]

    def write(at: int) -> str:
        if rng.random() < 0.3:
            word = rng.choice(words)
            return f"st.shared.v4.b32 [%r20], {{{word}, {word}, {word}, {rng.choice([word, word, 0])}}};\n"
        count, trans = rng.choice([1, 2, 4]), rng.choice(["", ".trans"])
        made = [f"mov.b32 %r{at + each}, {rng.choice(words[: rng.choice([1, 4])])};\n" for each in range(count)]
        if rng.random() < 0.2:
            made[-1] = f"and.b32 %r{at + count - 1}, %r1, {rng.choice([31, 32, 63])};\n"
        items = ", ".join(f"%r{at + each}" for each in range(count))
        return f"{''.join(made)}stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r20], {{{items}}};\n"

    place = _ROW.replace("7;", f"{rng.choice([7, 31])};")
    if rng.random() < 0.4:
        return place + write(21)
    return f"{place}setp.lt.u32 %p1, %r1, 32;\n@!%p1 bra W;\n{write(21)}bra E;\nW:\n{write(30)}E:\n"


@pytest.mark.parametrize("seed", range(16))
def test_random_rows(seed: int) -> None:
    """No launch has a race that is called benign, and none that is called a race is benign.

    Where the threads of the witness write one value, other threads may show the race, in a launch with a parameter.
    """
    body = _random_rows(seed)
    seen = launched(f"{HEAD}{body}ret;\n}}\n", "k", (64,), (1,), params=[Buffer(64), 1, Buffer(64)]).verdict
    found = races(body).verdict.value
    assert found in ("unknown", seen, *(("depends",) if seen == "race" else ())), (found, seen)

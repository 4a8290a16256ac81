"""Two stores to one byte whose values read what a launch gives: they do no harm where both write one value."""

from __future__ import annotations

import random

import pytest

from swzverify.compiled.kernel import stored
from swzverify.compiled.order import alike
from swzverify.compiled.order.verdict import RaceVerdict
from swzverify.compiled.scan import race_meetings, race_values
from swzverify.compiled.scan.given import Given
from swzverify.compiled.scan.race_replay import Runs
from swzverify.compiled.trial import recorder, touches
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
    monkeypatch.setattr(race_values, "_may_vary", lambda *_: False)
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
    monkeypatch.setattr(stored, "_row_of", lambda word: (const(word, 32),) * 4)
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


_WARPS = "setp.lt.u32 %p1, %r1, 32;\n@!%p1 bra W;\n{}\nbra E;\nW:\n{}\nE:\n"


def _two(first: str, second: str, before: str = "") -> str:
    """Each of two warps executes one access; what comes before is executed by both."""
    return before + _WARPS.format(first, second)


_LOOP = "mov.u32 %r9, 0;\nL:\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p2, %r9, %r7;\n@%p2 bra L;\n"
_HANDED = "st.shared.u32 [s+64], %r7;\nbar.sync 0;\nld.shared.u32 %r9, [s+64];\n"
_MINE = "and.b32 %r9, %r1, 3;\nadd.u32 %r10, %r3, %r9;\n"
_VOTE = "setp.eq.u32 %p2, %r7, 0;\nvote.sync.ballot.b32 %r9, %p2, -1;\n"
PAIRS = {
    "a vector of the parameter and zeros": (
        _two("st.shared.v2.u32 [s], {%r7, %r7};", "st.shared.v2.u32 [s], {0, 0};"),
        0,
    ),
    "a word and a byte": (_two("st.shared.u32 [s], %r7;", "st.shared.u8 [s], 0;"), 256),
    "a byte and a word": (_two("st.shared.u8 [s], %r7;", "st.shared.u32 [s], 1;"), 257),
    "a word and its high half": (_two("st.shared.u32 [s], %r7;", "st.shared.u16 [s+2], 2;"), 0x00020000),
    "the high half of a pair": (
        _two("st.shared.u64 [s], %rd5;", "st.shared.u32 [s+4], 7;", "mov.b64 %rd5, {%r7, %r7};\n"),
        7,
    ),
    "a part of a vector": (_two("st.shared.v4.u32 [s], {1, 2, %r7, 3};", "st.shared.v2.u32 [s+8], {5, 3};"), 5),
    "bytes and a word": (_two("st.shared.v4.u8 [s], {1, 2, 3, 4};", "st.shared.u32 [s], %r7;"), 0x04030201),
    "a row of matrices and words": (
        _two(
            "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r20], {%r21};",
            "st.shared.v4.b32 [%r20], {0, 0, 0, 0};",
            _ROW + "mul.lo.u32 %r21, %r7, 65537;\n",
        ),
        0,
    ),
    "a choice by the parameter": (
        _two(
            "st.shared.u32 [s], %r9;", "st.shared.u16 [s], 5;", "setp.gt.u32 %p2, %r7, 4;\nselp.u32 %r9, 5, 6, %p2;\n"
        ),
        5,
    ),
    "a float": (_two("st.shared.f32 [s], %f1;", "st.shared.u32 [s], 0x40000000;", "cvt.rn.f32.u32 %f1, %r7;\n"), 2),
    "the trips of a loop": (_two("st.shared.u32 [s], %r9;", "st.shared.u8 [s], 3;", _LOOP), 3),
    "what shared memory holds": (_two("st.shared.u32 [s], %r9;", "st.shared.u8 [s], 3;", _HANDED), 3),
    "what lanes exchange": (
        _two("st.shared.u32 [s], %r9;", "st.shared.u8 [s], 3;", "shfl.sync.idx.b32 %r9, %r7, 0, 31, -1;\n"),
        3,
    ),
    "what all lanes have in common": (
        _two("st.shared.u32 [s], %r9;", "st.shared.u8 [s], 255;", _VOTE),
        0,
    ),
    "a load, a change and a store": (
        _two("st.shared.u32 [s], %r9;", "st.shared.u8 [s], 3;", "ld.shared.u32 %r9, [s+64];\nor.b32 %r9, %r9, %r7;\n"),
        3,
    ),
}
"""Two stores that collide at some bytes, and a parameter with which they write one value there."""


def _seen(body: str, number: int, fill: str = "zero") -> str:
    """The verdict of one launch."""
    return launched(f"{HEAD}{body}ret;\n}}\n", "k", (64,), params=[Buffer(64), number, Buffer(256, fill)]).verdict


def _with(number: int) -> Given:
    return Given((f"n={number}",))


@pytest.mark.parametrize("name", PAIRS)
def test_stores_are_compared_at_the_bytes_that_both_touch(name: str) -> None:
    """Whether they race depends on the parameter; with a given one it is decided, or nothing is said."""
    body, number = PAIRS[name]
    other = number ^ 0x00010001 if number > 0xFFFF else number ^ 1
    assert (_seen(body, number), _seen(body, other)) == ("race-benign", "race")
    assert races(body).verdict is RaceVerdict.DEPENDS
    is_followed = name not in ("a float", "what shared memory holds", "what all lanes have in common")
    is_followed &= name != "a load, a change and a store"
    assert races(body, given=_with(number)).verdict is (RaceVerdict.BENIGN if is_followed else RaceVerdict.UNKNOWN)
    found = races(body, given=_with(other)).verdict
    assert found in ((RaceVerdict.RACE,) if is_followed else (RaceVerdict.RACE, RaceVerdict.DEPENDS))


CERTAIN = {
    "two numbers in a word and a byte": (_two("st.shared.u32 [s], 258;", "st.shared.u8 [s+1], 2;"), "race"),
    "one number in a word and a byte": (_two("st.shared.u32 [s], 258;", "st.shared.u8 [s+1], 1;"), "race-benign"),
    "a word and the byte of each thread": (
        _two("st.shared.u32 [s], 0x03020100;", "st.shared.u8 [%r10], %r9;", _MINE),
        "race-benign",
    ),
    "a word and another byte of one thread": (
        _two("st.shared.u32 [s], 0x03020000;", "st.shared.u8 [%r10], %r9;", _MINE),
        "race",
    ),
    "vectors beside each other": (
        _two("st.shared.v2.u32 [s], {0, %r7};", "st.shared.v2.u32 [s+8], {1, 2};"),
        "race-benign",
    ),
    "one of two words differs in all launches": (
        _two("st.shared.v4.u32 [s], {0, 0, %r7, 1};", "st.shared.v2.u32 [s+8], {0, 0};"),
        "race",
    ),
    "a word that is never one with a byte": (
        _two("st.shared.u32 [s], %r9;", "st.shared.u8 [s], 0;", "or.b32 %r9, %r7, 4;\n"),
        "race",
    ),
    "the parameter and the thread": (
        _two("st.shared.v2.u32 [s], {%r9, %r7};", "st.shared.v2.u32 [s], {%r9, %r7};", "add.u32 %r9, %r7, %r1;\n"),
        "race",
    ),
    "an atomic of one value": (_two("atom.shared.exch.b32 %r9, [s], 0;", "st.shared.u32 [s], 0;"), "race"),
    "an atomic and a byte": (_two("red.shared.or.b32 [s], %r7;", "st.shared.u8 [s+2], 0;"), "race"),
    "a load": (_two("ld.shared.u32 %r9, [s];", "st.shared.u8 [s], 0;"), "race"),
}
"""Pairs of accesses with the verdict, which no parameter changes."""


@pytest.mark.parametrize("name", CERTAIN)
def test_what_no_parameter_decides(name: str) -> None:
    body, verdict = CERTAIN[name]
    assert races(body).verdict.value == verdict
    seen = {_seen(body, number) for number in (0, 1, 4, 0x01010101)}
    assert seen == {verdict}


def test_a_strong_store_does_harm() -> None:
    body = _two("st.relaxed.cta.shared.u32 [s], 0;", "st.shared.u32 [s], 0;")
    assert _seen(body, 1) == "race"
    assert races(body).verdict not in (RaceVerdict.FREE, RaceVerdict.BENIGN)


DATA = {
    "a word of each thread": "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nld.global.u32 %r9, [%rd3];\n"
    + _STORE.format("%r9"),
    "a word and a number": _two("st.shared.u32 [s], %r9;", "st.shared.u8 [s], 0;", "ld.global.u32 %r9, [%rd1+4];\n"),
    "a copy and a number": _two("cp.async.ca.shared.global [s], [%rd1], 4;", "st.shared.u32 [s], 0;"),
}


@pytest.mark.parametrize("name", DATA)
def test_what_memory_holds_may_vary(name: str) -> None:
    """A launch with other data has a benign race alone."""
    assert {_seen(DATA[name], 1, fill) for fill in ("zero", "u32")} == {"race", "race-benign"}
    assert races(DATA[name]).verdict is RaceVerdict.DEPENDS
    assert races(DATA[name], given=_with(3)).verdict is RaceVerdict.DEPENDS


STARTS = {
    "the start and a number": (_two("st.shared.u32 [s], %r3;", "st.shared.u32 [s], 0;"), "depends"),
    "the start and what lies behind it": (
        _two("st.shared.u32 [s], %r3;", "st.shared.u32 [s], %r9;", "add.u32 %r9, %r3, 4;\n"),
        "race",
    ),
    "the start and a byte that it never has": (_two("st.shared.u32 [s], %r3;", "st.shared.u8 [s], 1;"), "race"),
    "the start": (_STORE.format("%r3"), "race-benign"),
}


@pytest.mark.parametrize("name", STARTS)
def test_where_an_array_starts_is_not_known(name: str) -> None:
    """A run puts the array at one of the places where it may lie: there it may be another number than on the chip."""
    body, verdict = STARTS[name]
    assert races(body).verdict.value == verdict


def test_the_condition_has_values_with_which_two_values_are_written() -> None:
    (pair, *_) = races(PAIRS["a word and a byte"][0]).pairs
    assert pair.witness is not None
    (number,) = (value for name, value in pair.witness.parameters if name == "n+0:4")
    assert number % 256
    assert f"n+0:4 = {number}" in pair.condition
    (pair, *_) = races(CERTAIN["a word and another byte of one thread"][0]).pairs
    assert pair.witness is not None
    assert pair.witness.byte == 1, "the byte of a witness is one that both touch"


UNKNOWN_TO_RUNS = _two(
    "ex2.approx.f32 %f1, 0f3F800000;\nst.shared.f32 [s], %f1;",
    "ex2.approx.f32 %f2, 0f3F800000;\nst.shared.f32 [s], %f2;",
)


def test_values_that_no_run_knows_may_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two instructions make one number, which neither a proof nor a run knows: no race is shown."""
    assert _seen(UNKNOWN_TO_RUNS, 1) == "race-benign"
    assert races(UNKNOWN_TO_RUNS).verdict is RaceVerdict.UNKNOWN
    monkeypatch.setattr(touches, "_IS_STORE", touches._IS_STORE & False)
    assert races(UNKNOWN_TO_RUNS).verdict is RaceVerdict.RACE


def test_planted_mistakes_in_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words are compared as if all stores began at one byte, and runs do not look: a wrong benign race."""
    monkeypatch.setattr(Runs, "confirmed", lambda _, found, *__: found)
    body, verdict = CERTAIN["two numbers in a word and a byte"]
    assert races(body).verdict.value == verdict
    real = alike.equal_where_both
    monkeypatch.setattr(alike, "equal_where_both", lambda one, two, _: real(one, two, const(0, 32)))
    assert races(body).verdict.value == "race-benign"


def test_planted_mistake_in_what_may_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a loop counts, or what shared memory holds, is taken to be one value in all launches."""
    real = race_values._feeds
    monkeypatch.setattr(race_values, "_feeds", lambda kernel, leaf: real(kernel, leaf) or ())
    assert races(PAIRS["what shared memory holds"][0]).verdict is RaceVerdict.RACE


_ZERO = "cvt.rn.f32.u32 %f1, %r1;\nmul.f32 %f2, %f1, 0f00000000;\nmov.b32 %r10, %f2;\n"
"""`%r10` is 0 in all threads, which is not known, and nothing that it is made of may vary."""
ELSEWHERE = {
    "in a later trip": "mov.u32 %r11, 0;\nL:\nst.shared.u32 [s], %r10;\nbar.sync 0;\nmul.lo.u32 %r10, %r7, %r1;\n"
    "add.u32 %r11, %r11, 1;\nsetp.lt.u32 %p1, %r11, 3;\n@%p1 bra L;\n",
    "by another store of the line": "mul.lo.u32 %r11, %r7, %r1;\n"
    "st.shared.u32 [s], %r10; bar.sync 0; st.shared.u32 [s], %r11;\n",
}
"""Two threads store 0 at a line, and there, too, multiples of the parameter."""


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_run_may_show_the_values_of_another_trip_or_store(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = _ZERO + ELSEWHERE[name]
    text = f"{HEAD}{body}ret;\n}}\n"
    seen = [launched(text, "k", (64,), params=[Buffer(64), number, Buffer(64)]).verdict for number in (0, 7)]
    assert seen == ["race-benign", "race"]
    assert races(body).verdict.value == "depends"
    monkeypatch.setattr(race_values, "_is_known_in_run", lambda *_: True)
    assert races(body).verdict.value == "race"


def test_values_that_are_not_followed_and_stored_once_race() -> None:
    body = "cvt.rn.f32.u32 %f1, %r1;\nadd.f32 %f2, %f1, 0f3F800000;\nst.shared.f32 [s], %f2;\n"
    assert races(body).verdict.value == "race"


_PART = "setp.eq.u32 %p2, %r9, 0;\n"
IN_FIRST = {
    "other threads than in later blocks": "shr.u32 %r10, %r1, 1;\nselp.u32 %r11, 3, 0, %p2;\n"
    "setp.eq.u32 %p1, %r10, %r11;\nmul.lo.u32 %r12, %r1, %r7;\nsetp.lt.u32 %p3, %r1, 2;\n"
    "selp.u32 %r13, %r1, %r12, %p3;\n@%p1 st.shared.u32 [s], %r13;\n",
    "in a later trip": _ZERO + "selp.b32 %r10, %r10, %r1, %p2;\n" + ELSEWHERE["in a later trip"],
}
"""Threads of the first block store multiples of the parameter, and those of other blocks their own numbers."""


@pytest.mark.parametrize("name", IN_FIRST)
def test_the_first_block_may_write_one_value_in_some_launch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = _PLACE + _PART + IN_FIRST[name]
    text = f"{HEAD}{body}ret;\n}}\n"
    seen = [
        launched(text, "k", (64,), (blocks,), params=[Buffer(64), number, Buffer(64)]).verdict
        for number, blocks in ((0, 1), (0, 2), (7, 1))
    ]
    assert seen == ["race-benign", "race", "race"]
    assert races(body).verdict.value == "depends"
    monkeypatch.setattr(race_meetings, "surely_differ", lambda *_: True)
    assert races(body).verdict.value == "race"

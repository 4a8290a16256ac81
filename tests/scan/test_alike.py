"""Accesses of unrolled code that differ in a number: what is proved of some holds of the others, and of no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from swzverify.compiled.scan import ScannedAccess, bounds, decide
from swzverify.compiled.scan import aligned as of_alignment
from swzverify.compiled.scan.split import Parts
from tests.scan.texts import scanned

ROW = "mad.lo.u32 %r20, %r1, 4, %r3;"
HIGH = "or.b32 %r9, %r1, 0x80000010; add.u32 %r20, %r9, %r3;"
"""The byte at 2^31, and 16 to 95 bytes more."""


def loads(start: str, *numbers: int, kind: str = "u32", into: str = "%r30") -> list[ScannedAccess]:
    """Loads that differ in a number alone; their array has 8 KiB."""
    return scanned(f"{start} {' '.join(f'ld.shared.{kind} {into}, [%r20+{each}];' for each in numbers)}")


def verdicts(start: str, *numbers: int, kind: str = "u32", into: str = "%r30") -> list[str]:
    return [each.in_bounds.verdict.value for each in loads(start, *numbers, kind=kind, into=into)]


def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts what is asked about bounds, an entry for each number."""
    found: list[int] = []
    original = bounds._at_number

    def at(subject: Any, case: Any, total: Any) -> Any:
        found.append(total.number)
        return original(subject, case, total)

    monkeypatch.setattr(bounds, "_at_number", at)
    return found


def test_two_of_many_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = asked(monkeypatch)
    found = loads(ROW, 512, 0, 256, 1024, 768)
    assert numbers == [0, 1024]
    assert {each.in_bounds.engines for each in found} == {("exhaustion", "folding")}
    assert {each.in_bounds.verdict for each in found} == {"proved"}


def test_two_are_asked_about_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = asked(monkeypatch)
    assert verdicts(ROW, 0, 512) == ["proved", "proved"]
    assert numbers == []


def test_those_outside_are_found() -> None:
    assert verdicts(ROW, 0, 4096, 8192 - 256, 8192 - 252, 8192) == ["proved"] * 3 + ["refuted"] * 2
    assert verdicts(ROW, -4, 0, 4) == ["refuted", "proved", "proved"]


def test_the_highest_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    original = bounds._at_number
    monkeypatch.setattr(bounds, "_at_number", lambda of, case, total: original(of, case, replace(total, number=0)))
    with pytest.raises(AssertionError):
        test_those_outside_are_found()


def test_other_guards_are_asked_about() -> None:
    """The highest is in bounds for the lanes that load there, and not for those that load below."""
    body = f"{ROW} ld.shared.u32 %r30, [%r20+0]; ld.shared.u32 %r30, [%r20+8184];"
    body += " setp.lt.u32 %p1, %r1, 1; @%p1 ld.shared.u32 %r30, [%r20+8188];"
    found = [each.in_bounds.verdict.value for each in scanned(body)]
    assert found == ["proved", "refuted", "proved"]


def test_addresses_go_round() -> None:
    """Lowest and highest are in the array, with a turn of 2^32 bytes between them."""
    found = verdicts(HIGH, -(1 << 31), 0, (1 << 31) - 1, kind="u8", into="%h1")
    assert found == ["proved", "refuted", "proved"]


def test_a_turn_between_them_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_is_one_turn", lambda *_: True)
    with pytest.raises(AssertionError):
        test_addresses_go_round()


# ---- conflicts and alignment


def conflicts(start: str, *numbers: int, kind: str = "u32", into: str = "%r30") -> list[tuple[str, str]]:
    found = loads(start, *numbers, kind=kind, into=into)
    return [(each.decision.verdict.value, each.aligned.verdict.value) for each in found]


def test_a_rest_of_the_width_counts() -> None:
    row = "mad.lo.u32 %r20, %r1, 8, %r3;"
    found = conflicts(row, 0, 8, 4, 16, kind="v2.u32", into="{%r30, %r31}")
    assert found == [("free", "proved"), ("free", "proved"), ("free", "refuted"), ("free", "proved")]


SPLIT = "setp.eq.u32 %p1, %r1, 31; selp.b32 %r9, 2, 0, %p1; mad.lo.u32 %r9, %r1, 4, %r9; add.u32 %r20, %r9, %r3;"
"""The first byte of a word for each lane, the third one for the last lane."""


def test_a_rest_of_a_word_counts() -> None:
    """Two bytes farther, the last lane reads the word behind the banks of the others."""
    found = scanned(f"{SPLIT} ld.shared.u8 %h1, [%r20]; ld.shared.u8 %h1, [%r20+2];", (32, 1, 1))
    assert [each.decision.verdict.value for each in found] == ["free", "conflict"]


def test_two_addresses_are_not_alike() -> None:
    body = f"{ROW} ld.shared.u32 %r30, [%r20]; shl.b32 %r9, %r1, 7; add.u32 %r21, %r9, %r3;"
    found = scanned(f"{body} ld.shared.u32 %r30, [%r21];")
    assert [each.decision.verdict.value for each in found] == ["free", "conflict"]


def test_planted_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "BANK_WORD_BYTES", 1)
    with pytest.raises(AssertionError):
        test_a_rest_of_a_word_counts()


def test_planted_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Parts, "key", property(lambda _: ()))
    with pytest.raises(AssertionError):
        test_two_addresses_are_not_alike()


def test_planted_widths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rest of the number, the misaligned one of the loads would be proved."""
    original = of_alignment.sum_of
    monkeypatch.setattr(of_alignment, "sum_of", lambda value: replace(original(value), number=0))
    with pytest.raises(AssertionError):
        test_a_rest_of_the_width_counts()

"""The slots of operands against the reuse bits of encodings that ptxas made."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from swzverify.compiled.sass.instructions import read_instructions

DATA = Path(__file__).parent.parent / "data" / "reuse_slots.txt"
FIRST = 2
"""Slots are numbered from 2 here, as maxas does it; the reuse bits from 0."""


def rows() -> list[tuple[str, str, set[int]]]:
    lines = [line for line in DATA.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    parts = [[part.strip() for part in line.split("|", 1)] for line in lines]
    found: list[tuple[str, str, set[int]]] = []
    for target, rest in parts:
        text, _, slots = rest.rpartition("|")
        found.append((target, text.strip(), {int(slot) for slot in slots.split(",")}))
    return found


def test_a_slot_that_is_told_is_that_of_the_encoding() -> None:
    told: Counter[str] = Counter()
    for target, text, slots in rows():
        (found,) = read_instructions(f"{text};", 2).functions[""]
        marked = [read for read in found.reads if read.reuse]
        if any(read.slot is None for read in marked):
            continue
        assert {read.slot - FIRST for read in marked if read.slot is not None} == slots, f"{target}: {text}"
        told[text.removeprefix("@").split()[0].split(".")[0]] += 1
    assert {"FADD", "FMUL", "FFMA", "IADD3", "LOP3", "IMAD"} <= set(told)


def test_the_second_source_of_an_addition_has_the_last_slot() -> None:
    assert any(text.startswith("FADD") and slots == {0, 2} for _, text, slots in rows())

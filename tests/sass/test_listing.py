"""Listings of nvdisasm: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from swzverify.compiled.sass import ListingError, opcode_of, read_listing
from swzverify.hardware import Kind

LISTING = (Path(__file__).parents[1] / "data" / "sass" / "k.lst").read_text(encoding="utf-8")
HEAD = '\t.target\tsm_90\n\t.section\t.text.k,"ax",@progbits\n'
TABLE = '\t//## File ".nv_debug_ptx_txt", line 7\n'


def code(place: int, text: str) -> str:
    return f"        /*{place:04x}*/                   {text} ;\n"


def test_a_recorded_listing() -> None:
    found = read_listing(LISTING)
    assert (found.target, found.has_lines) == ("sm_90", True)
    told = [(each.name, each.opcode.width_bits, each.line) for each in found.of_kernel("k") or ()]
    assert told == [("STS.128", 128, 46), ("LDS.128", 128, 52), ("LDS.128", 128, 60), ("LDS", 32, 72)]
    assert found.of_kernel("other") is None
    assert [each.line for each in read_listing(LISTING, -8).of_all()] == [38, 44, 52, 64]


@pytest.mark.parametrize(
    ("text", "kind", "bits"),
    [
        ("LDS", Kind.LOAD, 32),
        ("LDS.U8", Kind.LOAD, 8),
        ("LDS.S16", Kind.LOAD, 16),
        ("STS.64", Kind.STORE, 64),
        ("LD.E.128", Kind.LOAD, 128),
        ("LDSM.16.MT88.2", Kind.LDMATRIX, 128),
        ("STSM.16.M88.4", Kind.STMATRIX, 128),
        ("LDGSTS.E.BYPASS.LTC128B.128", Kind.CP_ASYNC, 128),
        ("LDGSTS.E", Kind.CP_ASYNC, 32),
        ("ATOMS.ADD", Kind.ATOMIC, 32),
        ("ATOMS.CAST.SPIN.64", Kind.ATOMIC, 64),
        ("ATOMS.NEW", Kind.ATOMIC, None),
        ("LDS.NEW", Kind.LOAD, None),
        ("LDS.64.128", Kind.LOAD, None),
        ("UBLKCP", None, None),
    ],
)
def test_widths_are_bits(text: str, kind: Kind | None, bits: int | None) -> None:
    found = opcode_of(text)
    assert found is not None
    assert (found.kind, found.width_bits) == (kind, bits)


@pytest.mark.parametrize("text", ["LDG.E.128", "STG.E", "LDC", "MOV", "BAR.SYNC.DEFER_BLOCKING"])
def test_other_memory_is_left_out(text: str) -> None:
    assert opcode_of(text) is None


def test_the_idle_load_beside_a_copy_is_no_access() -> None:
    text = HEAD + TABLE + code(0, "LDS RZ, [RZ]") + code(16, "LDS R1, [RZ]")
    assert len(read_listing(text).of_all()) == 1


def test_without_a_table_no_line_is_claimed() -> None:
    found = read_listing(HEAD + code(0, "LDS R1, [R2]") + '\t//## File "/a/k.cu", line 3\n' + code(16, "STS [R2], R1"))
    assert not found.has_lines
    assert [each.line for each in found.of_all()] == [None, None]


def test_a_new_section_begins_without_a_line() -> None:
    more = '\t.section\t.text.f,"ax",@progbits\n' + code(0, "LDS R1, [R2]")
    found = read_listing(HEAD + TABLE + code(0, "LDS R1, [R2]") + more)
    assert [each.line for each in found.of_all()] == [7, None]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no target"),
        ("\0\0\0", "not understood"),
        (HEAD + code(16, "NOP"), "expected 0x0"),
        (HEAD + code(0, "NOP") + code(32, "NOP"), "expected 0x10"),
        ("\t.target\tsm_90\n" + code(0, "NOP"), "outside of a section"),
        (HEAD + '\t.section\t.text.k,"ax",@progbits\n', "again"),
        (HEAD + '\t//## File ".nv_debug_ptx_txt", line 9 inlined at "x"\n', "not understood"),
        (HEAD + '\t.section\t.text.a\x1b[31m,"ax",@progbits\n', "not understood"),
        (HEAD + "LDS R1, [R2]\n", "not understood"),
    ],
)
def test_what_is_not_expected_is_an_error(text: str, words: str) -> None:
    with pytest.raises(ListingError, match=words) as caught:
        read_listing(text)
    assert str(caught.value).isprintable()

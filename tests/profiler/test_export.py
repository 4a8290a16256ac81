"""The reader of Nsight Compute's source page: a recorded one, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from swzverify.compiled.profiler import Counts, read_counters_of
from swzverify.compiled.profiler.export import exported
from swzverify.errors import SwzError
from tests.profiler.recorded import MIXED, PADDED, ROWS, source_page

HEAD = '"Kernel Name","k"\n"Address","Source","Instructions Executed","L1 Wavefronts Shared"\n'
DETAILS = (
    '"ID","Kernel Name","Block Size","Section Name","Metric Name","Metric Value"\n"0","k","(1, 1, 1)","O","B","32"\n'
)


def message(text: str | bytes) -> str:
    with pytest.raises(SwzError) as caught:
        exported(text if isinstance(text, bytes) else text.encode(), "c.csv")
    assert caught.value.code == "SWZ544"
    return caught.value.message


def test_the_recorded_page() -> None:
    found = exported(source_page().encode(), "c.csv")
    assert [each.kernel for each in found.profiles] == [ROWS, PADDED, MIXED, MIXED]
    assert found.missing == ()
    first, *_, last = found.profiles
    assert (first.size_bytes, len(first.instructions)) == (5888, 58)
    assert first.instructions[0x1520] == ("LDS R5, [R4+-0x40]", Counts(8, 256, 8, 256))
    assert last.instructions[0xAF0] == ("LDSM.16.M88.4 R4, [R4]", Counts(4, 128, 16, 128))
    assert last.instructions[0xB00] == ("@P0 STS [R3+UR7], R2", Counts(4, 0, 0, 0))


def test_what_the_program_says_before_is_passed_over() -> None:
    before = "==PROF== Connected\nhere is a \" of the program's\n"
    assert (
        exported((before + source_page()).encode(), "c.csv").profiles == exported(source_page().encode(), "").profiles
    )


def test_a_launch_that_is_printed_twice_counts_once() -> None:
    row = '"0x10","LDS R1, [R2]","4","{}"\n'
    once = HEAD + row.format(8)
    assert len(exported((once + once).encode(), "c.csv").profiles) == 1
    assert len(exported((once + HEAD + row.format(4)).encode(), "c.csv").profiles) == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings(encoding: str) -> None:
    assert len(exported(source_page().encode(encoding), "c.csv").profiles) == 4


def test_other_titles_and_numbers() -> None:
    text = "Kernel Name,k\n#,Address,Source,# Inst. Executed,memory_l1_wavefronts_shared\n"
    text += '0,0x0,"LDS R1, [R2]","1,024",n/a\n'
    (found,) = exported(text.encode(), "c.csv").profiles
    assert found.instructions == {0: ("LDS R1, [R2]", None)}
    (found,) = exported(text.replace("n/a", '"4,096"').encode(), "c.csv").profiles
    assert found.instructions == {0: ("LDS R1, [R2]", Counts(1024, 4096))}


def test_columns_that_lack_are_named() -> None:
    missing = exported((HEAD + '"0x10","NOP","4","0"\n').encode(), "c.csv").missing
    assert missing == ("L1 Wavefronts Shared Ideal", "Predicated-On Thread Instructions Executed")
    text = HEAD.replace(',"L1 Wavefronts Shared"', "")
    assert message(text + '"0x10","NOP","4"\n') == "c.csv has no column 'L1 Wavefronts Shared'"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no row 'Kernel Name'"),
        ("no page\n", "has no row 'Kernel Name'"),
        (DETAILS, "is a details page"),
        ('"ID","Kernel Name","Block Size"\n', "is a raw page"),
        ('"File Path","k.cu"\n"Function Name","k"\n"Line No","Source"\n', "is a page of source lines"),
        ('"Kernel Name","k"\n', "ends before the instructions of k"),
        (HEAD, "ends before the instructions of k"),
        (HEAD + HEAD, "line 3 of c.csv ends the kernel k, which has no instruction"),
        ('"Kernel Name","k"\n"Line No","Source"\n', "line 2 of c.csv is not the titles"),
        (HEAD + '"0x10","NOP","4"\n', "has 3 values and 4 titles: the file may be cut off"),
        (HEAD + '"0x10","NOP","4","0"\n"0x30","NOP","4","0"\n', "line 4 of c.csv is not the next instruction: 0x30"),
        (HEAD + '"zz","NOP","4","0"\n', "has no address: 'zz'"),
        (HEAD + '"0x10","LDS R1, [R2]","4","1e3"\n', "has no whole number as 'L1 Wavefronts Shared': '1e3'"),
        (HEAD + '"0x10","LDS R1, [R2]","-4","1"\n', "has no whole number as 'Instructions Executed': '-4'"),
        (HEAD + f'"0x10","LDS R1, [R2]","{"9" * 5000}","1"\n', "has no whole number"),
        (HEAD + '"0x10","LDS R1, [R2', "is no CSV"),
        (HEAD + f'"0x10","{"x" * 200_000}","4","1"\n', "is no CSV: field larger than field limit"),
        (b"NCU\0report", "is no text"),
        (b"\xff\xfe\x00", "has no row 'Kernel Name'"),
    ],
)
def test_files_that_are_no_source_page(text: str | bytes, words: str) -> None:
    assert words in message(text)


@pytest.mark.parametrize("keep", [0.1, 0.35, 0.5, 0.77, 0.999])
def test_a_page_that_is_cut_off_is_refused(keep: float) -> None:
    page = source_page()
    text = page[: int(len(page) * keep)]
    if text.endswith("\n"):
        text = text[:-2]
    assert "cut off" in message(text)


def test_names_with_control_characters() -> None:
    text = message(HEAD + '"\x1b[31m\u202e","NOP","4","0"\n')
    assert text.isprintable()
    assert "\x1b" not in text


def test_a_large_page() -> None:
    rows = "".join(f'"{16 * at:#x}","LDS R1, [R2]","4","8"\n' for at in range(50_000))
    (found,) = exported((HEAD + rows).encode(), "c.csv").profiles
    assert found.size_bytes == 16 * 50_000


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(SwzError, match="is no file"):
            read_counters_of(str(path))
    monkeypatch.setattr("swzverify.compiled.profiler.export.MOST_BYTES", 10)
    (tmp_path / "c.csv").write_text(HEAD)
    with pytest.raises(SwzError, match="has more than 0 MiB"):
        read_counters_of(str(tmp_path / "c.csv"))

"""Machine code for PTX texts: with tools that are scripts, and from files that lie."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from swzverify.compiled.binaries import NOT_GIVEN, machine_of_file, ptx_of_file
from swzverify.compiled.binaries.ptx_table import ptx_of_cubin, section_of, shift_between
from swzverify.compiled.sass import read_listing
from tests.binaries.fakes import only_tool, ptx

TEXT = ptx("sm_90")
LISTING = "\\t.target\\tsm_90"


def cubin(text: str | None) -> bytes:
    """A cubin that holds a PTX text, and nothing else."""
    names = b"\0.nv_debug_ptx_txt\0"
    held = b"" if text is None else text.replace("\n", "\0").encode()
    head = bytearray(b"\x7fELF\x02\x01" + bytes(58))
    struct.pack_into("<H", head, 18, 190)
    struct.pack_into("<Q", head, 40, 64 + len(names) + len(held))
    struct.pack_into("<HHH", head, 58, 64, 2, 0)
    rows = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64, len(names), 0, 0, 0, 0)
    rows += struct.pack("<IIQQQQIIQQ", 1 if text else 0, 1, 0, 0, 64 + len(names), len(held), 0, 0, 0, 0)
    return bytes(head) + names + held + rows


@pytest.fixture
def given(tmp_path: Path) -> str:
    (tmp_path / "k.ptx").write_text(TEXT, encoding="utf-8")
    return str(tmp_path / "k.ptx")


def reason(given: str, data: bytes, tmp_path: Path) -> str:
    (tmp_path / "k.cubin").write_bytes(data)
    (found,) = machine_of_file(given, [TEXT], "sm_90", [str(tmp_path / "k.cubin")])
    return found.reason


def test_the_listing_of_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    only_tool(monkeypatch, tmp_path, "nvdisasm", f"printf '{LISTING}\\n'; echo \"// $1 $2\"")
    (tmp_path / "k.cubin").write_bytes(cubin("\n\n" + TEXT))
    (found,) = machine_of_file(given, [TEXT], "sm_90", [str(tmp_path / "k.cubin")])
    assert (found.listing, found.shift, found.reason) == ("\t.target\tsm_90\n// -gp -c\n", -2, "")


def test_cubins_of_cuda_12_have_flags_for_a_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    flags = '\\t.headerflags\\t@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_{0} EF_CUDA_VIRTUAL_SM(EF_CUDA_{0})"\\n'
    only_tool(monkeypatch, tmp_path, "nvdisasm", f"printf '{flags.format('SM90')}'")
    (tmp_path / "k.cubin").write_bytes(cubin(TEXT))
    (found,) = machine_of_file(given, [TEXT], "sm_90", [str(tmp_path / "k.cubin")])
    assert read_listing(found.listing).target == "sm_90"
    only_tool(monkeypatch, tmp_path, "nvdisasm", f"printf '{flags.format('SM80')}'")
    assert "of sm_80, which sm_90 does not run" in reason(given, cubin(TEXT), tmp_path)


def test_why_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    assert machine_of_file(given, [TEXT], "sm_90")[0].reason == NOT_GIVEN
    only_tool(monkeypatch, tmp_path)
    assert "nvdisasm is not found" in reason(given, cubin(TEXT), tmp_path)
    only_tool(monkeypatch, tmp_path, "nvdisasm", f"printf '{LISTING}\\n'")
    assert "not made of this PTX text" in reason(given, cubin(TEXT.replace("ret;", "exit;")), tmp_path)
    assert "-lineinfo" in reason(given, cubin(None), tmp_path)
    assert "-lineinfo" in reason(given, cubin(TEXT)[:200], tmp_path)
    only_tool(monkeypatch, tmp_path, "nvdisasm", "printf '\\t.target\\tsm_80\\n'")
    assert "of sm_80, which sm_90 does not run" in reason(given, cubin(TEXT), tmp_path)
    only_tool(monkeypatch, tmp_path, "nvdisasm", "echo 'bad image' >&2; exit 3")
    assert reason(given, cubin(TEXT), tmp_path) == "nvdisasm failed with code 3: bad image"


def test_a_cubin_is_scanned_by_the_text_that_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_tool(monkeypatch, tmp_path, "cuobjdump", "echo 'No PTX file found' >&2")
    (tmp_path / "k.cubin").write_bytes(cubin(TEXT))
    (found,) = ptx_of_file(str(tmp_path / "k.cubin"), "sm_90") or []
    assert found.text == TEXT
    assert "machine code" in found.origin


@pytest.mark.parametrize("change", ["ret;", ".address_size 64", ".entry k()"])
def test_another_text_has_no_shift(change: str) -> None:
    assert shift_between(TEXT, TEXT) == 0
    assert shift_between("// a\n" + TEXT.replace("ret;", "/* b\n */ ret; // c"), TEXT) is None
    assert shift_between("// a\n" + TEXT.replace("ret;", "ret; // c"), TEXT) == 1
    assert shift_between(TEXT.replace(change, ""), TEXT) is None
    assert shift_between(TEXT, TEXT.replace(change, "")) is None
    assert shift_between(TEXT, "") is None


def test_a_file_that_lies_about_itself() -> None:
    whole = cubin(TEXT)
    assert ptx_of_cubin(whole) == TEXT
    for end in range(0, len(whole), 7):
        assert section_of(whole[:end], ".nv_debug_ptx_txt") is None
    for place in range(40, 64):
        for value in (0, 1, 255):
            section_of(whole[:place] + bytes([value]) + whole[place + 1 :], ".nv_debug_ptx_txt")
    for place in range(len(whole) - 128, len(whole)):
        section_of(whole[:place] + b"\xff" + whole[place + 1 :], ".nv_debug_ptx_txt")

"""What is no PTX text, and files: each refused with its code, its line and what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from swzverify.compiled.ptx import MAX_BYTES, PtxError, read_module, read_module_file
from tests.ptx.texts import HEADER, HERE

KERNEL = HEADER + ".entry k() { ret; }\n"


def refusal(text: str) -> PtxError:
    with pytest.raises(PtxError) as caught:
        read_module(text, "k.ptx")
    return caught.value


NO_PTX = [
    ("empty", "", 1, "the text is empty; PTX begins with .version"),
    ("blank", "\n\n  ", 3, "the text is empty; PTX begins with .version"),
    ("comments only", "// a\n/* b\n*/", 3, "the text is empty; PTX begins with .version"),
    (
        "C",
        "\n__global__ void k() {}",
        2,
        "this is not PTX: it begins with `__global__ void k() {}`; PTX begins with .version",
    ),
    (
        "heading of cuobjdump",
        "Fatbin ptx code:\n====\n" + KERNEL,
        1,
        "this is not PTX: it begins with `Fatbin ptx code: ==== .version",
    ),
    ("no number", ".version nine\n", 1, "it begins with `.version nine`"),
    ("number cut short", ".version 9.\n", 1, "it begins with `.version 9.`"),
    ("number too long", ".version 99999999.0\n", 1, "it begins with `.version 99999999.0`"),
    ("no target", ".version 9.0\n.address_size 64\n", 3, "found no .target"),
    ("zero byte", HEADER + "\n\0\n.entry", 5, "not text: it holds zero bytes"),
    ("terminal code", "\x1b[31m", 1, "\ufffd[31m"),
]


@pytest.mark.parametrize(("text", "line", "message"), [row[1:] for row in NO_PTX], ids=[row[0] for row in NO_PTX])
def test_what_is_no_ptx(text: str, line: int, message: str) -> None:
    error = refusal(text)
    assert (error.code, error.line) == ("SWZ531", line)
    assert message in error.message
    assert "\x1b" not in str(error)


@pytest.mark.parametrize("comment", ["/*", "/*/", "/* a\n b *", "x /* /* * /"])
def test_a_comment_without_an_end(comment: str) -> None:
    error = refusal(HEADER + "\n" + comment + "\n")
    assert (error.code, error.line) == ("SWZ532", 5)
    assert "without its `*/`" in error.message


@pytest.mark.parametrize("text", [KERNEL + "\0", KERNEL + "\0\0\0", "\ufeff" + KERNEL, KERNEL.replace("\n", "\r\n")])
def test_what_tools_add_does_not_matter(text: str) -> None:
    assert read_module(text, "k.ptx").functions[0].instructions[0].line == 4


@pytest.mark.parametrize("version", ["1.0", "3.2", "9.0", "12.9", "99.99"])
def test_every_version_is_read(version: str) -> None:
    found = read_module(KERNEL.replace("9.0", version), "k.ptx")
    assert ".".join(map(str, found.version)) == version
    assert found.functions[0].problem is None


def test_a_text_without_address_size_has_32_bits() -> None:
    assert read_module(KERNEL.replace(".address_size 64\n", ""), "k.ptx").address_size == 32


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "k.ptx"
    path.write_bytes(data)
    return path


def test_a_file(tmp_path: Path) -> None:
    found = read_module_file(written(tmp_path, b"\xef\xbb\xbf// \xc3\xa9\r\n" + KERNEL.encode()))
    assert found.name == str(tmp_path / "k.ptx")
    assert found.functions[0].instructions[0].line == 5


@pytest.mark.parametrize("name", ["rows.ptx", "debug.ptx", "hopper.ptx"])
def test_own_files(name: str) -> None:
    found = read_module_file(str(HERE / name))
    assert not found.problems
    assert [each.problem for each in found.functions] == [None] * len(found.functions)


BAD_FILES = [
    ("cubin", b"\x7fELF\x02\x01\x01", "this is a cubin or another ELF file"),
    ("fatbin", b"\x50\xed\x55\xba\x01\0", "this is a fatbin"),
    ("bitcode", b"BC\xc0\xde", "this is LLVM bitcode"),
    ("UTF-16", KERNEL.encode("utf-16"), "this is UTF-16"),
    ("gzip", b"\x1f\x8b\x08", "this is compressed data"),
    ("Latin-1", KERNEL.encode() + b"// M\xfcller", "line 5: byte 0xfc is not UTF-8"),
    ("cut inside a letter", KERNEL.encode() + b"// \xc3", "line 5: byte 0xc3 is not UTF-8"),
    ("surrogate", KERNEL.encode() + b"// \xed\xa0\x80", "line 5: byte 0xed is not UTF-8"),
    ("random", bytes(range(1, 256)), "is not UTF-8"),
    ("zero bytes", b"\0" * 100 + b"a", "line 1: not text: it holds zero bytes"),
    ("empty", b"", "the text is empty"),
]


@pytest.mark.parametrize(("data", "message"), [row[1:] for row in BAD_FILES], ids=[row[0] for row in BAD_FILES])
def test_files_that_hold_no_text(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(PtxError) as caught:
        read_module_file(written(tmp_path, data))
    assert caught.value.code == "SWZ531"
    assert message in str(caught.value)


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = written(tmp_path, KERNEL.encode())
    os.truncate(path, 100 * MAX_BYTES)  # sparse
    with pytest.raises(PtxError, match=r"SWZ533: .*larger than 32 MiB"):
        read_module_file(path)


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    with pytest.raises(PtxError, match=r"SWZ531: .*not a regular file but a directory"):
        read_module_file(tmp_path)
    with pytest.raises(PtxError, match=r"SWZ531: .*cannot be read: "):
        read_module_file(tmp_path / "none.ptx")
    with pytest.raises(PtxError, match=r"SWZ531: .*cannot be read: "):
        read_module_file("a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PtxError, match=r"SWZ531: .*not a regular file but a pipe, a socket or a device"):
        read_module_file(tmp_path / "pipe")
    if Path("/dev/zero").exists():
        with pytest.raises(PtxError, match=r"SWZ531"):
            read_module_file("/dev/zero")

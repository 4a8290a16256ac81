"""What a file is, by its bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from swzverify.compiled.binaries.kinds import Kind, kind_of
from swzverify.errors import SwzError

ELF = b"\x7fELF\x02\x01" + bytes(12)


@pytest.mark.parametrize(
    ("name", "content", "kind", "words"),
    [
        ("k.ptx", b".version 8.3\n", Kind.PTX, "PTX"),
        ("k.ptx", ELF + b"\xbe\x00" + bytes(40), Kind.BINARY, "cubin"),
        ("k.txt", ELF + b"\x3e\x00" + bytes(40), Kind.BINARY, "ELF file"),
        ("k", b"\x7fELF\x02\x02" + bytes(12) + b"\x00\xbe", Kind.BINARY, "cubin"),
        ("k", b"\x7fELF", Kind.BINARY, "ELF file"),
        ("k.ptx", b"\x50\xed\x55\xba\x01\x00", Kind.BINARY, "fatbin"),
        ("k.cu", b"!<arch>\n", Kind.BINARY, "static library"),
        ("k.exe", b"MZ\x90\x00", Kind.BINARY, "Windows program or library"),
        ("k.cu", b"__global__ void k() {}", Kind.SOURCE, "CUDA source"),
        ("K.CU", b"", Kind.SOURCE, "CUDA source"),
        ("k.cu", b"// of nvcc\n/* a * b */ .version 8.3\n", Kind.PTX, "PTX"),
        ("k.cu", b"\xef\xbb\xbf.version 8.3\n", Kind.PTX, "PTX"),
        ("k.cpp", b"int main() {}", Kind.PTX, "PTX"),
        ("k", b"", Kind.PTX, "PTX"),
    ],
)
def test_kinds(tmp_path: Path, name: str, content: bytes, kind: Kind, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert kind_of(str(path)) == (kind, words)


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (str(pipe), str(tmp_path), "/dev/zero", str(tmp_path / "none"), "a\0b"):
        with pytest.raises(SwzError, match="SWZ531"):
            kind_of(path)

"""Listings of one kernel for each target: the registers' and barriers' directives differ by target.

`tests/data/sass/targets` has what nvdisasm 13.5 wrote of `k.cu` there. Where nvcc and nvdisasm are
installed, every target that they know is compiled and listed again.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from swzverify.compiled.binaries.machine import listing_of_cubin
from swzverify.compiled.binaries.tools import find_tool
from swzverify.compiled.sass import ListingError, read_listing
from swzverify.errors import SwzError

FOLDER = Path(__file__).parents[1] / "data" / "sass" / "targets"
LISTINGS = sorted(FOLDER.glob("*.lst"))


def missing() -> str:
    """Why the tools cannot be asked; empty if they can."""
    try:
        find_tool("nvcc")
        find_tool("nvdisasm")
    except SwzError as error:
        return error.message
    return ""


def targets() -> list[str]:
    if missing():
        return []
    told = subprocess.run([find_tool("nvcc"), "--list-gpu-code"], check=True, capture_output=True, text=True).stdout
    return [each for each in told.split() if each.startswith("sm_")]


def expected(target: str) -> Counter[tuple[str, int | None, int]]:
    """What the kernel does to shared memory on a target: kinds, bits of a lane, matrices."""
    number = int(target.removeprefix("sm_"))
    found = Counter[tuple[str, int | None, int]](
        {("STORE", 128, 0): 1, ("LOAD", 128, 0): 1, ("LOAD", 32, 0): 2, ("LDMATRIX", 128, 2): 1}
    )
    # For Turing the atomic stands on both sides of a branch.
    found[("ATOMIC", 32, 0)] = 2 if number < 80 else 1
    if number >= 80:
        found[("CP_ASYNC", 128, 0)] = 1
    if number >= 90:
        found[("STMATRIX", 128, 2)] = 1
    return found


def check(text: str, target: str) -> None:
    found = read_listing(text)
    assert (found.target, found.has_lines) == (target, True)
    told = found.of_kernel("k")
    assert told is not None
    assert all(each.line for each in told)
    met = Counter(
        (each.opcode.kind.name if each.opcode.kind else "", each.opcode.width_bits, each.opcode.matrices)
        for each in told
    )
    assert met == expected(target)


@pytest.mark.parametrize("path", LISTINGS, ids=lambda path: path.stem)
def test_a_recorded_listing(path: Path) -> None:
    check(path.read_text(encoding="utf-8"), path.stem)


def test_every_generation_is_recorded() -> None:
    assert {each.stem for each in LISTINGS} == {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}


@pytest.mark.skipif(bool(missing()), reason=missing() or "both tools are there")
@pytest.mark.parametrize("target", targets())
def test_what_the_tools_write(target: str, tmp_path: Path) -> None:
    shutil.copy(FOLDER / "k.cu", tmp_path)
    out = tmp_path / "k.cubin"
    command = [find_tool("nvcc"), "-cubin", "-lineinfo", f"-arch={target}", "-o", str(out), str(tmp_path / "k.cu")]
    subprocess.run(command, check=True)
    check(listing_of_cubin(out.read_bytes(), "-gp"), target)


@pytest.mark.parametrize(
    "line", ['.sectioninfo\t@"SHI_REGISTERS=18"', '.sectionflags\t@"SHF_BARRIERS=1"', ".sectionflag 1"]
)
def test_directives_of_a_section(line: str) -> None:
    head = '\t.target\tsm_75\n\t.section\t.text.k,"ax",@progbits\n'
    code = "        /*0000*/                   LDS R1, [R2] ;\n"
    assert len(read_listing(head + f"\t{line}\n" + code).of_all()) == 1


@pytest.mark.parametrize("line", [".sectioninfos 1", ".section\t.text", ".sections"])
def test_other_directives_of_sections_are_refused(line: str) -> None:
    with pytest.raises(ListingError, match="not understood"):
        read_listing(f"\t.target\tsm_75\n\t{line} x y\n")

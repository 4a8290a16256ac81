"""Certificates of accesses of kernels: `scan` writes them, `recheck` accepts them, and refuses what
is planted in them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from swzrecheck.recheck import Status
from swzverify.apps.cli import main
from swzverify.compiled.scan.asker import Proof
from swzverify.compiled.scan.verdict import Goals
from tests.certificates.conftest import Folder
from tests.certificates.forger import remake
from tests.scan.texts import text_of

pytest.importorskip("bitwuzla")
KIND = "kernel_conflict_free"
LOAD = "ld.shared.u32 %r30, [%r20];"
SWIZZLE = (
    "shr.u32 %r10, %r1, 3; and.b32 %r11, %r1, 7; xor.b32 %r12, %r11, %r10; and.b32 %r12, %r12, 7;"
    " shl.b32 %r13, %r11, 7;"
    " shl.b32 %r14, %r12, 4; add.u32 %r13, %r13, %r14; add.u32 %r20, %r13, %r3; ld.shared.v4.u32 {%r30, %r31, %r32,"
    " %r33}, [%r20];"
)
ONE_LANE = (
    "mad.lo.u32 %r20, %r1, 128, %r3; and.b32 %r10, %r1, 31; setp.eq.u32 %p1, %r10, 0; @!%p1 bra OUT;" + LOAD + " OUT:"
)
TRIPS = (
    "mad.lo.u32 %r20, %r1, 4, %r3; mov.u32 %r10, 0; LOOP: "
    + LOAD
    + " add.u32 %r20, %r20, 256; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 8; @%p1 bra LOOP;"
)
OWN = (
    "ld.global.u8 %r10, [%d1]; shl.b32 %r11, %r10, 7; and.b32 %r12, %r1, 31;"
    " mad.lo.u32 %r11, %r12, 4, %r11; add.u32 %r20, %r11, %r3;" + LOAD
)
OCTETS = "mov.u32 %r3, z; mad.lo.u32 %r20, %r1, 16, %r3; cp.async.cg.shared.global [%r20], [%d1], 16;"
PAIRS = "shr.u32 %r10, %r1, 1; mad.lo.u32 %r20, %r10, 4, %r3;" + LOAD
ROWS = "mov.u32 %r10, %tid.y; shl.b32 %r11, %r10, 7; mad.lo.u32 %r11, %r1, 4, %r11; add.u32 %r20, %r11, %r3;" + LOAD
HALVES = "mad.lo.u32 %r20, %r1, 2, %r3; add.u32 %r20, %r20, %r2; ld.shared.u16 %h1, [%r20];"
COUNT = (
    "and.b32 %r10, %r1, 31; popc.b32 %r11, %r10; shl.b32 %r11, %r11, 7; shl.b32 %r12, %r10, 2;"
    " add.u32 %r11, %r11, %r12; add.u32 %r20, %r11, %r3;" + LOAD
)
FREE = {
    "swizzle": (SWIZZLE, "64"),
    "guard": (ONE_LANE, "64"),
    "trips": (TRIPS, "64"),
    "own": (OWN, "64"),
    "own, of 32 bits": (OWN.replace("u8", "u32"), "64"),
    "octets": (OCTETS, "64"),
    "merged": (PAIRS.replace(LOAD, "atom.shared.add.u32 %r30, [%r20], 1;"), "64"),
    "pairs": (PAIRS, "64"),
    "rows": (ROWS, "32,2"),
    "halves": (HALVES, "64"),
    "count of bits": (COUNT, "64"),
    "part of a warp": (ROWS.replace("%tid.y", "%laneid"), "17"),
}
OUTSIDE = ".shared .align 128 .b8 z[8192];\n"
Change = Callable[[dict[str, Any]], None]


def written(place: Path, body: str, block: str) -> Folder:
    """The certificates of a kernel, as the command writes them."""
    (place / "k.ptx").write_text(text_of(body, OUTSIDE), encoding="utf-8")
    words = ["scan", str(place / "k.ptx"), "--block", block, "--certificates", str(place / "certs"), "-j", "1"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "certificates of 1 of 1 free accesses" in result.output, result.output
    return Folder(place / "certs")


@pytest.mark.parametrize("name", FREE)
def test_a_free_access_is_rechecked(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path, *FREE[name])
    (entry,) = folder.listed()
    found = folder.rechecked(entry, "bitwuzla")
    assert found.status is Status.RECHECKED, found
    assert found.witnesses == 1
    assert found.once == 0
    assert "the reader of PTX is trusted" in found.why[0]


def test_what_is_trusted_is_printed(tmp_path: Path) -> None:
    result = written(tmp_path, *FREE["swizzle"]).recheck("-v", "--solver", "bitwuzla")
    assert result.exit_code == 0, result.output
    for words in ("is not rechecked: the reader of PTX is trusted", "equally far beyond a multiple", "64 x 1 x 1"):
        assert words in result.output


def access(data: dict[str, Any]) -> dict[str, Any]:
    (found,) = data["claim"]["kernels"]
    return found


def not_swizzled(data: dict[str, Any]) -> None:
    """Put `and` in the place of the `xor`."""
    program = access(data)["program"]
    (at,) = [place for place, line in enumerate(program) if " bvxor " in line]
    program[at] = program[at].replace("bvxor", "bvand")


def unguarded(data: dict[str, Any]) -> None:
    program = access(data)["program"]
    program[access(data)["guard"]] = f"{access(data)['guard']} const 1 1"
    kept = _pruned(program, [access(data)[name] for name in ("address", "guard", "facts")])
    for name in ("address", "guard", "facts"):
        access(data)[name] = kept[access(data)[name]]
    access(data)["program"] = [_moved(line, kept) for at, line in enumerate(program) if at in kept]


def _operands(line: str) -> list[int]:
    words = line.split(" ")
    if words[1] in ("var", "const"):
        return []
    return [int(word) for word in (words[3:4] if words[1] == "extract" else words[3:])]


def _pruned(program: list[str], roots: list[int]) -> dict[int, int]:
    needed, pending = set[int](), roots
    while pending:
        at = pending.pop()
        if at not in needed:
            needed.add(at)
            pending += _operands(program[at])
    return {old: new for new, old in enumerate(sorted(needed))}


def _moved(line: str, kept: dict[int, int]) -> str:
    words = line.split(" ")
    count = len(_operands(line))
    places = [str(kept[each]) for each in _operands(line)]
    return " ".join([str(kept[int(words[0])]), *words[1:3], *places, *words[3 + count :]])


def narrow_block(data: dict[str, Any]) -> None:
    access(data)["block"] = [16, 2, 1]


def atomic(data: dict[str, Any]) -> None:
    access(data)["instruction"] = "atom.shared.add.u32"


def not_merged(data: dict[str, Any]) -> None:
    access(data)["instruction"] = access(data)["instruction"].removesuffix(" merged")


def merged(data: dict[str, Any]) -> None:
    access(data)["instruction"] += " merged"


def wide_block(data: dict[str, Any]) -> None:
    access(data)["block"] = [32, 4, 1]


def unknown_operator(data: dict[str, Any]) -> None:
    access(data)["program"][0] = access(data)["program"][0].replace("var", "konst")


def unused(data: dict[str, Any]) -> None:
    access(data)["program"].append(f"{len(access(data)['program'])} const 1 0")


def short_address(data: dict[str, Any]) -> None:
    access(data)["address"] = access(data)["guard"]


def alone(data: dict[str, Any]) -> None:
    access(data)["instruction"] += " alone"


def not_open(data: dict[str, Any]) -> None:
    access(data)["values"].append({"name": "v9", "words": "", "own": 0})


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("swizzle", not_swizzled, 1),
        ("guard", unguarded, 1),
        ("rows", narrow_block, 1),
        ("pairs", atomic, 1),
        ("merged", not_merged, 1),
        ("swizzle", merged, 2),
        ("rows", wide_block, 2),
        ("swizzle", unknown_operator, 2),
        ("swizzle", unused, 2),
        ("swizzle", short_address, 2),
        ("swizzle", alone, 2),
        ("swizzle", not_open, 2),
    ],
)
def test_a_planted_mistake_is_refused(name: str, change: Change, code: int, tmp_path: Path) -> None:
    folder = written(tmp_path, *FREE[name])

    def planted(data: dict[str, Any]) -> None:
        change(data)
        remake(data, folder)

    folder.forge(KIND, planted)
    result = folder.recheck("--solver", "bitwuzla")
    assert result.exit_code == code, result.output


def test_a_statement_that_was_changed_alone_is_broken(tmp_path: Path) -> None:
    folder = written(tmp_path, *FREE["swizzle"])
    folder.forge(KIND, not_swizzled)
    assert folder.recheck("--solver", "bitwuzla").exit_code == 2


def test_what_ptxas_makes_of_an_atomic_is_told(tmp_path: Path) -> None:
    result = written(tmp_path, *FREE["merged"]).recheck("-v", "--solver", "bitwuzla")
    assert result.exit_code == 0, result.output
    for words in ("costs as atom.shared.add.u32 merged", "trusted: ptxas makes ATOMS.POPC.INC of this atomic"):
        assert words in result.output


def test_an_access_without_a_certificate_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Proof, "goals", Goals())
    (tmp_path / "k.ptx").write_text(text_of(PAIRS), encoding="utf-8")
    words = ["scan", str(tmp_path / "k.ptx"), "--block", "64", "--certificates", str(tmp_path / "certs"), "-j", "1"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "no certificate: no engine of the prover showed it" in result.output
    assert "certificates of 0 of 1 free accesses" in result.output


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(text_of(PAIRS), encoding="utf-8")
    result = CliRunner().invoke(main, ["scan", str(tmp_path / "k.ptx"), "--certificates", str(tmp_path)])
    assert result.exit_code == 2
    assert "SWZ606" in result.output

"""Changes that free a conflict: what is found, what stays silent, and that each one does it.

Each change is applied to the PTX as a person would, and scanned again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess, Verdict, scan_function
from swzverify.ir.c_parse import parse
from swzverify.search.cures import Cure
from tests.kernel.texts import TOP
from tests.scan.test_command import run

HEAD = ".shared .align 4 .b8 tile[{bytes}];\n.entry k(.param .u32 n)\n{{\n.reg .b32 %r<40>; .reg .pred %p<4>;\n"
HEAD += "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, tile;\n"
TURN = "mad.lo.u32 %r4, %r2, {row}, %r3; mad.lo.u32 %r4, %r1, 4, %r4; st.shared.u32 [%r4], %r1;\n"
TURN += "bar.sync 0;\nmad.lo.u32 %r5, %r1, {row}, %r3; mad.lo.u32 %r5, %r2, 4, %r5; ld.shared.u32 %r6, [%r5];\n"
SQUARE = (32, 32, 1)


def scanned(body: str, size_bytes: int = 4096, block: tuple[int, int, int] = SQUARE) -> list[ScannedAccess]:
    module = read_module(TOP + HEAD.format(bytes=size_bytes) + body + "ret;\n}\n", "k.ptx")
    return scan_function(module, module.functions[0], block, suggest=True)


def cures_of(body: str, size_bytes: int = 4096, block: tuple[int, int, int] = SQUARE) -> list[Cure]:
    return [cure for access in scanned(body, size_bytes, block) for cure in access.cures]


def verdicts(found: list[ScannedAccess]) -> list[Verdict]:
    return [each.decision.verdict for each in found if each.opcode.startswith(("ld.", "st."))]


def test_a_pad_and_a_swizzle_for_a_column() -> None:
    pad, swizzle = cures_of(TURN.format(row=128))
    assert pad.change.startswith("pad 1 after every 32 elements")
    assert (pad.gives, pad.also) == ("1 wavefront (minimum 1) instead of 32", "124 bytes more")
    assert swizzle.change == "Swizzle<5,0,5> on element offsets"


def test_the_pad_does_it() -> None:
    assert verdicts(scanned(TURN.format(row=128))) == [Verdict.FREE, Verdict.CONFLICT]
    assert verdicts(scanned(TURN.format(row=132), 4224)) == [Verdict.FREE, Verdict.FREE]


def test_the_swizzle_does_it() -> None:
    turned = "shr.u32 {t}, {a}, 5; and.b32 {t}, {t}, 31; xor.b32 {a}, {a}, {t}; mad.lo.u32 {a}, {a}, 4, %r3;\n"
    body = "mad.lo.u32 %r4, %r2, 32, %r1;" + turned.format(a="%r4", t="%r7") + "st.shared.u32 [%r4], %r1;\n"
    body += "mad.lo.u32 %r5, %r1, 32, %r2;" + turned.format(a="%r5", t="%r8") + "ld.shared.u32 %r6, [%r5];\n"
    assert verdicts(scanned(body)) == [Verdict.FREE, Verdict.FREE]


def test_a_guard_on_a_parameter_is_no_obstacle() -> None:
    load = "ld.param.u32 %r9, [n]; setp.lt.u32 %p1, %r1, %r9;\n"
    body = load + TURN.format(row=128).replace("ld.shared", "@%p1 ld.shared").replace("st.shared", "@%p1 st.shared")
    assert [each.change for each in cures_of(body)] == [each.change for each in cures_of(TURN.format(row=128))]


def test_rows_in_a_loop() -> None:
    body = "mov.u32 %r7, 0;\nAGAIN:\nmad.lo.u32 %r5, %r1, 128, %r3; mad.lo.u32 %r5, %r7, 4, %r5;\n"
    body += "ld.shared.u32 %r6, [%r5]; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 32; @%p1 bra AGAIN;\n"
    pad, *_ = cures_of(body, block=(32, 1, 1))
    assert pad.change.startswith("pad 1 after every 32 elements")


def test_what_is_free_needs_nothing() -> None:
    assert cures_of(TURN.format(row=132), 4224) == []


@pytest.mark.parametrize(
    ("why", "more"),
    [
        ("an access of any array", "ld.param.u32 %r9, [n]; ld.shared.u32 %r8, [%r9];\n"),
        ("an access at data", "ld.shared.u32 %r8, [%r3]; add.u32 %r8, %r8, %r3; st.shared.u8 [%r8], %r1;\n"),
        ("an address of a parameter", "ld.param.u32 %r9, [n]; add.u32 %r9, %r9, %r3; ld.shared.u8 %r8, [%r9];\n"),
        ("a misaligned access", "mad.lo.u32 %r9, %r1, 2, %r3; ld.shared.u32 %r8, [%r9];\n"),
        ("an access outside", "mad.lo.u32 %r9, %r1, 4, %r3; ld.shared.u32 %r8, [%r9+4096];\n"),
        ("a barrier in shared memory", "mbarrier.init.shared.b64 [%r3], 1;\n"),
    ],
)
def test_an_access_that_is_not_exactly_known_is_no_basis(why: str, more: str) -> None:
    assert cures_of(TURN.format(row=128)), why
    found = scanned(TURN.format(row=128) + more)
    assert [cure for access in found for cure in access.cures] == []
    assert all(each.no_cure for each in found if each.decision.verdict is Verdict.CONFLICT), why


def of(declared: str, body: str, smem: int | None = None, block: tuple[int, int, int] = SQUARE) -> list[ScannedAccess]:
    """A kernel whose array is declared in this way."""
    text = TOP + declared + "\n" + HEAD.format(bytes=4096).partition("\n")[2] + body + "ret;\n}\n"
    module = read_module(text, "k.ptx")
    return scan_function(module, module.functions[0], block, suggest=True, smem=smem)


DYNAMIC = ".extern .shared .align 4 .b8 tile[];"


def test_a_dynamic_array_has_the_bytes_that_are_touched() -> None:
    pad, swizzle = of(DYNAMIC, TURN.format(row=128))[-1].cures
    assert pad.also.startswith("124 bytes more; launch with these bytes more; the first 4096 bytes of tile are read")
    assert swizzle.change == "Swizzle<5,0,5> on element offsets"
    assert "launch" not in swizzle.also
    assert "the accesses at PTX line 9 have to change alike" in swizzle.also
    assert verdicts(of(DYNAMIC, TURN.format(row=132))) == [Verdict.FREE, Verdict.FREE]


def test_a_dynamic_array_has_the_bytes_of_the_launch() -> None:
    pad, _ = of(DYNAMIC, TURN.format(row=128), smem=8192)[-1].cures
    assert pad.also.startswith("252 bytes more; launch with these bytes more; the first 8192 bytes of tile are read")
    (last,) = [each for each in of(DYNAMIC, TURN.format(row=128), smem=2048) if each.decision.ways == 32]
    assert last.cures == ()
    assert "is not known to be aligned and inside of tile" in last.no_cure


MATRIX = "and.b32 %r4, %r1, 15; shr.u32 %r5, %r1, 4; and.b32 %r5, %r5, 1; mad.lo.u32 %r4, %r4, 32, %r3;\n"
MATRIX += "mad.lo.u32 %r4, %r5, 16, %r4; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r4];\n"


def test_an_array_that_ptx_aligns_to_less_than_it_needs() -> None:
    """`__shared__ half A[16][16]`: PTX aligns it to 2, and rows of matrices need 16."""
    (found,) = of(".shared .align 2 .b8 tile[512];", MATRIX, block=(32, 1, 1))
    pad, *_ = found.cures
    assert "declare it with __align__(16), PTX aligns it to 2" in pad.also
    (same,) = of(".shared .align 16 .b8 tile[512];", MATRIX, block=(32, 1, 1))
    assert [each.change for each in same.cures] == [each.change for each in found.cures]
    assert not any("__align__" in each.also for each in same.cures)


def test_an_alignment_that_does_not_suffice_is_no_basis() -> None:
    """Whatever the array is aligned to, the bytes at odd places are misaligned."""
    odd = "mad.lo.u32 %r7, %r1, 4, %r3; ld.shared.u32 %r8, [%r7+2];\n"
    found = of(".shared .align 2 .b8 tile[4096];", TURN.format(row=128) + odd)
    assert not any(each.cures for each in found)
    assert any("is not known to be aligned" in each.no_cure for each in found)


def test_bytes_that_are_not_known_are_no_basis() -> None:
    """The trips of a loop decide how many bytes the accesses touch."""
    body = "ld.param.u32 %r9, [n]; mov.u32 %r7, 0;\nAGAIN:\nmad.lo.u32 %r5, %r1, 128, %r3;\n"
    body += "mad.lo.u32 %r5, %r7, 4, %r5; ld.shared.u32 %r6, [%r5];\n"
    body += "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r9; @%p1 bra AGAIN;\n"
    (found,) = of(DYNAMIC, body, block=(32, 1, 1))
    assert (found.cures, found.decision.verdict) == ((), Verdict.CONFLICT)
    assert found.no_cure


def test_an_unrolled_transpose_has_a_fix() -> None:
    """16 accesses of one array: each has to keep its cost."""
    body = "mad.lo.u32 %r4, %r2, 128, %r3; mad.lo.u32 %r4, %r1, 4, %r4;\n"
    body += "".join(f"st.shared.u32 [%r4+{128 * row}], %r1;\n" for row in range(0, 32, 4))
    body += "bar.sync 0; mad.lo.u32 %r5, %r1, 128, %r3; mad.lo.u32 %r5, %r2, 4, %r5;\n"
    body += "".join(f"ld.shared.u32 %r6, [%r5+{4 * row}];\n" for row in range(0, 32, 4))
    changes = [each.change.partition(",")[0] for each in cures_of(body, block=(32, 4, 1))]
    assert changes == ["pad 1 after every 32 elements", "Swizzle<5"]


def test_two_dynamic_arrays_are_no_basis() -> None:
    """Both begin at one place: a change of one moves bytes of the other."""
    more = "mov.u32 %r10, other; mad.lo.u32 %r10, %r1, 4, %r10; ld.shared.u32 %r11, [%r10];\n"
    found = of(DYNAMIC + " .extern .shared .align 4 .b8 other[];", TURN.format(row=128) + more)
    assert not any(each.cures for each in found)
    assert "tile and other begin at one place in dynamic shared memory" in {each.no_cure for each in found}


@pytest.mark.parametrize(
    ("reason", "body"),
    [
        ("line 9 reaches tile and second by one address", "{turn}  selp.u32 %r20, %r3, %r21, %p1; {load}"),
        ("line 9 reaches no array by name", "{turn}  ld.param.u32 %r20, [n]; {load}"),
        ("changes are looked for in one array of a kernel: tile", "{turn}  mad.lo.u32 %r20, %r1, 128, %r21; {load}"),
        ("tile has 33 accesses; the search takes at most 32", "{turn} " + "ld.shared.u32 %r6, [%r5]; " * 31),
        (
            "a change of tile is searched at its costliest access only, line 9",
            "{turn}  mad.lo.u32 %r20, %r1, 64, %r3; mad.lo.u32 %r20, %r2, 4, %r20; {load}",
        ),
    ],
)
def test_a_conflict_without_a_fix_says_why(reason: str, body: str) -> None:
    turn = " ".join(TURN.format(row=128).splitlines())
    load = "ld.shared.u32 %r22, [%r20];\n"
    second = ".shared .align 4 .b8 second[4096];\n"
    head = "mov.u32 %r21, second; setp.lt.u32 %p1, %r1, %r2; "
    found = of(".shared .align 4 .b8 tile[4096]; " + second.strip(), head + body.format(turn=turn, load=load) + "\n")
    assert reason in {each.no_cure for each in found}, {each.no_cure for each in found}
    assert not any(each.no_cure for each in found if each.cures or each.decision.verdict is not Verdict.CONFLICT)


def test_without_a_search_no_reason_is_given() -> None:
    module = read_module(TOP + HEAD.format(bytes=4096) + TURN.format(row=128) + "ret;\n}\n", "k.ptx")
    found = scan_function(module, module.functions[0], SQUARE, suggest=False)
    assert [(each.cures, each.no_cure) for each in found] == [((), "")] * 2


def test_a_change_that_makes_another_access_worse_is_none() -> None:
    """A vector access needs rows of a multiple of 16 bytes: 1 word more would misalign it."""
    vector = "mad.lo.u32 %r7, %r2, 128, %r3; and.b32 %r8, %r1, 7; mad.lo.u32 %r7, %r8, 16, %r7;\n"
    vector += "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r7];\n"
    body = HEAD.replace(".align 4", ".align 16").format(bytes=4096) + TURN.format(row=128) + vector
    module = read_module(TOP + body + "ret;\n}\n", "k.ptx")
    found = scan_function(module, module.functions[0], SQUARE, suggest=True)
    assert not any("pad 1 after" in cure.change for each in found for cure in each.cures)


def test_a_wrong_reading_of_the_array_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: rows of half the length. The prover's cost is then not the scan's, and nothing is said."""
    monkeypatch.setattr("swzverify.compiled.scan.cured.unwrapped", lambda *_, **__: parse("tid_x * 4"))
    assert cures_of(TURN.format(row=128)) == []


@pytest.mark.parametrize("name", ["QUICK_CANDIDATES", "QUICK_LANES", "QUICK_PROOFS"])
def test_the_search_gives_up_soon(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(f"swzverify.search.cures.work.{name}", 0)
    assert cures_of(TURN.format(row=128)) == []


def test_a_long_loop_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swzverify.compiled.scan.cured._MOST_LANES", 1023)
    assert cures_of(TURN.format(row=128)) == []


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(TOP + HEAD.format(bytes=4096) + TURN.format(row=128) + "ret;\n}\n", encoding="utf-8")
    words = (str(path), "--block", "32,32")
    assert "    fix: tile: pad 1 after every 32 elements" in run(*words).stdout
    assert "fix:" not in run(*words, "--no-suggest").stdout
    found: Any = json.loads(run(*words, "--format", "json").stdout)["accesses"]
    assert [len(each["cures"]) for each in found] == [0, 2]
    assert found[-1]["cures"][0]["object"] == "tile"
    for form in ("sarif", "markdown", "junit", "github"):
        assert "pad 1 after every 32 elements" in run(*words, "--format", form).stdout, form

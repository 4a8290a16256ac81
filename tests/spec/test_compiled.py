"""`compiled:` of an access: what the spec's access does is what an interpreter sees the kernel do, and
what is not that is refused.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from swzverify.claims import Equivalent
from swzverify.claims.verdict import Outcome
from swzverify.compiled.kernel import accesses
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan.stated import read_accesses, stated_at
from swzverify.compiled.scan.unwrapped import NotWrittenError
from swzverify.prover import prove
from swzverify.spec import Spec, SpecError, load_spec
from swzverify.subjects import Access
from swzverify.subjects.loop import WARP
from tests.kernel.differential import watched
from tests.kernel.programs import program
from tests.kernel.test_programs import SHAPES, WIDE
from tests.kernel.traps import text_of
from tests.ptx_oracle import launch
from tests.ptx_oracle.spaces import SHARED_BASE
from tests.scan.test_stated import COUNTED, GUARDED

HEAD = """.version 8.3
.target sm_90
.address_size 64
.shared .align 256 .b8 tile[16384];
.shared .align 16 .b8 other[64];
.entry k(.param .u32 pitch)
{
.reg .pred %p<4>;
.reg .b32 %r<40>;
mov.u32 %r1, %tid.x;
mov.u32 %r2, tile;
mov.u32 %r3, 0;
mov.u32 %r9, 0;
ld.param.u32 %r4, [pitch];
"""
LOOPS = """OUTER:
mov.u32 %r9, 0;
INNER:
mad.lo.u32 %r5, %r3, 1024, %r2;
mad.lo.u32 %r5, %r9, 128, %r5;
mad.lo.u32 %r5, %r1, 4, %r5;
st.shared.u32 [%r5], %r1;
add.u32 %r9, %r9, 1;
setp.lt.u32 %p1, %r9, 4;
@%p1 bra INNER;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p2, %r3, 3;
@%p2 bra OUTER;
"""
PITCHED = "mad.lo.u32 %r5, %r1, %r4, %r2;\nld.shared.u32 %r6, [%r5];\n"
UNROLLED = "".join(f"mad.lo.u32 %r5, %r1, 4, %r2;\nst.shared.u32 [%r5+{128 * i}], %r1;\n" for i in range(4))
PREDICATED = "setp.lt.u32 %p1, %r1, 20;\nmad.lo.u32 %r5, %r1, 4, %r2;\n@%p1 st.shared.u32 [%r5], %r1;\n"
ELSEWHERE = "mov.u32 %r2, other;\nmad.lo.u32 %r5, %r1, 4, %r2;\nst.shared.u32 [%r5], %r1;\n"


def kernel(body: str) -> str:
    return HEAD + body + "ret;\n}\n"


def line_of(text: str, instruction: str, number: int = 0) -> int:
    return [at for at, line in enumerate(text.split("\n"), 1) if instruction in line][number]


def spec_of(folder: Path, code: str, *lines: str, more: str = "", name: str = "k.ptx") -> Path:
    (folder / name).write_text(code)
    text = "swzverify: 1\ntarget: sm_90\naccesses:\n  code:\n" + "".join(f"    {each}\n" for each in lines)
    path = folder / "k.swz.yaml"
    path.write_text(f"{text}{more}claims:\n  - aligned: code\n" + ("  - equivalent: [code, said]\n" if more else ""))
    return path


def access_of(spec: Spec) -> Access:
    (found,) = {each.claim.subjects[0].name: each.claim.subjects[0] for each in spec.claims}.values()
    assert isinstance(found, Access)
    return found


def compared(folder: Path, text: str, shape: tuple[int, int, int], number: int, seed: int) -> int:
    """How many accesses of a kernel a spec could state; each does what the interpreter sees."""
    code = read_module(text, "k.ptx")
    function = code.function("k")
    assert function is not None
    with watched() as events:
        result = launch(text, "k", [1], shape, 0, [number, WIDE], seed, steps=3000)
    if result.error:
        return 0
    told = 0
    for each in accesses(code, function, shape):
        try:
            loops = stated_at(read_accesses(code, function, shape), each.site.line, shape).loops
        except NotWrittenError:
            continue
        if each.cost.row is None or len(each.who.loops) != len(loops):
            continue
        loop_lines = {f"l{at}": loop for at, loop in enumerate(loops)}
        lines = [f"instruction: {each.cost.row.name}", f"block: {json.dumps(shape)}", "base: 0"]
        if loops:
            counts = {name: {"start": 5, "stop": 5 + 3 * loop.count, "step": 3} for name, loop in loop_lines.items()}
            lines.append(f"for: {json.dumps(counts)}")
        lines_of = {name: loop.line for name, loop in loop_lines.items()}
        where = {"file": "k.ptx", "line": each.site.line, "loops": lines_of}
        lines.append(f"compiled: {json.dumps(where)}")
        found = access_of(load_spec(spec_of(folder, text, *lines)))
        seen = Counter(
            (32 * event.warp + lane, address - SHARED_BASE)
            for event in events
            if event.line == each.site.line
            for lane, address in event.lanes
        )
        does: Counter[tuple[int, int]] = Counter()
        for trips in product(*(range(loop.count) for loop in loops)):
            for warp in range(found.warps):
                point = {WARP: warp, **dict(zip(loop_lines, trips, strict=True))}
                rows = found.lanes_at(point)
                does.update((32 * warp + row.lane, row.address_bytes) for row in rows if row.address_bytes is not None)
        assert does == seen, each.site.line
        told += 1
    return told


@pytest.mark.parametrize("seeds", [(7,), pytest.param((7, 16, 22, 26, 38), marks=pytest.mark.nightly)], ids=len)
def test_random_kernels(tmp_path: Path, seeds: tuple[int, ...]) -> None:
    told = (compared(tmp_path, program(seed, 3), SHAPES[seed % len(SHAPES)], seed % 7, seed) for seed in seeds)
    assert sum(told) > (15 if len(seeds) == 5 else 0)


@pytest.mark.parametrize("body", [COUNTED.format(5), GUARDED])
def test_a_loop_and_a_guard(body: str, tmp_path: Path) -> None:
    assert compared(tmp_path, text_of(body), (16, 4, 1), 3, 1) == 1


SAID = "  said: {instruction: st.shared.b32, threads: 32, for: {i: 3, j: 4}, address: tid*4 + i*1024 + j*128, "
SAID += "base: {align: 256}}\n"


def outcome(path: Path) -> Outcome:
    (claim,) = (each.claim for each in load_spec(path).claims if isinstance(each.claim, Equivalent))
    return prove(claim).outcome


@pytest.mark.parametrize(("inner", "outer", "wanted"), [("j", "i", "proved"), ("i", "j", "SWZ553")])
def test_loops_by_their_lines(inner: str, outer: str, wanted: str, tmp_path: Path) -> None:
    text = kernel(LOOPS)
    where = f"loops: {{{outer}: {line_of(text, 'OUTER:') + 1}, {inner}: {line_of(text, 'INNER:') + 1}}}"
    line = line_of(text, "st.shared")
    compiled = f"compiled: {{file: k.ptx, line: {line}, {where}}}"
    lines = ("instruction: st.shared.b32", "threads: 32", "for: {i: 3, j: 4}", compiled, "base: {align: 256}")
    path = spec_of(tmp_path, text, *lines, more=SAID)
    if wanted == "proved":
        assert outcome(path) is Outcome.PROVED
        path.write_text(path.read_text().replace("i*1024 + j*128", "i*1024 + j*256"))
        assert outcome(path) is Outcome.REFUTED
    else:
        assert problems(path)[0][0] == wanted


def test_lines_are_the_iterations_of_a_loop(tmp_path: Path) -> None:
    text = kernel(UNROLLED)
    lines = [line_of(text, "st.shared", at) for at in range(4)]
    said = (
        "  said: {instruction: st.shared.b32, threads: 32, for: {i: 4}, address: tid*4 + i*128, base: {align: 256}}\n"
    )
    for order, wanted in ((lines, Outcome.PROVED), ([lines[1], lines[0], *lines[2:]], Outcome.REFUTED)):
        compiled = f"compiled: {{file: k.ptx, line: {order}}}"
        lines_of = ("instruction: st.shared.b32", "threads: 32", "for: {i: 4}", compiled, "base: {align: 256}")
        path = spec_of(tmp_path, text, *lines_of, more=said)
        assert outcome(path) is wanted


LOCATED = "".join(
    f".loc 1 {8 if i != 2 else 9} 5\nmad.lo.u32 %r5, %r1, 4, %r2;\nst.shared.u32 [%r5+{128 * i}], %r1;\n"
    for i in range(4)
)


def located(folder: Path, source: int, loop: int) -> Path:
    text = kernel(LOCATED).replace(".address_size 64", '.address_size 64\n.file 1 "k.cu"')
    said = "  said: {instruction: st.shared.b32, threads: 32, for: {i: 3}, address: tid*4 + i*128 + i/2*128, "
    said += "base: {align: 256}}\n"
    lines = ("instruction: st.shared.b32", "threads: 32", f"for: {{i: {loop}}}")
    return spec_of(
        folder, text, *lines, f"compiled: {{file: k.ptx, source: {source}}}", "base: {align: 256}", more=said
    )


def test_a_line_of_the_source_has_all_its_instructions(tmp_path: Path) -> None:
    path = located(tmp_path, 8, 3)
    assert outcome(path) is Outcome.PROVED
    assert load_spec(path).claims[0].notes == ("code is read from k.ptx, line 8 of the source",)


def test_a_line_of_the_source_with_other_instructions_than_iterations(tmp_path: Path) -> None:
    assert "3 lines, but the loop 'i' has 2 iterations" in problems(located(tmp_path, 8, 2))[0][1]


def test_a_line_of_the_source_that_has_none(tmp_path: Path) -> None:
    assert "no st.shared.b32 from line 7 of the source" in problems(located(tmp_path, 7, 3))[0][1]
    lines = ("instruction: st.shared.b32", "threads: 32", "compiled: {file: k.ptx, source: 8}")
    path = spec_of(tmp_path, kernel(UNROLLED), *lines)
    with pytest.raises(SpecError, match="-lineinfo"):
        load_spec(path)


@pytest.mark.parametrize("compiled", ["file: k.ptx", "file: k.ptx, line: 16, source: 8"])
def test_a_line_of_the_ptx_or_of_the_source(compiled: str, tmp_path: Path) -> None:
    lines = ("instruction: st.shared.b32", "threads: 32", f"compiled: {{{compiled}}}")
    assert "one of both" in problems(spec_of(tmp_path, kernel(UNROLLED), *lines))[0][1]


def test_a_claim_says_which_code_it_speaks_of(tmp_path: Path) -> None:
    compiled = "compiled: {file: k.ptx, kernel: k, line: 16}"
    path = spec_of(tmp_path, kernel(UNROLLED), "instruction: st.shared.b32", "threads: 32", compiled)
    assert load_spec(path).claims[0].notes == ("code is read from k.ptx, kernel k, line 16",)


def test_a_base_is_what_ptx_says_without_one(tmp_path: Path) -> None:
    text = kernel(UNROLLED)
    compiled = f"compiled: {{file: k.ptx, line: {line_of(text, 'st.shared')}}}"
    found = access_of(load_spec(spec_of(tmp_path, text, "instruction: st.shared.b32", "threads: 32", compiled)))
    assert found.origin.unit_bytes == 256


def test_an_array_without_a_base_lies_nowhere_that_is_known(tmp_path: Path) -> None:
    """Two arrays of one kernel are not put at one base."""
    text = kernel(UNROLLED + ELSEWHERE)
    lines = [line_of(text, "st.shared", at) for at in (0, 4)]
    other = f"  said: {{instruction: st.shared.b32, threads: 32, compiled: {{file: k.ptx, line: {lines[1]}}}}}\n"
    mine = ("instruction: st.shared.b32", "threads: 32", f"compiled: {{file: k.ptx, line: {lines[0]}}}")
    assert "not related" in problems(spec_of(tmp_path, text, *mine, more=other))[0][1]
    same = other.replace(f"line: {lines[1]}", f"line: {lines[0]}")
    assert outcome(spec_of(tmp_path, text, *mine, more=same)) is Outcome.PROVED


LEAVING = """and.b32 %r5, %r1, 1;
sub.u32 %r6, 2, %r5;
mad.lo.u32 %r7, %r1, 8, %r2;
L:
ld.shared.v2.u32 {%r8, %r9}, [%r7];
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, %r6;
@%p1 bra L;
"""
REPEATED = """L:
mad.lo.u32 %r7, %r1, 4, %r2;
st.shared.u32 [%r7], %r1;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, 5;
@%p1 bra L;
"""
BEFORE_ITS_ARRAY = "mad.lo.u32 %r5, %r1, 4, %r2;\nst.shared.u32 [%r5+-128], %r1;\n"


@pytest.mark.parametrize(
    ("body", "lines", "words"),
    [
        (LEAVING, ("instruction: ld.shared.v2.b32", "compiled: {file: k.ptx, line: 19}"), "leave the loop"),
        (
            REPEATED,
            ("instruction: st.shared.b32", "for: {i: 5}", "compiled: {file: k.ptx, line: 17, loops: {i: 16}}"),
            "depend on a loop that begins at line 16",
        ),
        (
            REPEATED,
            ("instruction: st.shared.b32", "for: {i: 3}", "compiled: {file: k.ptx, line: 17}"),
            "no loop for 'i'",
        ),
        (
            UNROLLED,
            ("instruction: st.shared.b32", "for: {i: 3}", "compiled: {file: k.ptx, line: 16, loops: {i: 999}}"),
            "line 999",
        ),
        (
            BEFORE_ITS_ARRAY,
            ("instruction: st.shared.b32", "compiled: {file: k.ptx, line: 16}"),
            "before the begin of its array",
        ),
    ],
    ids=["lanes that leave", "a loop that is not read", "no such loop", "no loop there", "a negative offset"],
)
def test_what_is_not_what_the_spec_says(body: str, lines: tuple[str, ...], words: str, tmp_path: Path) -> None:
    text = kernel(body)
    at = line_of(text, "ld.shared" if body is LEAVING else "st.shared")
    lines = tuple(each.replace("line: 19", f"line: {at}").replace("line: 17", f"line: {at}") for each in lines)
    found = problems(spec_of(tmp_path, text, "threads: 32", *lines))
    assert (found[0][0], words in found[0][1]) == ("SWZ553", True), found


def test_an_access_that_is_repeated_is_stated_once(tmp_path: Path) -> None:
    text = kernel(REPEATED)
    lines = (
        "instruction: st.shared.b32",
        "threads: 32",
        f"compiled: {{file: k.ptx, line: {line_of(text, 'st.shared')}}}",
    )
    assert access_of(load_spec(spec_of(tmp_path, text, *lines))).loops == ()


def test_two_arrays_of_one_name(tmp_path: Path) -> None:
    inner = "{\n.shared .align 256 .b8 tile[4096];\nmov.u32 %r9, tile;\nst.shared.u32 [%r9+128], %r1;\n}\n"
    text = kernel("st.shared.u32 [%r2], %r1;\n" + inner)
    compiled = f"compiled: {{file: k.ptx, line: [{line_of(text, 'st.shared')}, {line_of(text, 'st.shared', 1)}]}}"
    path = spec_of(tmp_path, text, "instruction: st.shared.b32", "threads: 32", "for: {i: 2}", compiled)
    assert "two arrays are called tile" in problems(path)[0][1]


def test_a_line_that_two_source_files_have(tmp_path: Path) -> None:
    text = kernel(LOCATED.replace(".loc 1 9", ".loc 2 8")).replace(
        ".address_size 64", '.address_size 64\n.file 1 "k.cu"\n.file 2 "helper.h"'
    )
    lines = ("instruction: st.shared.b32", "threads: 32", "for: {i: 4}", "compiled: {file: k.ptx, source: 8}")
    assert "several source files" in problems(spec_of(tmp_path, text, *lines))[0][1]


def test_a_line_with_accesses_of_several_widths(tmp_path: Path) -> None:
    wide = LOCATED + ".loc 1 8 5\nst.shared.v2.u32 [%r2], {%r1, %r1};\n"
    text = kernel(wide).replace(".address_size 64", '.address_size 64\n.file 1 "k.cu"')
    lines = ("instruction: st.shared.b32", "threads: 32", "for: {i: 3}", "compiled: {file: k.ptx, source: 8}")
    assert "has st.shared.v2.b32 too" in problems(spec_of(tmp_path, text, *lines))[0][1]


def problems(path: Path) -> list[tuple[str, str]]:
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    return [(each.code, each.message) for each in caught.value.problems]


@pytest.mark.parametrize(
    ("body", "compiled", "more", "code", "words"),
    [
        (PITCHED, "line: 16", (), "SWZ553", "it depends on pitch"),
        (PITCHED, "line: 16, parameters: {pitch: 4}", (), "", ""),
        (PITCHED, "line: 16, parameters: {pich: 4}", (), "SWZ551", "has no parameter 'pich'"),
        (UNROLLED, "line: 16, parameters: {pich: 4}", (), "SWZ551", "has no parameter 'pich'"),
        (PREDICATED, "line: 17", ("if: tid < 20",), "SWZ105", "`if` does not go"),
        (UNROLLED, "line: 15", (), "SWZ553", "no access to shared memory; there are some at lines 16, 18, 20, 22"),
        (UNROLLED, "line: 16, kernel: gemm", (), "SWZ553", "no kernel 'gemm'"),
        (UNROLLED, "line: 16", ("base: {align: 1024}",), "SWZ553", "to 256 bytes only"),
        (UNROLLED, "line: 16, array: other", (), "SWZ553", "begins with tile, not other"),
        (UNROLLED, "line: [16, 18]", (), "SWZ105", "several lines"),
        (UNROLLED, "line: [16, 18]", ("for: {i: 3}",), "SWZ105", "2 lines, but the loop 'i' has 3 iterations"),
        (UNROLLED, "line: [16, 16]", ("for: {i: 2}",), "SWZ105", "line 16 stands there twice"),
        (UNROLLED, "line: [16, 18], over: j", ("for: {i: 2}",), "SWZ105", "no loop 'j'"),
        (LOOPS, "line: 21", ("for: {i: 3, j: 4}",), "SWZ553", "not all among"),
        (UNROLLED, "line: 16", ("address: tid*4",), "SWZ105", "not both"),
        (UNROLLED, "line: 16", ("lanes: {bin: 4}",), "SWZ105", "`lanes` does not go"),
    ],
)
def test_what_is_refused(
    body: str, compiled: str, more: tuple[str, ...], code: str, words: str, tmp_path: Path
) -> None:
    kind = "ld.shared.b32" if body is PITCHED else "st.shared.b32"
    lines = (f"instruction: {kind}", "threads: 32", f"compiled: {{file: k.ptx, {compiled}}}", *more)
    path = spec_of(tmp_path, kernel(body), *lines)
    if not words:
        load_spec(path)
        return
    found = problems(path)
    assert words in found[0][1]
    assert code in ("", found[0][0])


def test_another_instruction(tmp_path: Path) -> None:
    path = spec_of(
        tmp_path, kernel(UNROLLED), "instruction: st.shared.b64", "threads: 32", "compiled: {file: k.ptx, line: 16}"
    )
    assert problems(path) == [("SWZ553", "the code has st.shared.b32 there, not st.shared.b64")]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("../../../etc/passwd", "outside"),
        ("/etc/passwd", "outside"),
        ("k.swz.yaml", "no PTX file"),
        ("nothing.ptx", "No such file"),
        ("folder.ptx", "directory"),
    ],
)
def test_files_that_are_not_read(file: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "folder.ptx").mkdir()
    compiled = f"compiled: {{file: {file}, line: 16}}"
    path = spec_of(tmp_path, kernel(UNROLLED), "instruction: st.shared.b32", "threads: 32", compiled)
    ((code, message),) = problems(path)
    assert code in ("SWZ124", "SWZ531")
    assert words.lower() in message.lower()


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "secret.ptx").write_text(kernel(UNROLLED))
    (tmp_path / "real" / "link.ptx").symlink_to(tmp_path / "secret.ptx")
    compiled = "compiled: {file: link.ptx, line: 16}"
    path = spec_of(tmp_path / "real", kernel(UNROLLED), "instruction: st.shared.b32", "threads: 32", compiled)
    assert "outside" in problems(path)[0][1]


def test_a_file_that_is_no_ptx(tmp_path: Path) -> None:
    path = spec_of(
        tmp_path, "\x00\x01 nonsense {", "instruction: st.shared.b32", "threads: 32", "compiled: {file: k.ptx, line: 1}"
    )
    assert problems(path)[0][0].startswith("SWZ5")


def test_a_kernel_that_changes_is_read_again(tmp_path: Path) -> None:
    text = kernel(UNROLLED)
    compiled = "compiled: {file: k.ptx, line: 16}"
    path = spec_of(tmp_path, text, "instruction: st.shared.b32", "threads: 32", compiled)
    first = access_of(load_spec(path)).lanes_at({WARP: 0})[1].address_bytes
    (tmp_path / "k.ptx").write_text(text.replace("mad.lo.u32 %r5, %r1, 4, %r2", "mad.lo.u32 %r5, %r1, 16, %r2"))
    assert (first, access_of(load_spec(path)).lanes_at({WARP: 0})[1].address_bytes) == (4, 16)

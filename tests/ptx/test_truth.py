"""Whole files: the small ones beside this test, and all in the folder that SWZVERIFY_PTX_TRUTH
names.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from swzverify.compiled.ptx import Label, Location, Module, Register, Space, SymbolRef, read_module_file
from tests.ptx.texts import HERE, place

TRUTH = os.environ.get("SWZVERIFY_PTX_TRUTH", "")
FILES = [*sorted(HERE.glob("*.ptx")), *(sorted(Path(TRUTH).rglob("*.ptx")) if TRUTH else [])]
ONE_LINE = re.compile(
    r"\s*(?:\{ )?(?:@(!?)([%\w]+)\s+)?([a-z][\w.:]*+)\s*+((?!:)[^;{}]*(?:\{[^;{}]*\}[^;{}]*)*);\s*(?:\}\s*)?(?://.*)?"
)


@pytest.mark.skipif(not TRUTH, reason="SWZVERIFY_PTX_TRUTH names no folder of PTX files")
def test_the_named_folder_has_files() -> None:
    assert len(FILES) > len(list(HERE.glob("*.ptx")))


@pytest.mark.parametrize("path", FILES, ids=[each.name for each in FILES])
def test_every_instruction_on_a_line_of_its_own_is_read_from_it(path: Path) -> None:
    """The lines are looked at one by one here, so that a statement that was lost or moved is
    seen.
    """
    found = read_module_file(path)
    assert not found.problems
    assert [each.problem for each in found.functions] == [None] * len(found.functions)
    read = {each.line: each for function in found.functions for each in function.instructions}
    lines = path.read_text(encoding="utf-8").split("\n")
    seen = 0
    for number, line in enumerate(lines, 1):
        written = ONE_LINE.fullmatch(line)
        if written and not line.lstrip().startswith((".", "//")) and "*/" not in line and written[3][-1] != ":":
            instruction = read[number]
            seen += 1
            assert instruction.opcode == written[3]
            assert instruction.text == written[4].strip()
            guard = instruction.guard
            assert (guard.register.name if guard else None) == written[2]
            assert (guard.negated if guard else False) == (written[1] == "!")
    assert seen > 0.5 * len(read)


@pytest.mark.parametrize("path", FILES, ids=[each.name for each in FILES])
def test_all_operands_of_a_file_are_read(path: Path) -> None:
    for function in read_module_file(path).functions:
        for instruction in function.instructions:
            assert len(instruction.operands) >= (1 if instruction.text else 0)


@pytest.mark.parametrize("path", FILES, ids=[each.name for each in FILES])
def test_every_place_is_that_of_the_last_loc_before(path: Path) -> None:
    read = {each.line: each for function in read_module_file(path).functions for each in function.instructions}
    last: tuple[int, int, int] | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("{"):
            last = None  # the body of the next function
        elif told := re.match(r"\s*\.loc\s+(\d+) (\d+) (\d+)", line):
            last = (int(told[1]), int(told[2]), int(told[3]))
        elif number in read:
            location = read[number].location
            assert (location and (location.file, location.line, location.column)) == last


@pytest.fixture(scope="module")
def rows() -> Module:
    return read_module_file(HERE / "rows.ptx")


def test_rows(rows: Module) -> None:
    """What nvcc made of a small kernel: variables, parameters, labels and a chain of inlined
    calls.
    """
    far_away, kernel = rows.functions
    assert (far_away.name, far_away.is_entry, len(far_away.instructions)) == ("_Z8far_awayfi", False, 24)
    assert (kernel.name, kernel.is_entry, kernel.tuning.max_threads) == ("rows", True, (64, 1, 1))
    assert [each.offset_bytes for each in kernel.parameters] == [0, 8, 16]
    hop, dynamic = rows.symbols
    assert (hop.space, hop.data) == (Space.CONST, bytes((0, 0, 0, 0, 33, 0, 0, 0, 66, 0, 0, 0, 99, 0, 0, 0)))
    assert (dynamic.space, dynamic.size_bytes, dynamic.is_extern) == (Space.SHARED, None, True)
    tile = kernel.symbol("_ZZ4rowsE4tile")
    assert tile is not None
    assert (tile.space, tile.size_bytes, tile.line) == (Space.SHARED, 4224, 81)
    first = kernel.instructions[kernel.labels[Label("$L__BB1_3", 1)]]
    assert (first.line, first.opcode) == (108, "ld.global.f32")


def test_inlined_calls_of_rows(rows: Module) -> None:
    kernel = rows.functions[1]
    load = next(each for each in kernel.instructions if each.line == 177)
    assert load.opcode == "ld.shared.f32"
    assert place(load.location) == (1, 3, 73, "_Z2atPKfi", (1, 4, 73, "_Z5twicePKfi", (1, 13, 3, None, None)))
    assert rows.files == {1: "rows.cu"}


def test_a_call_of_rows(rows: Module) -> None:
    call = next(each for each in rows.functions[1].instructions if each.opcode == "call.uni")
    parts = call.call_parts()
    assert (call.line, parts.callee) == (201, SymbolRef("_Z8far_awayfi", 0))
    assert parts.arguments == (SymbolRef("param0", call.scope), SymbolRef("param1", call.scope))
    assert parts.results == (SymbolRef("retval0", call.scope),)


def test_a_debug_build() -> None:
    """`-G`: sections of debug data are passed over, labels stand behind the last instruction."""
    found = read_module_file(HERE / "debug.ptx")
    (kernel,) = found.functions
    assert found.target == "sm_90a"
    assert kernel.labels == {
        Label("$L__func_begin0", 1): 0,
        Label("$L__tmp0", 1): 2,
        Label("$L__tmp1", 1): 17,
        Label("$L__func_end0", 1): 17,
    }
    assert kernel.instructions[-1].location == Location(1, 1, 41)
    assert [each.operands[0] for each in kernel.instructions if each.scope == 2] == [
        Register("%tmp", 2, "b64"),
        Register("%rd3", 1, "b64"),
    ]


def test_inline_assembly() -> None:
    """Blocks of one text repeated: two loops that wait have predicates and labels of their own."""
    found = read_module_file(HERE / "hopper.ptx")
    kernel = found.functions[-1]
    waits = [each for each in kernel.instructions if each.opcode.startswith("mbarrier.try_wait")]
    first, second = (each.operands[0] for each in waits)
    assert first == Register("P1", 3, "pred")
    assert second == Register("P1", 4, "pred")
    back = [each for each in kernel.instructions if each.opcode == "bra" and each.text == "LAB_WAIT"]
    assert [kernel.labels[each.operands[0]] for each in back if isinstance(each.operands[0], Label)] == [
        each.index for each in waits
    ]
    assert kernel.required_threads == (128, 1, 1)
    assert kernel.tuning.cluster == (2, 1, 1)
    assert kernel.targets == {Label("table", 1): (Label("$even", 1), Label("$odd", 1))}
    indirect = next(each for each in kernel.instructions if each.opcode == "call").call_parts()
    assert isinstance(indirect.targets, Label)
    scales = found.symbol("scales")
    assert scales is not None
    assert scales.data == bytes.fromhex("0000803f 00000040 000000bf 00000000")


def test_triton() -> None:
    """What LLVM writes: labels before every place, names of inlined functions in `.debug_str`
    behind the kernel.
    """
    found = read_module_file(HERE / "triton.ptx")
    (kernel,) = found.functions
    assert (kernel.name, kernel.required_threads) == ("total", (128, 1, 1))
    assert found.files == {1: "total.py", 2: "standard.py"}
    (memory,) = found.symbols
    assert (memory.name, memory.align_bytes, memory.size_bytes, memory.is_extern) == ("global_smem", 16, None, True)
    shared = [each for each in kernel.instructions if ".shared." in each.opcode]
    assert [(each.line, each.opcode) for each in shared] == [(98, "st.shared.b32"), (103, "ld.shared.b32")]
    assert place(shared[0].location) == (2, 314, 12, "total", (1, 8, 16, None, None))


def test_cute_dsl() -> None:
    """A kernel of CuTe's Python: a wait in inline assembly with labels and a predicate of its own."""
    found = read_module_file(HERE / "cute.ptx")
    kernel = found.functions[-1]
    assert (kernel.name, kernel.required_threads) == ("kernel_cutlass_k_0", (1024, 1, 1))
    wait = next(each for each in kernel.instructions if each.opcode.startswith("mbarrier.try_wait"))
    assert (wait.line, wait.operands[0]) == (89, Register("P1", 2, "pred"))
    assert kernel.labels[Label("LAB_WAIT", 2)] == wait.index
    assert place(kernel.instructions[-2].location) == (1, 25, 4, None, None)

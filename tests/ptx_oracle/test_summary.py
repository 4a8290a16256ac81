"""Launches joined to verdicts, launches that are chosen, and the oracle's independence."""

from __future__ import annotations

import ast
from pathlib import Path

from . import Buffer, run_auto, run_kernel, summarize
from .auto import plans
from .launch import parsed

HEAD = """.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>;
  ld.param.u64 %d1, [k_param_0]; cvta.to.global.u64 %d1, %d1; ld.param.u32 %r1, [k_param_1];
  mov.u32 %r2, %tid.x; mov.u32 %r3, dyn; shl.b32 %r4, %r2, 2;
"""
BODY = """
  add.u32 %r5, %r3, %r4;
  st.shared.u32 [%r5], %r2;
  mul.lo.u32 %r6, %r4, %r1; and.b32 %r6, %r6, 65532; add.u32 %r6, %r6, %r3;
  ld.shared.u32 %r7, [%r6];
  shl.b32 %r8, %r2, 7; add.u32 %r8, %r8, %r3;
  ld.shared.u32 %r9, [%r8];
  mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d2, %d1; ld.global.u32 %r10, [%d2];
  shl.b32 %r10, %r10, 7; and.b32 %r10, %r10, 32767; add.u32 %r10, %r10, %r3;
  red.shared.max.u32 [%r10], 5;
  setp.gt.u32 %p1, %r1, 99999;
  @%p1 st.shared.u32 [%r3], 1;
"""
TEXT = f"{HEAD}{BODY}  ret;\n}}\n"


def test_launches_of_ones_own_give_verdicts() -> None:
    results = {
        f"n={n}": run_kernel(TEXT, "k", [64], smem=1 << 16, params=[Buffer(4096, "iota"), n]) for n in (1, 2, 32)
    }
    found = summarize(results)
    assert (found.kernel, found.launches, found.partial) == ("k", ["n=1", "n=2", "n=32"], False)
    lines = list(found.lines.values())
    assert [line.verdict for line in lines] == ["free", "varies", "conflict", "conflict", "unreached"]
    assert [line.ways for line in lines] == [1, 32, 32, 32, 0]
    varies = lines[1]
    assert (varies.by_launch, varies.witness_launch) == ({"n=1": 1, "n=2": 2, "n=32": 32}, "n=32")
    assert varies.witness is not None
    assert varies.witness.addresses[:3] == (1024, 1152, 1280)
    assert lines[0].executions == 2 * 3


def test_chosen_launches_give_verdicts_and_tell_what_comes_from_data() -> None:
    found = run_auto(TEXT, "k", [64])
    lines = list(found.lines.values())
    assert [line.verdict for line in lines] == ["free", "varies", "conflict", lines[3].verdict, "unreached"]
    assert [line.from_data for line in lines] == [False, False, False, True, False]
    assert found.errors == {}
    fixed = run_auto(TEXT, "k", [64], smem=1 << 16, params={1: 2})
    assert next(line for line in fixed.lines.values() if "%r6" in line.text).verdict == "conflict"


def test_shapes_of_blocks_are_chosen_by_what_the_kernel_reads() -> None:
    kernel = parsed(TEXT).functions["k"]
    assert {plan.block for plan in plans([kernel])} == {(256, 1, 1), (128, 1, 1), (32, 1, 1), (80, 1, 1)}
    assert {(plan.block, plan.grid) for plan in plans([kernel], [8, 4])} == {((8, 4, 1), (2, 1, 1))}
    assert {plan.smem for plan in plans([kernel])} == {96 << 10}
    flat = parsed(TEXT.replace("%tid.x", "%tid.y").replace("{\n  .reg", ".maxntid 8, 8\n{\n  .reg")).functions["k"]
    assert {plan.block for plan in plans([flat])} == {(8, 8, 1)}
    assert [plan.seed for plan in plans([kernel])[:2]] == [1, 2]


def test_a_chosen_launch_that_does_not_end_is_told() -> None:
    text = f"{HEAD}LOOP:\n  st.shared.u32 [%r3], 1;\n  setp.ne.u32 %p1, %r1, 1;\n  @%p1 bra LOOP;\n  ret;\n}}\n"
    found = run_auto(text, "k", [32], steps=100)
    (line,) = found.lines.values()
    assert "n=1" not in found.errors
    assert found.errors["n=64"].startswith("BudgetError: no end after 100 steps")
    assert (found.partial, line.verdict, line.by_launch["n=64"]) == (True, "free", 1)


def test_the_oracle_imports_nothing_of_the_package() -> None:
    allowed = {"__future__", "argparse", "ast", "collections", "contextlib", "cupy", "dataclasses", "datetime"}
    allowed |= {
        "fractions",
        "functools",
        "json",
        "math",
        "numpy",
        "os",
        "pathlib",
        "pytest",
        "random",
        "re",
        "subprocess",
        "sys",
    }
    allowed |= {"tempfile", "typing", "zlib"}
    for file in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                assert {name.name.split(".")[0] for name in node.names} <= allowed, file
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                assert str(node.module).split(".")[0] in allowed, file
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 1, file

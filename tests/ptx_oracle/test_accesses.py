"""What is recorded of accesses: which lines, which kinds, which lanes, at which addresses."""

from __future__ import annotations

import numpy as np
import pytest

from . import Access, Buffer, FaultError, OracleError, Result, launch, run_kernel

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
REGISTERS = "  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %d<20>;\n"
START = "  mov.u32 %r1, %tid.x; ld.param.u64 %d1, [out];\n"


def kernel(body: str, shared: str = "  .shared .align 16 .b8 s[4096];", top: str = "") -> str:
    """A kernel with a body; its first line of code is line 8."""
    return f"{HEAD}{top}\n.visible .entry k(.param .u64 out)\n{{\n{shared}\n{REGISTERS}{START}{body}\n  ret;\n}}\n"


def go(body: str, threads: int = 32, smem: int = 0, **more: str) -> Result:
    """Run such a kernel."""
    return launch(kernel(body, **more), "k", [1], [threads], smem, [Buffer(4096, "iota")])


def only(result: Result) -> Access:
    """The one access of a kernel."""
    assert not result.error, result.error
    (found,) = result.accesses
    return found


def test_run_gives_accesses_by_line() -> None:
    text = kernel("shl.b32 %r2, %r1, 7;\nmov.u32 %r3, s;\nadd.u32 %r2, %r2, %r3;\nst.shared.u32 [%r2], 1;")
    found = run_kernel(text, "k", [32], params=[Buffer(64)]).by_line()
    (line,) = found
    access = found[line]
    assert text.splitlines()[line - 1] == access.text == "st.shared.u32 [%r2], 1;"
    assert (access.kind, access.bytes, access.executions, access.ways, access.worst_wavefronts) == ("st", 4, 1, 32, 32)
    witness = access.worst_ways
    assert witness is not None
    assert (witness.block, witness.warp, witness.occurrence, witness.mask) == ((0, 0, 0), 0, 0, 0xFFFFFFFF)
    assert witness.addresses == tuple(1024 + 128 * lane for lane in range(32))


def test_an_access_that_nobody_reaches_is_listed() -> None:
    access = only(go("setp.gt.u32 %p1, %r1, 99;\n@%p1 st.shared.u32 [s], 1;"))
    assert (access.executed, access.ways, access.worst) == (False, 0, None)


def test_the_worst_execution_is_the_witness() -> None:
    """A loop with steps of 4, 8, 16, ... bytes: the last trip is the worst."""
    access = only(
        go(
            "mov.u32 %r2, 2;\nmov.u32 %r4, s;\nLOOP:\nshl.b32 %r3, %r1, %r2;\nadd.u32 %r3, %r3, %r4;\n"
            "ld.shared.u32 %r5, [%r3];\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 6;\n@%p1 bra LOOP;"
        )
    )
    assert (access.executions, access.wavefronts, access.groups) == (4, 1 + 2 + 4 + 8, 4)
    assert access.worst is not None
    assert (access.ways, access.worst.occurrence, access.worst.addresses[1]) == (8, 3, 1024 + 32)


def test_static_variables_lie_in_the_order_of_their_lines_and_dynamic_ones_after_them() -> None:
    shared = "  .shared .align 4 .b8 a[6];\n  .shared .align 8 .b8 b[8];\n  .shared .align 2 .b8 c[2];"
    text = (
        "st.shared.u8 [a], 1;\nst.shared.b64 [b], %d1;\nst.shared.u16 [c], %h1;\nst.shared.u32 [dyn], 1;\n"
        "st.shared.u32 [big], 1;"
    )
    top = (
        ".shared .align 4 .b8 first[4];\n.shared .align 4 .b8 unused[400];\n.extern .shared .align 4 .b8 dyn[];\n"
        ".extern .shared .align 64 .b8 big[];"
    )
    result = go(text + "\nst.shared.u32 [first], 1;", smem=64, shared=shared, top=top)
    assert not result.error, result.error
    places = [access.worst.addresses[0] - 1024 for access in result.accesses if access.worst]
    assert places == [4, 16, 24, 64, 64, 0]


@pytest.mark.parametrize(
    ("code", "kind", "size"),
    [
        ("ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [s];", "ld", 16),
        ("ld.volatile.shared.v2.u32 {%r2, %r3}, [s];", "ld", 8),
        ("ld.shared::cta.u8 %h1, [s];", "ld", 1),
        ("st.shared.v2.b64 [s], {%d1, %d1};", "st", 16),
        ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r2, %r3}, [s];", "ldmatrix", 16),
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {%r1};", "stmatrix", 16),
        ("cp.async.ca.shared.global [s], [%d1], 8;", "cp.async.ca", 8),
        ("cp.async.cg.shared.global.L2::128B [s], [%d1], 16;", "cp.async.cg", 16),
        ("atom.shared.add.u32 %r2, [s], %r1; st.global.u32 [%d1], %r2;", "atom", 4),
        ("atom.shared.add.u32 %r2, [s], 1;", "atom.inc", 4),
        ("mov.u32 %r3, 1; atom.shared.add.u32 %r2, [s], %r3;", "atom.inc", 4),
        ("atom.shared.add.u32 %r2, [s], 1; st.global.u32 [%d1], %r2;", "atom", 4),
        ("atom.shared.add.u32 _, [s], 2;", "atom", 4),
        ("red.shared.add.u32 [s], 1;", "red.inc", 4),
        ("red.shared.add.s32 [s], 1;", "red", 4),
        ("red.shared.max.s32 [s], 1;", "red", 4),
        ("atom.shared.cas.b64 %d2, [s], 0, %d1;", "atom", 8),
    ],
)
def test_kinds_and_widths(code: str, kind: str, size: int) -> None:
    access = only(go(code))
    assert (access.kind, access.bytes, access.executions) == (kind, size, 1)


def test_only_the_lanes_of_the_matrix_count() -> None:
    access = only(go("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r2, %r3}, [s];"))
    assert dict(access.masks) == {0xFFFF: 1}


@pytest.mark.parametrize(
    "code",
    [
        "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [s], 1;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d1], 64, [s];",
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}, [s];",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %d1, %d2, 1, 1, 1, 0, 0;",
    ],
)
def test_what_has_no_addresses_of_lanes_is_listed_without_a_cost(code: str) -> None:
    access = only(go(code))
    assert (access.blind, access.executions, access.ways, access.worst) == (True, 1, 0, None)


def test_a_bulk_copy_moves_its_bytes() -> None:
    result = go(
        "setp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d1], 64, [s];\n"
        "ld.shared.u32 %r2, [s+60];\nst.global.u32 [%d1], %r2;"
    )
    assert result.buffers[0][:4].tolist() == [15, 0, 0, 0]


GENERIC = "mov.u32 %r2, s; shl.b32 %r3, %r1, 3; add.u32 %r3, %r3, %r2; cvt.u64.u32 %d2, %r3; cvta.shared.u64 %d2, %d2;"


def test_a_generic_access_to_shared_memory_counts() -> None:
    access = only(go(f"{GENERIC} ld.u32 %r4, [%d2];"))
    assert (access.generic, access.mixed, access.elsewhere, access.ways) == (True, False, 0, 2)
    assert access.worst is not None
    assert access.worst.addresses[:2] == (1024, 1032)


def test_a_generic_addition_of_1_is_a_plain_atomic() -> None:
    assert only(go(f"{GENERIC} red.add.u32 [%d2], 1;")).kind == "red"


def test_a_generic_access_to_other_memory_does_not() -> None:
    access = only(go("ld.u32 %r4, [%d1];"))
    assert (access.generic, access.executed, access.elsewhere) == (True, False, 1)


def test_of_a_mixed_access_only_the_lanes_in_shared_memory_count() -> None:
    access = only(go(f"{GENERIC} setp.lt.u32 %p1, %r1, 4; selp.b64 %d3, %d2, %d1, %p1; st.u32 [%d3], %r1;"))
    assert (access.mixed, dict(access.masks), access.elsewhere) == (True, {0xF: 1}, 0)


def test_accesses_of_called_functions_are_listed() -> None:
    top = (
        ".func f(.param .b32 at)\n{\n .reg .b32 %r<3>;\n ld.param.u32 %r1, [at];\n st.shared.u32 [%r1], 5;\n ret;\n}\n"
        ".func never(.param .b32 at)\n{\n .reg .b32 %r<3>;\n st.shared.u32 [%r1], 5;\n ret;\n}"
    )
    body = "mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 8, %r2;\n{ .param .b32 x; st.param.b32 [x], %r2; call.uni f, (x); }"
    access = only(go(body, top=top))
    assert (access.function, access.ways) == ("f", 2)


def test_two_accesses_in_one_line_are_both_there() -> None:
    result = go("shl.b32 %r2, %r1, 7; st.shared.u32 [s], 1; st.shared.u32 [s+4], 1;")
    assert [access.line for access in result.accesses] == [result.accesses[0].line] * 2
    assert list(result.by_line()) == [result.accesses[0].line]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("shl.b32 %r2, %r1, 1; mov.u32 %r3, s; add.u32 %r2, %r2, %r3; ld.shared.u32 %r4, [%r2];", "misaligned shared"),
        ("ld.shared.u32 %r2, [s+4096];", "outside"),
        ("ld.shared.u32 %r2, [s+-4];", "outside"),
        ("ld.global.u32 %r2, [%d1+100000];", "outside"),
        ("trap;", "trap"),
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32;", "unknown opcode tcgen05"),
        ("mov.u32 %r2, %nonsense;", "special register %nonsense"),
    ],
)
def test_errors_name_the_line_and_stop_the_launch(code: str, message: str) -> None:
    text = kernel(f"\n{code}")
    result = launch(text, "k", [1], [32], 0, [Buffer(64)])
    assert message in result.error
    line = next(at for at, row in enumerate(text.splitlines(), 1) if row == code)
    assert result.error.count(f"line {line}:") == 1


def test_bad_shared_addresses_are_told_and_do_not_stop_the_launch() -> None:
    """Lanes 4 bytes apart load 16 bytes each, and store beyond the end.

    What follows runs all the same.
    """
    text = kernel(
        "shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r2, %r2, %r3; mov.u32 %r9, 7;\n"
        "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];\nst.shared.u32 [%r2+4032], %r9;\n"
        "ld.shared.u32 %r8, [%r2+4032];\nmul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r8;"
    )
    result = run_kernel(text, "k", [32], params=[Buffer(128)])
    assert (result.error, result.partial) == ("", False)
    wide, store, load = result.accesses
    assert [(bad.kind, bad.times) for bad in result.violations] == [("misaligned", 1), ("outside", 1), ("outside", 1)]
    assert wide.violations["misaligned"].addresses[:6] == (None, 1028, 1032, 1036, None, 1044)
    assert dict(wide.masks) == {0x11111111: 1}
    outside = store.violations["outside"]
    assert (outside.line, outside.warp, outside.addresses[15:18]) == (store.line, 0, (None, 5120, 5124))
    assert dict(load.masks) == {0xFFFFFFFF: 1}
    assert result.buffers[0].view(np.uint32).tolist() == [7] * 16 + [0] * 16


def test_a_misaligned_vector_is_a_fault_of_the_strict_launch() -> None:
    start = "shl.b32 %r2, %r1, 3; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;"
    result = go(f"{start} ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r2];")
    assert "misaligned shared address: 16 bytes at 0x408" in result.error
    result = go("ld.global.v2.u32 {%r4, %r5}, [%d1+4];")
    assert "misaligned address" in result.error


def test_a_launch_that_stops_keeps_what_it_has_seen() -> None:
    text = kernel("LOOP:\nst.shared.u32 [s], 1;\nbra.uni LOOP;")
    result = run_kernel(text, "k", [32], params=[Buffer(64)], steps=50)
    assert (result.partial, result.steps) == (True, 51)
    assert result.error.startswith("BudgetError: no end after 50 steps")
    assert result.accesses[0].executions == 50
    text = kernel("st.shared.u32 [s], 1;\ntrap;\nst.shared.u32 [s+4], 1;")
    result = run_kernel(text, "k", [32], params=[Buffer(64)])
    assert (result.partial, [access.executions for access in result.accesses]) == (True, [1, 0])


def test_an_unknown_opcode_that_nobody_reaches_is_told() -> None:
    result = go("bra.uni END;\ntcgen05.nonsense;\nEND:")
    assert result.error == ""
    assert ["tcgen05.nonsense" in unknown for unknown in result.unknown] == [True]


def test_a_fault_is_an_error_of_the_oracle() -> None:
    assert issubclass(FaultError, OracleError)


INDIRECT = kernel(
    """{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %r1;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r0), %d1, (a0), prototype; ld.param.b32 %r2, [r0]; }
    shl.b32 %r3, %r1, 3; mov.u32 %r4, s; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], %r1;"""
)


def test_a_call_of_an_unknown_function_goes_on_in_a_lenient_launch_alone() -> None:
    strict = launch(INDIRECT, "k", [1], [32], 0, [Buffer(64)])
    assert "no known function" in strict.error
    assert not strict.accesses[0].executions
    lenient = launch(INDIRECT, "k", [1], [32], 0, [Buffer(64)], strict=False)
    assert (lenient.error, lenient.accesses[0].ways) == ("", 2)


def test_textures_are_full_of_zeros() -> None:
    code = """tex.2d.v4.u32.f32 {%r5, %r6, %r7, %r8}, [%d1, {%f1, %f2}]; mov.u32 %r4, s;
    shl.b32 %r3, %r1, 3; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r8; add.u32 %r3, %r3, %r4;
    st.shared.u32 [%r3], %r1;"""
    result = go(code)
    assert (result.error, result.accesses[0].ways) == ("", 2)

"""Arguments, buffers, the values that are chosen, and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from . import Buffer, Field, OracleError, Record, launch
from .__main__ import main
from .auto import automatic
from .launch import parsed

TEXT = """.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .u64 copy_param_0, .param .u64 copy_param_1, .param .u32 copy_param_2,
  .param .align 8 .b8 copy_param_3[24], .param .f32 copy_param_4)
.maxntid 64, 1, 1
{
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<3>; .reg .b64 %d<9>;
  .extern .shared .align 16 .b8 dyn[];
  ld.param.u64 %d1, [copy_param_0]; cvta.to.global.u64 %d1, %d1; ld.param.u64 %d2, [copy_param_1];
  cvta.to.global.u64 %d2, %d2; ld.param.u32 %r1, [copy_param_2]; mov.b64 %d3, copy_param_3;
  ld.param.u32 %r2, [%d3+8]; ld.param.u64 %d4, [%d3+16]; ld.param.u64 %d5, [%d3]; cvta.to.global.u64 %d5, %d5;
  ld.param.f32 %f1, [copy_param_4];
  mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, dyn; mad.lo.u32 %r5, %r3, %r1, %r5;
  mul.wide.u32 %d6, %r3, 4; add.s64 %d2, %d2, %d6; add.s64 %d1, %d1, %d6; ld.global.u32 %r6, [%d2];
  st.shared.u32 [%r5], %r6;
  ld.shared.u32 %r7, [%r5]; add.u32 %r7, %r7, %r2; setp.eq.u32 %p1, %r4, 1; @%p1 st.global.u32 [%d1], %r7;
  cvt.u32.u64 %r8, %d4; st.global.u32 [%d5], %r8; st.global.f32 [%d5+4], %f1;
  ret;
}
"""
STRUCT = Record.of(("u64", Buffer(64)), ("u32", 100), ("u64", 7))


def arguments(stride: int = 4) -> list[Any]:
    """Arguments of the kernel."""
    return [Buffer(256), Buffer(256, "iota"), stride, STRUCT, 2.5]


def test_arguments_reach_the_kernel_and_results_come_back() -> None:
    result = launch(TEXT, "copy", [1, 2], [64], 1024, arguments())
    assert (result.error, result.blocks) == ("", 2)
    assert result.buffers[0].view(np.uint32).tolist() == [100 + at for at in range(64)]
    inner = result.buffers[3, 0]
    assert (inner.view(np.uint32)[0], inner.view(np.float32)[1]) == (7, 2.5)


def test_parameters_by_name() -> None:
    values = dict(zip(("out", "param_1", 2, "copy_param_3", "4"), arguments(128), strict=True))
    result = launch(TEXT, "copy", [1], [64], 8192, values, names=["out"])
    assert [access.ways for access in result.accesses] == [32, 32]
    with pytest.raises(OracleError, match="no parameter width"):
        launch(TEXT, "copy", [1], [64], 8192, {"width": 3})


def test_records_are_laid_out_as_c_does() -> None:
    assert [(part.offset, part.type) for part in STRUCT.fields] == [(0, "u64"), (8, "u32"), (16, "u64")]


def test_a_missing_argument_and_an_unknown_kernel_are_errors() -> None:
    with pytest.raises(OracleError, match="no value for parameter 1"):
        launch(TEXT, "copy", [1], [64], 0, [Buffer(256)])
    with pytest.raises(OracleError, match="no kernel 'paste'; there are"):
        launch(TEXT, "paste", [1], [64])


def test_contents_depend_on_the_seed_and_the_place_alone() -> None:
    for fill in ("f32", "f64", "f16", "bf16", "u8", "u32", "mod:9"):
        one, other, place = (Buffer(64, fill).data(seed, at) for seed, at in ((1, 0), (2, 0), (1, 1)))
        assert one.tolist() == Buffer(128, fill).data(1, 0)[:64].tolist()
        assert one.tolist() == Buffer(64, fill).data(1, 0).tolist()
        assert one.tolist() != other.tolist()
        assert one.tolist() != place.tolist()
    assert Buffer(400, "mod:9").data(1, 0).view(np.uint32).max() == 8
    assert Buffer(8).data(1, 0).tolist() == [0] * 8
    assert Buffer(8, content=b"abc").data(1, 0).tolist() == [97, 98, 99, 0, 0, 0, 0, 0]
    with pytest.raises(OracleError, match="unknown contents"):
        Buffer(8, "f31").data(1, 0)


def test_values_that_are_chosen() -> None:
    """Pointers are found through cvta and through the address of a struct; the rest are numbers."""
    found = automatic(parsed(TEXT).functions["copy"], whole=5)
    assert [type(value) for value in found.values()] == [Buffer, Buffer, int, Record, float]
    assert found[2] == 5
    struct = found[3]
    assert isinstance(struct, Record)
    parts = {part.offset: part for part in struct.fields}
    assert isinstance(parts[0].value, Buffer)
    assert (parts[8], parts[16]) == (Field(8, "u32", 5), Field(16, "u64", 5))


def test_what_is_outside_of_buffers_is_an_error_or_a_warning() -> None:
    small = [Buffer(8), *arguments()[1:]]
    wide = launch(TEXT, "copy", [1, 2], [1024], 4096, [*arguments()[:1], Buffer(8), *arguments()[2:]])
    assert "global access outside" in wide.error
    loose = launch(TEXT, "copy", [1, 2], [1024], 4096, small, auto=True)
    assert loose.error == ""
    assert "outside of all buffers" in loose.warnings[0]


def test_only_some_blocks() -> None:
    assert launch(TEXT, "copy", [5, 2], [64], 1024, arguments(), max_blocks=3).blocks == 3


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    """Run the command line; give its status and what it printed."""
    status = main([*words, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "copy.ptx"
    file.write_text(TEXT)
    words = [str(file), "--grid", "1,2,1", "--smem", "4096", "--names", "out,in,stride,view,eps"]
    status, found = command(capsys, *words, "--param", "stride=8", "--buffer", "in=256:iota", "--param", "view+8=3")
    assert (status, found["error"], found["blocks"]) == (0, None, 2)
    store = found["accesses"][0]
    assert (store["kind"], store["ways"], store["worst_wavefronts"], store["executions"]) == ("st", 2, 2, 4)
    assert store["witness"]["addresses"][:3] == [1024, 1032, 1040]
    assert store["warps"][0] == {"block": [0, 0, 0], "warp": 0, "executions": 1}
    assert store["masks"] == {"ffffffff": 4}


def test_command_line_lists_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "copy.ptx"
    file.write_text(TEXT)
    status, found = command(capsys, str(file), "--list")
    assert status == 0
    assert [kernel["kernel"] for kernel in found] == ["copy"]
    assert found[0]["params"][3] == "b8 copy_param_3 (24 bytes)"


def test_command_line_tells_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "copy.ptx"
    file.write_text(TEXT)
    status, found = command(capsys, str(file), "--strict")
    assert (status, "no value for parameter 0" in found["error"]) == (1, True)
    status, found = command(capsys, str(file), "--smem", "16")
    assert (status, found["error"]) == (0, None)
    assert [bad["kind"] for bad in found["accesses"][0]["violations"]] == ["outside"]
    status, found = command(capsys, str(file), "--kernel", "nothing")
    assert (status, "no kernel" in found["error"]) == (1, True)


def test_command_line_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "copy.ptx"
    file.write_text(TEXT)
    assert main([str(file), "--kernel", "copy", "--block", "32,2", "--param", "2=8"]) == 0
    rows = [row.split() for row in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["line", "verdict", "ways", "wavefronts", "minimum", "executions", "violations", "text"]
    assert rows[1][1:8] == ["conflict", "2", "2", "1", "2", "outside", "st.shared.u32"]
    assert main([str(file), "--auto", "--smem", "4096"]) == 0
    rows = [row.split() for row in capsys.readouterr().out.splitlines()]
    assert rows[1][1:3] == ["varies", "16"]
    assert main([str(file), "--strict"]) == 1
    assert "no value for parameter 0" in capsys.readouterr().out

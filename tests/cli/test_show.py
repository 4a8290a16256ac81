"""`swzverify show`: what is named, in which format, in which colours, and what is refused."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from swzverify.apps.commands.show import ACCESS_VIEWS, TILE_VIEWS
from swzverify.apps.options.shared import picture_format
from swzverify.apps.options.show import VIEWS

SPEC = """\
swzverify: 1
target: sm_90
constants: {BK: [64, 32]}
tiles:
  A:
    element: f16
    layout: (64,BK):(BK,1)
    swizzle: Swizzle<3,3,3>
    stages: 2
  B: {element: f32, layout: "(32,32):(32,1)"}
accesses:
  read_A:
    tile: A
    instruction: ldmatrix.x4
    threads: 128
    for: {k: {start: 0, stop: BK, step: 16}}
    coord: [warp*16 + lane%16, k + lane/16*8]
  column: {tile: B, instruction: ld.shared.b32, threads: 64, coord: [lane, warp]}
  raw: {instruction: ld.shared.b32, threads: 64, address: tid*8}
"""


OPERANDS = """
swzverify: 1
target: sm_90a
constants: {LBO: [1024, 128]}
tiles:
  A: {element: f16, layout: "((8,8),(8,8)):((8,64),(1,512))"}
operands:
  A:
    instruction: wgmma.m64n128k16.f16
    role: A
    for: {k: 4}
    descriptor: {start: k*2048, lbo: LBO, sbo: 128, swizzle: none}
    reads: {tile: A, at: [0, k*16]}
claims: [{delivers: A}]
"""


def test_the_views_are_those_that_run_knows() -> None:
    assert set(VIEWS) == {*TILE_VIEWS, *ACCESS_VIEWS}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Swizzle<3,0,3>"], "Swizzle<3,0,3>: the offset and the bank of each element"),
        (["Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"], "on byte addresses, base 0"),
        (["(32,32):(33,1)", "--coord", "lane,0"], "at most 1 wavefront per warp instruction, no bank conflicts"),
        (
            ["(32,32):(32,1)", "--coord", "lane,k", "--for", "k=0:8:4", "--at", "k=4"],
            "The picture shows warp = 0, k = 4",
        ),
        (["(32,32):(32,1)", "--sweep", "pad", "--coord", "lane,0"], "the fewest are 1 wavefront, by pad 1"),
        (["a.swz.yaml", "--tile", "A"], "The case is BK = 64, one of 2."),
        (["a.swz.yaml", "--tile", "A", "--at", "BK=32", "--stage", "1"], "64 x 32 elements of 16 bits"),
        (["a.swz.yaml", "--access", "read_A"], "read_A: ldmatrix.x4 on sm_90 (measured), group by group"),
        (["a.swz.yaml", "--access", "read_A", "--view", "ownership"], "threads and their values"),
        (["a.swz.yaml", "--access", "read_A", "--view", "physical"], "what lies in each row of 128 bytes"),
        (["a.swz.yaml", "--access", "raw"], "at most 2 wavefronts per warp instruction, 1 without conflicts"),
        (
            ["a.swz.yaml", "--tile", "B", "--sweep", "B,S,M=0"],
            "column: ld.shared.b32 on sm_90 (measured): the fewest are 1 wavefront, by Swizzle<5,0,5>",
        ),
        (["S<3,4,3> o 0 o (8,64):(64,1)", "--element", "f16"], "where the CuTe DSL prints it of an atom"),
        (["(64,4)", "--element", "f6"], "Wavefronts are not counted: no load reads a cell of 96 bits"),
        (["(256,256):(256,1)", "--element", "f16"], "The picture shows rows 0 to 31 of 256."),
        (["(32,32):(32,1)", "--coord", "lane,0", "--target", "sm_80"], "ld.shared.b32 on sm_80 (documented)"),
        (["o.swz.yaml", "--operand", "A"], "Each element is read where the tile has it. The case is LBO = 1024"),
        (["o.swz.yaml", "--operand", "A", "--at", "LBO=128", "--at", "k=2"], "swizzle none; k = 2, base = 0."),
        (
            ["o.swz.yaml", "--operand", "A", "--at", "LBO=128", "--rows", "8:9"],
            "512 of 1024 elements are read elsewhere",
        ),
    ],
)
def test_what_may_be_shown(write, swzverify, arguments: list[str], said: str) -> None:
    write({"a.swz.yaml": SPEC, "o.swz.yaml": OPERANDS})
    result = swzverify("show", *arguments)
    assert result.exit_code == 0, result.output
    assert said in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.swz.yaml"], "SWZ581: a.swz.yaml has 2 tiles"),
        (["a.swz.yaml", "--tile", "C"], "SWZ581: a.swz.yaml has no tile 'C'"),
        (["a.swz.yaml", "--access", "read_a"], "did you mean 'read_A'?"),
        (["a.swz.yaml", "--access", "raw", "--view", "logical"], "SWZ581: the view logical draws a tile"),
        (["a.swz.yaml", "--access", "raw", "--sweep", "pad"], "SWZ583: access raw has no tile to change"),
        (["a.swz.yaml", "--access", "read_A", "--access", "column"], "not to one tile"),
        (["a.swz.yaml", "--tile", "B", "--view", "swizzle"], "SWZ581: tile B has no swizzle"),
        (["a.swz.yaml", "--tile", "B", "--element", "f16"], "SWZ581: --element goes with a layout"),
        (["a.swz.yaml", "--access", "read_A", "--at", "BK=7"], "no case with BK = 7"),
        (["a.swz.yaml", "--tile", "A", "--stage", "2"], "SWZ581: tile A has no stage 2"),
        (["a.swz.yaml", "--tile", "A", "--base", "100"], "SWZ581: tile A cannot begin at byte 100"),
        (["a.swz.yaml", "--tile", "A", "--vector", "16"], "vectors of 16 elements do not lie side by side"),
        (["a.swz.yaml", "--tile", "A", "--rows", "8:4"], "rows 8:4 are not inside 0:64"),
        (["a.swz.yaml", "--tile", "A", "--rows", "8"], "such as 0:32"),
        (["missing.swz.yaml"], "SWZ101"),
        (["(8,64"], "SWZ200: this parenthesis is never closed"),
        (["(8,8)", "--element", "f17"], "SWZ105: unknown element type 'f17'"),
        (["(8,8)", "--view", "groups"], "SWZ581: the view groups draws an access"),
        (["(8,8)", "--instruction", "ld.shared.b32"], "SWZ581: an instruction needs the coordinate"),
        (["(8,8)", "--coord", "lane,0", "--instruction", "ld.shared.b33"], "SWZ401"),
        (["(8,8)", "--coord", "lane"], "1 coordinates for tile (8,8)"),
        (["(8,8)", "--coord", "lane +,0"], "SWZ302"),
        (["(8,8)", "--tile", "A"], "SWZ581: --tile names something of a spec"),
        (["(8,8)", "--sweep", "S,B"], "SWZ583: 'S,B' is no sweep"),
        (["(8,8)", "--sweep", "pad", "--view", "logical"], "SWZ581: a sweep has no view logical"),
        (["Swizzle<3,3,3> o 4 o (8,64)"], "SWZ581: the offset 4"),
        (["Swizzle<3,3,2>"], "SWZ210"),
        (["Swizzle<12,0,12>"], "SWZ581"),
        (["Sw<3,4,3> o smem_ptr[16b](unset) o (8,64)", "--element", "f32"], "SWZ581: the pointer has elements of 16"),
        (["(8,8)", "--at", "warp"], "such as warp=1"),
        (["(8,8)", "--coord", "lane,0", "--for", "k=1:2:0"], "such as k=4"),
        (["(8,8)", "--at", "warp=1"], "--at would do nothing"),
        (["(8,8)", "--for", "k=2"], "--for would do nothing"),
        (["a.swz.yaml", "--access", "read_A", "--rows", "0:8"], "--vector, --rows and --columns would do nothing"),
        (["a.swz.yaml", "--access", "read_A", "--base", "1024"], "--stage and --base would do nothing"),
        (["(8,8)", "--sweep", "pad", "--rows", "0:4"], "--rows and --columns would do nothing"),
        (["(8,8)", "-o", "nowhere/x.svg"], "there is no folder 'nowhere'"),
        (["o.swz.yaml", "--operand", "a"], "SWZ581: o.swz.yaml has no operand 'a'"),
        (["o.swz.yaml", "--operand", "A", "--at", "m=1"], "SWZ581: operand A has no variable 'm'"),
        (["o.swz.yaml", "--operand", "A", "--view", "logical"], "SWZ581: --view does not go with --operand"),
        (["o.swz.yaml", "--operand", "A", "--base", "0"], "--at NAME=N has values of loops and of `base`"),
        (["o.swz.yaml", "--operand", "A", "--rows", "60:65"], "rows 60:65 are not inside 0:64"),
        (["(8,8)", "--operand", "A"], "SWZ581: --operand names something of a spec"),
    ],
)
def test_what_cannot_be_shown_is_told_in_words(write, swzverify, arguments: list[str], said: str) -> None:
    write({"a.swz.yaml": SPEC, "o.swz.yaml": OPERANDS})
    result = swzverify("show", *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split()), result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.svg", "<svg "), ("a.html", "<!DOCTYPE html>"), ("a.tex", r"\documentclass"), ("a.txt", "(8,8): the offset")],
)
def test_the_file_s_name_chooses_the_format(here: Path, swzverify, name: str, begins: str) -> None:
    assert swzverify("show", "(8,8)", "-o", name).exit_code == 0
    assert (here / name).read_text("utf-8").startswith(begins)
    assert swzverify("show", "(8,8)", "-o", "other", "--format", picture_format(name)).exit_code == 0
    assert (here / "other").read_bytes() == (here / name).read_bytes()


def test_a_png_needs_resvg(here: Path, swzverify, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=lambda **_: b"\x89PNG\r\n"))
    assert swzverify("show", "(8,8)", "-o", "a.png").exit_code == 0
    assert (here / "a.png").read_bytes() == b"\x89PNG\r\n"
    assert swzverify("show", "(8,8)", "--format", "png").stdout_bytes == b"\x89PNG\r\n"
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    result = swzverify("show", "(8,8)", "-o", "b.png")
    assert result.exit_code == 2
    assert "SWZ582" in result.output
    assert not (here / "b.png").exists()


def on_a_terminal(environment: dict[str, str]) -> str:
    """What the command writes to a terminal."""
    mother, child = pty.openpty()
    program = [sys.executable, "-m", "swzverify", "show", "Swizzle<1,0,1>"]
    with subprocess.Popen(program, stdout=child, stderr=child, env=environment) as process:
        os.close(child)
        found = b""
        while True:
            try:
                part = os.read(mother, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            found += part
    os.close(mother)
    assert process.returncode == 0
    return found.decode()


@pytest.mark.parametrize(
    ("settings", "escape"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "\x1b[38;2;255;255;255;48;2;0;34;78m"),
        ({"TERM": "xterm-256color", "COLORTERM": ""}, "\x1b[38;5;231;48;5;17m"),
        ({"TERM": "xterm", "COLORTERM": ""}, ""),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, ""),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, ""),
    ],
)
def test_a_terminal_gets_the_colours_that_it_has(
    clean_environment: dict[str, str], settings: dict[str, str], escape: str
) -> None:
    shown = on_a_terminal({**clean_environment, **settings})
    assert escape in shown
    assert ("\x1b" in shown) == bool(escape)


def test_a_pipe_gets_plain_text(clean_environment: dict[str, str]) -> None:
    program = [sys.executable, "-m", "swzverify", "show", "Swizzle<1,0,1>"]
    done = subprocess.run(
        program, env={**clean_environment, "COLORTERM": "truecolor"}, capture_output=True, text=True, check=True
    )
    assert "\x1b" not in done.stdout
    assert "b3" in done.stdout


def test_a_name_in_a_log_is_no_command(write, swzverify) -> None:
    write({"a.swz.yaml": SPEC.replace("  raw:", '  "::error::x":')})
    result = swzverify("show", "a.swz.yaml", "--access", "::error::x")
    assert not any(line.lstrip().startswith("::") for line in result.output.splitlines())

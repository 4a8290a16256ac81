"""Each renderer against a small picture in `golden/`, and what must hold of every picture.

`python -m tests.pictures.test_renderers` writes the golden files again; look at what changes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from swzverify import Layout, Swizzle, Tile
from swzverify.apps.commands.show import show
from swzverify.apps.options.shared import LayoutOptions
from swzverify.apps.options.show import ShowOptions
from swzverify.errors import SwzError
from swzverify.explain.pictures import Cell, Panel, Picture, Scale
from swzverify.explain.pictures.chosen import chosen
from swzverify.explain.pictures.html import render_html
from swzverify.explain.pictures.latex import render_latex
from swzverify.explain.pictures.png import render_png
from swzverify.explain.pictures.svg import render_svg
from swzverify.explain.pictures.text import TextLook, render_text
from swzverify.explain.pictures.views.groups import groups
from swzverify.explain.pictures.views.logical import logical

GOLDEN = Path(__file__).parent / "golden"
SMALL = Picture(
    "<A> & {B}_1: two rows",
    ("The first sentence is about 50% of it.", "1 wavefront, no bank conflicts."),
    (
        Panel("left", "row", "column", ("0", "1"), ("0", "1"), (
            Cell(0, 0, ("8", "b8"), 8, tip="(0,0)"), Cell(0, 1, ("9", "b9"), 9, marked=True),
            Cell(1, 1, ("x",)),
        )),
        Panel("right", "row", "column", ("0",), ("0", "1"), (Cell(0, 0, ("11", "b11"), 11),)),
    ),
    Scale("bank", 8, 11),
    "another word of the same bank",
)  # fmt: skip
PREVIEW = ShowOptions("", layout=LayoutOptions("f32"), numbers="bank", vector=1, columns=(0, 8))


def preview(text: str) -> str:
    """The banks of the first eight columns."""
    return render_text(show(replace(PREVIEW, what=text)))


DRAWN: dict[str, Callable[[], str]] = {
    "small.txt": lambda: render_text(SMALL),
    "small.256.txt": lambda: render_text(SMALL, TextLook(80, "256")),
    "small.truecolor.txt": lambda: render_text(SMALL, TextLook(80, "truecolor")),
    "small.svg": lambda: render_svg(SMALL),
    "small.html": lambda: render_html(SMALL),
    "small.tex": lambda: render_latex(SMALL),
    "xor_8x8.txt": lambda: render_text(show(ShowOptions("Swizzle<3,0,3>", view="swizzle"))),
    "swizzle_5_0_6.txt": lambda: preview("Swizzle<5,0,6> o (32,64):(64,1)"),
    "swizzle_5_0_6.tex": lambda: render_latex(
        show(ShowOptions("Swizzle<5,0,6> o (32,64):(64,1)", numbers="bank", vector=1, rows=(0, 4), columns=(0, 8)))
    ),
    "swizzle_5_0_8.txt": lambda: preview("Swizzle<5,0,8> o (32,64):(64,1)"),
    "swizzle_5_2_6.txt": lambda: preview("Swizzle<5,2,6> o (32,64):(64,1)"),
    "swizzle_5_2_8.txt": lambda: preview("Swizzle<5,2,8> o (32,64):(64,1)"),
    "swizzle_4_0_4.txt": lambda: preview("Swizzle<4,0,4> o (32,16):(16,1)"),
    "swizzle_3_0_4.txt": lambda: preview("Swizzle<3,0,4> o (32,16):(16,1)"),
    "swizzle_4_0_5.txt": lambda: preview("Swizzle<4,0,5> o (32,16):(16,1)"),
    "sweep_32x16.txt": lambda: render_text(
        show(ShowOptions("(32,16):(16,1)", layout=LayoutOptions(coord="lane,0"), sweep="B,S"))
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_drawn_as_before(name: str) -> None:
    assert DRAWN[name]() == (GOLDEN / name).read_text("utf-8")


def test_no_golden_file_is_left_over_or_large() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(DRAWN)
    assert all(path.stat().st_size < 16_000 for path in GOLDEN.iterdir())


def pictures() -> list[Picture]:
    tile = Tile("A", 32, Layout((32, 32), (32, 1)), Swizzle(5, 0, 5))
    bare = Tile("A", 32, Layout((32, 32), (32, 1)))
    read = bare.read("ld.shared.b32", coord=["lane", 0], threads=32, name="column")
    return [SMALL, logical(tile), groups(chosen(read)), show(ShowOptions("(32,32):(32,1)", sweep="pad"))]


@pytest.mark.parametrize("picture", pictures(), ids=lambda picture: picture.title)
def test_every_renderer_has_every_cell_mark_and_sentence(picture: Picture) -> None:
    texts = sorted(line for panel in picture.panels for cell in panel.cells for line in cell.lines)
    marks = sum(cell.marked for panel in picture.panels for cell in panel.cells)
    root = ElementTree.fromstring(render_svg(picture))  # noqa: S314 - our own text
    name = "{http://www.w3.org/2000/svg}"
    drawn = [
        each.text or "" for each in root.iter(f"{name}text") if re.search(r"\bc [kw]\b|^c$", each.get("class", ""))
    ]
    for text in texts:
        drawn.remove(text)
    flags = [each for each in root.iter(f"{name}path") if each.get("class") == "flag"]
    assert len(flags) == marks + picture.has_marks
    told = " ".join(" ".join(each.itertext()) for each in root.iter(f"{name}text"))
    page = render_html(picture)
    plain = " ".join(render_text(picture).split())
    for caption in picture.captions:
        words = " ".join(caption.split())
        assert words in told
        assert words in plain
        assert words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in page
    tex = render_latex(picture)
    assert tex.count(r"\node[cell") >= len(texts)
    assert tex.count("-- cycle;") == marks + picture.has_marks
    assert render_text(picture).count("*") == marks + picture.has_marks


def test_colour_is_the_only_difference_of_terminals() -> None:
    for picture in pictures():
        plain = render_text(picture, TextLook(120))
        for depth in ("256", "truecolor"):
            coloured = re.sub(r"\x1b\[[0-9;]*m", "", render_text(picture, TextLook(120, depth)))
            lines = [line.rstrip() for line in coloured.splitlines()]
            assert lines[: len(plain.splitlines())] == plain.splitlines()
            assert "\x1b" not in plain


@pytest.mark.parametrize("width", [40, 61, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for picture in pictures():
        for depth in ("plain", "truecolor"):
            shown = re.sub(r"\x1b\[[0-9;]*m", "", render_text(picture, TextLook(width, depth)))
            assert max(map(len, shown.splitlines())) <= width


def test_narrow_terminals_lose_no_cell() -> None:
    picture = logical(Tile("A", 32, Layout((2, 64), (64, 1))), probed=False)
    for width in (40, 80, 300):
        found = re.findall(r"\bb\d+(?:-\d+)?", render_text(picture, TextLook(width)))
        assert sorted(found) == sorted(cell.lines[1] for cell in picture.panels[0].cells)


def test_the_page_runs_nothing_and_fetches_nothing() -> None:
    page = render_html(SMALL)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    sheets = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    hashes = [f"'sha256-{b64encode(sha256(sheet.encode()).digest()).decode()}'" for sheet in sheets]
    assert policy[1] == f"default-src 'none'; style-src {' '.join(hashes)}"
    assert not re.search(r"<script|\bon\w+=|style=|url\(|(?:src|href)=", page)


@pytest.mark.parametrize(
    "shape", ["(8,8)", "(64,64)", "(256,256)", "(1024,1024)", "(65536,8)", "(7,5)", "(1,1)", "300"]
)
@pytest.mark.parametrize("element", ["i4", "i8", "f16", "f32", "f64", "f6"])
def test_sizes_are_bounded(shape: str, element: str) -> None:
    picture = show(ShowOptions(shape, layout=LayoutOptions(element)))
    assert sum(len(panel.cells) for panel in picture.panels) <= 64 * 64
    assert len(render_svg(picture)) < 1_200_000
    assert len(render_text(picture)) < 100_000


PDFLATEX = shutil.which("pdflatex")


@pytest.mark.skipif(PDFLATEX is None, reason="no TeX Live")
def test_latex_compiles(tmp_path: Path) -> None:
    assert PDFLATEX is not None
    nasty = r"\input{/etc/passwd} % ~ ^ # $ & _ { } \\ $$ ^^41 <<>> -- `' \" | é 世"
    hostile = Picture(nasty, (nasty,), (Panel(nasty, nasty, nasty, (nasty,), (nasty,), (Cell(0, 0, (nasty,)),)),))
    for name, picture in (("small", SMALL), ("hostile", hostile)):
        (tmp_path / f"{name}.tex").write_text(render_latex(picture), "utf-8")
        command = [PDFLATEX, "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
        assert done.returncode == 0, done.stdout[-2000:]
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")


def test_png_is_what_resvg_makes_of_the_light_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def raster(**given: object) -> bytes:
        asked.update(given)
        return b"\x89PNG"

    monkeypatch.setitem(sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=raster))
    assert render_png(SMALL) == b"\x89PNG"
    assert asked["svg_string"] == render_svg(SMALL, dark=False)


def test_without_resvg_the_next_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(SwzError, match="resvg") as caught:
        render_png(SMALL)
    assert caught.value.code == "SWZ582"


def test_resvg_itself() -> None:
    pytest.importorskip("resvg_py")
    assert render_png(SMALL).startswith(b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    for file, draw in DRAWN.items():
        (GOLDEN / file).write_text(draw(), "utf-8")

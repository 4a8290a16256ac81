r"""Pictures as LaTeX: a whole document with TikZ, for `pdflatex`, `lualatex` or `xelatex`.

It needs the class `standalone` and TikZ; in Debian they are in texlive-latex-extra and
texlive-pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from swzverify.errors import graphic
from swzverify.explain.pictures.frame import CAPTION_LINE, HEAD_LINE, LINE, Frame, PanelFrame, frame
from swzverify.explain.pictures.picture import DARK_INK, SHADES, Cell, Picture, ink

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "\'\'{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
    "-": "-{}", ",": ",{}", "?": "?{}", "!": "!{}",
}  # fmt: skip
_SPECIAL = re.compile(r"""[\\{}$&#_%^~<>|"'`,?!-]|[^\x20-\x7e]""")


def latex_text(text: str) -> str:
    r"""One line of text for LaTeX, without commands, groups, comments and ligatures.

    A character that is not ASCII becomes its number.

    >>> latex_text("a_b \\input{x} 50%")
    'a\\_b \\textbackslash{}input\\{x\\} 50\\%'
    """
    return _SPECIAL.sub(lambda found: _SIGNS.get(found[0]) or f"U+{ord(found[0]):04X}", graphic(text))


def render_latex(picture: Picture) -> str:
    """The picture as a document."""
    place = frame(picture)
    lines = [
        r"\documentclass[tikz,border=2mm]{standalone}",
        r"\usepackage{textcomp}",
        r"\renewcommand{\familydefault}{\sfdefault}",
        *(rf"\definecolor{{s{index}}}{{HTML}}{{{shade[1:].upper()}}}" for index, shade in enumerate(SHADES)),
        r"\begin{document}",
        r"\begin{tikzpicture}[x=0.3mm,y=-0.3mm,cell/.style={font=\fontsize{6}{7}\selectfont,inner sep=0pt},",
        r"  head/.style={cell,text=black!60},words/.style={font=\fontsize{8}{9}\selectfont,anchor=west,inner sep=0pt}]",
        rf"\node[words,font=\bfseries\fontsize{{9}}{{10}}\selectfont] at (10,16) {{{latex_text(picture.title)}}};",
    ]
    for index, caption in enumerate(place.captions):
        y = place.captions_top + (index + 0.5) * CAPTION_LINE
        lines.append(rf"\node[words] at (10,{y:g}) {{{latex_text(caption)}}};")
    for each in place.panels:
        lines += _panel(each, picture)
    lines += _legend(picture, place)
    return "\n".join([*lines, r"\end{tikzpicture}", r"\end{document}"]) + "\n"


def _panel(place: PanelFrame, picture: Picture) -> Iterator[str]:
    panel = place.panel
    if panel.title:
        yield rf"\node[words,font=\bfseries\fontsize{{8}}{{9}}\selectfont] at {_at(place.left, place.top + 6)} " + (
            f"{{{latex_text(panel.title)}}};"
        )
    above = place.cells_top - 7
    middle = place.cells_left + len(panel.column_heads) * place.cell_width / 2
    yield rf"\node[head] at {_at(middle, above - HEAD_LINE)} {{{latex_text(panel.column_name)}}};"
    yield rf"\node[head,anchor=east] at {_at(place.cells_left - 5, above)} {{{latex_text(panel.row_name)}}};"
    for column, head in enumerate(panel.column_heads):
        x = place.cells_left + (column + 0.5) * place.cell_width
        yield rf"\node[head] at {_at(x, above)} {{{latex_text(head)}}};"
    for row, head in enumerate(panel.row_heads):
        y = place.cells_top + (row + 0.5) * place.cell_height
        yield rf"\node[head,anchor=east] at {_at(place.cells_left - 5, y)} {{{latex_text(head)}}};"
    size = _at(len(panel.column_heads) * place.cell_width, len(panel.row_heads) * place.cell_height)
    yield rf"\draw[black!40,line width=0.1pt] {_at(place.cells_left, place.cells_top)} rectangle ++{size};"
    for cell in panel.cells:
        yield from _cell(cell, place, picture)


def _at(x: float, y: float) -> str:
    return f"({x:g},{y:g})"


def _cell(cell: Cell, place: PanelFrame, picture: Picture) -> Iterator[str]:
    x = place.cells_left + cell.column * place.cell_width
    y = place.cells_top + cell.row * place.cell_height
    shade = None if cell.value is None or picture.scale is None else picture.scale.shade(cell.value)
    size = f"{_at(x, y)} rectangle ++{_at(place.cell_width, place.cell_height)}"
    if shade is None:
        yield rf"\draw[black!40,line width=0.1pt] {size};"
    else:
        yield rf"\filldraw[fill=s{shade},draw=white,line width=0.2pt] {size};"
    colour = "" if shade is None or ink(shade) == DARK_INK else ",text=white"
    begin = y + place.cell_height / 2 - (len(cell.lines) - 1) * LINE / 2
    for index, line in enumerate(cell.lines):
        at = _at(x + place.cell_width / 2, begin + index * LINE)
        yield rf"\node[cell{colour}] at {at} {{{latex_text(line)}}};"
    if cell.marked:
        yield from _mark(x, y, place.cell_width, place.cell_height)


def _mark(x: float, y: float, width: float, height: float) -> Iterator[str]:
    """Two rings, black and white, and a flag in the corner."""
    for colour, inset, line in (("black", 1.0, 0.8), ("white", 2.5, 0.4)):
        size = f"{_at(x + inset, y + inset)} rectangle ++{_at(width - 2 * inset, height - 2 * inset)}"
        yield rf"\draw[{colour},line width={line:g}pt] {size};"
    flag = f"{_at(x + width - 7, y + 1)} -- ++(6,0) -- ++(0,6) -- cycle;"
    yield rf"\filldraw[fill=white,draw=black,line width=0.4pt] {flag}"


def _legend(picture: Picture, place: Frame) -> Iterator[str]:
    y = place.legend_top
    if picture.has_marks:
        yield from _mark(10, y - 4, 16, 14)
        yield rf"\node[words] at {_at(32, y + 3)} {{{latex_text(picture.marks)}}};"
        y += 18
    if picture.scale is None or not picture.values:
        return
    yield rf"\node[head,anchor=west] at {_at(10, y + 5)} {{{latex_text(picture.scale.name)}}};"
    left = 16 + len(picture.scale.name) * 6
    wide = min(18.0, (place.width - left - 10) / len(picture.values))
    for index, value in enumerate(picture.values):
        x, shade = left + index * wide, picture.scale.shade(value)
        colour = "" if ink(shade) == DARK_INK else ",text=white"
        yield rf"\filldraw[fill=s{shade},draw=white,line width=0.2pt] {_at(x, y - 2)} rectangle ++{_at(wide, 15)};"
        yield rf"\node[cell{colour}] at {_at(x + wide / 2, y + 5.5)} {{{value}}};"

"""Pictures as SVG: one file without scripts, links or fonts, for light and dark pages."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping

from swzverify.errors import graphic
from swzverify.explain.pictures.frame import CAPTION_LINE, HEAD_LINE, LINE, Frame, PanelFrame, frame
from swzverify.explain.pictures.picture import DARK_INK, LIGHT_INK, SHADES, Cell, Picture, ink

PAPER, TEXT, FAINT = "#ffffff", "#1c2126", "#5d666f"
DARK_PAPER, DARK_TEXT, DARK_FAINT = "#14171a", "#e6e8ea", "#a3acb5"
MAX_TIPS = 1 << 10
"""Up to so many cells each cell has words for a pointer over it."""
_FONT = "font-family:ui-sans-serif,system-ui,'DejaVu Sans',Verdana,sans-serif"


def svg_text(text: str) -> str:
    r"""One line of text for SVG, between tags or in an attribute: no markup, nothing that acts.

    >>> svg_text('<b "x">') + svg_text("a\n\x1b") == "&lt;b &quot;x&quot;&gt;a\ufffd\ufffd"
    True
    """
    return html.escape(graphic(text), quote=True)


def render_svg(picture: Picture, *, dark: bool = True, titled: bool = True) -> str:
    """The picture as a file.

    `dark` adds colours for dark pages, which follow the reader's settings. Without `titled` the
    picture has no title and no captions, for a page that has them as text.
    """
    place = frame(picture, titled=titled)
    size = f"{place.width:.0f} {place.height:.0f}"
    head = (
        f'<svg class="swz" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{place.width:.0f}" '
        f'height="{place.height:.0f}" role="img" aria-label="{svg_text(picture.title)}">'
    )
    lines = [head, f"<style>{svg_style(dark=dark)}</style>", f'<rect class="paper" width="{place.width:.0f}" '
             f'height="{place.height:.0f}"/>']  # fmt: skip
    lines += _parts(picture, place, titled)
    return "\n".join([*lines, "</svg>"]) + "\n"


def svg_style(*, dark: bool) -> str:
    """The style sheet, which is the same for every picture.

    In a page it changes nothing but pictures.
    """
    rules = {
        "text": f"{_FONT};font-size:10px;fill:{TEXT}",
        ".paper": f"fill:{PAPER}",
        ".title": "font-size:14px;font-weight:600",
        ".caption": "font-size:12px",
        ".panel": "font-size:12px;font-weight:600",
        ".head": f"fill:{FAINT}",
        ".c": "text-anchor:middle",
        ".e": "text-anchor:end",
        ".none": f"fill:none;stroke:{FAINT};stroke-width:.5",
        ".line": f"stroke:{PAPER};stroke-width:.5",
        ".ring": "fill:none;stroke:#000;stroke-width:2",
        ".inner": "fill:none;stroke:#fff;stroke-width:1",
        ".flag": "fill:#fff;stroke:#000;stroke-width:1",
    }
    night = {
        "text": f"fill:{DARK_TEXT}",
        ".paper": f"fill:{DARK_PAPER}",
        ".head": f"fill:{DARK_FAINT}",
        ".line": f"stroke:{DARK_PAPER}",
        ".none": f"stroke:{DARK_FAINT}",
    }
    fills = {f".s{index}": f"fill:{shade}" for index, shade in enumerate(SHADES)}
    inks = {".k": f"fill:{DARK_INK}", ".w": f"fill:{LIGHT_INK}"}
    by_night = f"@media (prefers-color-scheme:dark){{{_sheet(night)}}}" if dark else ""
    return _sheet(rules) + by_night + _sheet(fills | inks)


def _sheet(rules: Mapping[str, str]) -> str:
    return "".join(f".swz {selector}{{{rule}}}" for selector, rule in rules.items())


def _parts(picture: Picture, place: Frame, titled: bool) -> Iterator[str]:
    if titled:
        yield f'<text class="title" x="10" y="22">{svg_text(picture.title)}</text>'
        for index, caption in enumerate(place.captions):
            y = place.captions_top + (index + 0.8) * CAPTION_LINE
            yield f'<text class="caption" x="10" y="{y:.0f}">{svg_text(caption)}</text>'
    tips = sum(len(panel.cells) for panel in picture.panels) <= MAX_TIPS
    for each in place.panels:
        yield from _panel(each, picture, tips)
    yield from _legend(picture, place)


def _panel(place: PanelFrame, picture: Picture, tips: bool) -> Iterator[str]:
    panel = place.panel
    if panel.title:
        yield f'<text class="panel" x="{place.left:.0f}" y="{place.top + 10:.0f}">{svg_text(panel.title)}</text>'
    above = place.cells_top - 4
    middle = place.cells_left + len(panel.column_heads) * place.cell_width / 2
    yield (f'<text class="head c" x="{middle:.0f}" y="{above - HEAD_LINE + 2:.0f}">'
           f"{svg_text(panel.column_name)}</text>")  # fmt: skip
    yield (f'<text class="head e" x="{place.cells_left - 5:.0f}" y="{above:.0f}">'
           f"{svg_text(panel.row_name)}</text>")  # fmt: skip
    for column, head in enumerate(panel.column_heads):
        x = place.cells_left + (column + 0.5) * place.cell_width
        yield f'<text class="head c" x="{x:g}" y="{above:.0f}">{svg_text(head)}</text>'
    for row, head in enumerate(panel.row_heads):
        y = place.cells_top + (row + 0.5) * place.cell_height + 3.5
        yield f'<text class="head e" x="{place.cells_left - 5:.0f}" y="{y:g}">{svg_text(head)}</text>'
    wide, high = len(panel.column_heads) * place.cell_width, len(panel.row_heads) * place.cell_height
    corner = f'x="{place.cells_left:g}" y="{place.cells_top:g}"'
    yield f'<rect class="none" {corner} width="{wide:g}" height="{high:g}"/>'
    for cell in panel.cells:
        yield _cell(cell, place, picture, tips)


def _cell(cell: Cell, place: PanelFrame, picture: Picture, tips: bool) -> str:
    x = place.cells_left + cell.column * place.cell_width
    y = place.cells_top + cell.row * place.cell_height
    shade = None if cell.value is None or picture.scale is None else picture.scale.shade(cell.value)
    kind = "none" if shade is None else f"line s{shade}"
    dark = "" if shade is None else " k" if ink(shade) == DARK_INK else " w"
    size = f'width="{place.cell_width:g}" height="{place.cell_height:g}"'
    parts = [f'<rect class="{kind}" x="{x:g}" y="{y:g}" {size}/>']
    begin = y + place.cell_height / 2 - (len(cell.lines) - 1) * LINE / 2 + 3.5
    for index, line in enumerate(cell.lines):
        at = f'x="{x + place.cell_width / 2:g}" y="{begin + index * LINE:g}"'
        parts.append(f'<text class="c{dark}" {at}>{svg_text(line)}</text>')
    if cell.marked:
        parts.append(mark(x, y, place.cell_width, place.cell_height))
    if tips and cell.tip:
        return f"<g><title>{svg_text(cell.tip)}</title>{''.join(parts)}</g>"
    return "".join(parts)


def mark(x: float, y: float, width: float, height: float) -> str:
    """What marks a cell: two rings, black and white, and a flag in its corner."""
    ring = f'<rect class="ring" x="{x + 1:g}" y="{y + 1:g}" width="{width - 2:g}" height="{height - 2:g}"/>'
    inner = f'<rect class="inner" x="{x + 2.5:g}" y="{y + 2.5:g}" width="{width - 5:g}" height="{height - 5:g}"/>'
    return f'{ring}{inner}<path class="flag" d="M{x + width - 7:g} {y + 1:g}h6v6z"/>'


def _legend(picture: Picture, place: Frame) -> Iterator[str]:
    y = place.legend_top
    if picture.has_marks:
        yield f'{mark(10, y - 4, 16, 14)}<text class="caption" x="32" y="{y + 7:.0f}">{svg_text(picture.marks)}</text>'
        y += 18
    if picture.scale is None or not picture.values:
        return
    yield f'<text class="head" x="10" y="{y + 9:.0f}">{svg_text(picture.scale.name)}</text>'
    left = 16 + len(picture.scale.name) * 6
    wide = min(22.0, (place.width - left - 10) / len(picture.values))
    for index, value in enumerate(picture.values):
        x, shade = left + index * wide, picture.scale.shade(value)
        yield f'<rect class="line s{shade}" x="{x:g}" y="{y - 2:g}" width="{wide:g}" height="15"/>'
        if wide >= 14:
            dark = "k" if ink(shade) == DARK_INK else "w"
            yield f'<text class="c {dark}" x="{x + wide / 2:g}" y="{y + 9:g}">{value}</text>'

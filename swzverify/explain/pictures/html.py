"""Pictures as an HTML page, light and dark: the page fetches nothing and runs nothing.

The words are text of the page, and the panels are one SVG. A content security policy allows the
page's two style sheets, by their hashes, and nothing else.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from swzverify.core.shown import html_text
from swzverify.explain.pictures.picture import Panel, Picture
from swzverify.explain.pictures.svg import DARK_PAPER, DARK_TEXT, PAPER, TEXT, render_svg, svg_style
from swzverify.explain.pictures.table import cell_text, panel_table

_STYLE = (
    f":root{{color-scheme:light dark}}body{{margin:1.5rem auto;padding:0 1rem;max-width:75rem;background:{PAPER};"
    f"color:{TEXT};font:1rem/1.5 ui-sans-serif,system-ui,sans-serif}}h1{{font-size:1.3rem;overflow-wrap:anywhere}}"
    "ul{padding-left:1.2rem}li{overflow-wrap:anywhere}"
    "table{border-collapse:collapse;font-size:.8rem}caption{text-align:left}th,td{padding:0 .4rem;text-align:right;"
    "white-space:nowrap}.scroll{overflow-x:auto;margin-top:.8rem}.scroll:focus-visible{outline:2px solid}"
    f"@media (prefers-color-scheme:dark){{body{{background:{DARK_PAPER};color:{DARK_TEXT}}}}}"
)


def render_html(picture: Picture) -> str:
    """The picture as a page."""
    sheets = (_STYLE, svg_style(dark=True))
    hashes = [b64encode(sha256(sheet.encode()).digest()).decode() for sheet in sheets]
    policy = " ".join(f"'sha256-{each}'" for each in hashes)
    title = html_text(picture.title)
    words = "\n".join(f"<li>{html_text(caption)}</li>" for caption in picture.captions)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<ul>
{words}
</ul>
<div class="scroll" role="region" aria-label="picture" tabindex="0">
{render_svg(picture, titled=False)}</div>
<details>
<summary>The same as tables</summary>
{"".join(_table(panel, picture) for panel in picture.panels)}</details>
</main>
</body>
</html>
"""


def _table(panel: Panel, picture: Picture) -> str:
    """A panel as a table for people who cannot see the picture; a marked cell has a `*`."""
    marks = f"; * {picture.marks}" if any(cell.marked for cell in panel.cells) else ""
    return panel_table(panel, lambda cell: f"<td>{cell_text(cell)}</td>", f"{panel.title or picture.title}{marks}")

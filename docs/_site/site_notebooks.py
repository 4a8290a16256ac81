"""Names of notebooks' pictures: the title in the SVG itself.

MyST-NB, which makes the notebooks' pages, names a picture after a file.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_CALLED = re.compile(r'<svg\b[^>]*\baria-label="([^"]*)"')


def setup(app: Sphinx) -> dict[str, bool]:
    """Take part in the build."""
    app.connect("doctree-read", call)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def call(app: Sphinx, doctree: nodes.document) -> None:
    """Give the pictures of a page that is a notebook their names."""
    if not str(app.env.doc2path(app.env.docname)).endswith(".ipynb"):
        return
    for image in doctree.findall(nodes.image):
        path = Path(app.srcdir, image["uri"].lstrip("/"))
        found = _CALLED.search(path.read_text("utf-8")[:2000]) if path.suffix == ".svg" and path.is_file() else None
        if found:
            image["alt"] = html.unescape(found[1])

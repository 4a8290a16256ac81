"""Notebooks as pages: their cells are Markdown, Python and what it showed. Nothing is executed while
the site is built; `tests/docs/test_notebooks.py` does that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Take part in the build."""
    app.add_source_suffix(".ipynb", "markdown")
    app.connect("source-read", show, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def show(app: Sphinx, page: str, source: list[str]) -> None:
    """Put Markdown in a notebook's place."""
    if str(app.env.doc2path(page)).endswith(".ipynb"):
        source[0] = "\n\n".join(part for cell in json.loads(source[0])["cells"] for part in _parts(cell)) + "\n"


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    text = "".join(cell["source"]).rstrip()
    if cell["cell_type"] == "markdown":
        yield text
        return
    yield f"```python\n{text}\n```"
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            yield f"```text\n{''.join(output['text']).rstrip()}\n```"
        elif "text/html" in output["data"]:
            yield "".join(output["data"]["text/html"])
        elif "image/svg+xml" in output["data"]:
            yield "".join(output["data"]["image/svg+xml"])
        else:
            yield f"```text\n{''.join(output['data']['text/plain'])}\n```"

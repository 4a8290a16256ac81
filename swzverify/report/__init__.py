"""What a run ends in, and each format that it can be written as.

`result` is the report of a run; a format is a file, or a folder, that reads it. Other commands'
records and renderers are here too. A format is imported at its first use.

>>> from swzverify import report
>>> report.render_json.__name__
'render_json'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swzverify.core.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.report.github import render_github
    from swzverify.report.html.page import render_html
    from swzverify.report.json import render_json
    from swzverify.report.jsonl import render_jsonl
    from swzverify.report.junit import render_junit
    from swzverify.report.markdown import render_markdown
    from swzverify.report.problems import render_problems
    from swzverify.report.sarif import render_sarif
    from swzverify.report.text import render_text

__all__ = [
    "render_github",
    "render_html",
    "render_json",
    "render_jsonl",
    "render_junit",
    "render_markdown",
    "render_problems",
    "render_sarif",
    "render_text",
]

__getattr__ = importer(
    "swzverify.report",
    {name: f".{name.removeprefix('render_')}" for name in __all__} | {"render_html": ".html.page"},
)
__dir__ = lister("swzverify.report", __all__)

"""The page of `explore` as a widget of notebooks; docs/notebooks/index.md says where it runs.

Source: anywidget, "Anywidget Front-End Module (AFM)": the module, `model.send` and `msg:custom`.
"""

from __future__ import annotations

import atexit
import json
from collections.abc import Mapping
from functools import cache
from typing import Any, cast, get_args

import anywidget
import traitlets
from jinja2 import Environment, PackageLoader

from swzverify.apps.explorer.controls import controls
from swzverify.apps.explorer.fragments import Ask
from swzverify.apps.explorer.page_text import page_text
from swzverify.apps.explorer.spec_text import spec_text
from swzverify.apps.explorer.state import State
from swzverify.apps.explorer.worker import Worker, asked
from swzverify.report.html.assets import palette

_STEPS = {"rows": 16, "columns": 16, "threads": 32}
"""How far a slider moves a number, which can be typed, too; the other sliders move by 1."""


def _module() -> str:
    """The script of the widget: the form and the style sheet as texts, and what the page runs, too."""
    pages = Environment(
        loader=PackageLoader("swzverify.apps.explorer", "page"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    body = pages.get_template("body.html").render(controls=controls({}), answer=None, errors=[], sliders=_STEPS)
    style = palette().replace(":root", ":host") + page_text("page.css") + page_text("widget.css")
    texts = f"const BODY = {json.dumps(body)};\nconst STYLE = {json.dumps(style)};\n"
    return texts + page_text("explore.js") + page_text("widget.js")


@cache
def _worker() -> Worker:
    """The process that answers all widgets; a state that takes too long ends it, and not the kernel."""
    found = Worker()
    atexit.register(found.close)
    return found


class Explorer(anywidget.AnyWidget):
    """A tile and an access with sliders. `query` is what they stand at, as in a link of the page of `explore`.

    A cell of the notebook can read `query` and `spec`, and set `query`.
    """

    _esm = _module()
    query = traitlets.Unicode("").tag(sync=True)

    def __init__(self, query: str = "") -> None:
        super().__init__(query=query)
        self.on_msg(self._answer)  # pyright: ignore[reportUnknownMemberType]  # ipywidgets says no more

    @property
    def spec(self) -> str:
        """The spec of the state that is shown.

        Raises:
            SwzError: The state has no spec.
        """
        return spec_text(State.from_query(self.query)).text

    def _answer(self, _: object, content: object, buffers: object) -> None:
        """Send the answer to a question of the page."""
        del buffers
        match content:
            case {"number": str(number), "what": str(what), "query": str(query)} if what in get_args(Ask):
                found = cast("Mapping[str, Any]", asked(_worker().ask, query, cast("Ask", what)))
                self.send({"number": number, "answer": found})  # pyright: ignore[reportUnknownMemberType]  # likewise
            case _:
                pass

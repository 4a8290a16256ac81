"""The page in a cell of a notebook."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from swzverify.apps.explorer.of_spec import state_of
from swzverify.core.extras import extra
from swzverify.subjects import Access

if TYPE_CHECKING:
    from swzverify.apps.explorer.widget import Explorer


def explore(access: Access | None = None) -> Explorer:
    """A tile and an access as a widget with sliders, for Jupyter, marimo and notebooks of VS Code.

    It is the page of `swzverify explore`: each change is proved anew, drawn and explained. The widget's `query` is
    the state, as in a link of that page, and its `spec` is the state's spec.

    Args:
        access: What the widget begins with, an access to a tile; None begins as the page does. A warning says
            what of the access the page does not have.

    Raises:
        SwzError: SWZ611 if anywidget is not installed, SWZ597 and SWZ409 for an access that the page cannot show.
    """
    query = ""
    if access is not None:
        opened = state_of(access)
        query = opened.state.to_query()
        for each in opened.left_out:
            warnings.warn(f"not in the widget: {each}", stacklevel=2)
    with extra("widget", "anywidget", "explore()"):
        from swzverify.apps.explorer.widget import Explorer  # noqa: PLC0415 - an extra has what it needs
    return Explorer(query)

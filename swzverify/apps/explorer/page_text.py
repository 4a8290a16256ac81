"""The files of `page/` as text."""

from __future__ import annotations

from importlib.resources import files


def page_text(name: str) -> str:
    """A style sheet or a script.

    >>> "function explore(" in page_text("explore.js")
    True
    """
    return files("swzverify.apps.explorer").joinpath("page", name).read_text("utf-8")

"""The site's table of contents, inserted during the build.

On GitHub the pages are plain Markdown without directives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swzverify.claims import KINDS

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_ORDERED = {
    "tutorial": ("transpose", "gemm", "next"),
    "notebooks": (
        "layout_to_proof",
        "layouts_and_swizzles",
        "banks_and_wavefronts",
        "counterexamples",
        "explain",
        "finding_a_swizzle",
        "parameter_maps",
        "scanning_a_kernel",
        "block_orders",
    ),
    "reference": ("spec", "commands", "python"),
    "claims": tuple(KINDS),
}
"""Folders whose pages follow an order of their own; those of others follow the alphabet."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Take part in the build."""
    app.add_config_value("navigation", [], "env")
    app.connect("source-read", add_contents)
    app.connect("html-page-context", close_other_folders, priority=400)  # the theme asks for the tree at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Append the contents to the first page, and to a folder's `index` those of its folder."""
    pages = set(app.env.found_docs)
    if page == "index":
        source[0] += "".join(_contents(entries, caption) for caption, entries in _sections(app, pages) if entries)
    elif page.endswith("/index"):
        folder = page.removesuffix("index")
        others = sorted(other.removeprefix(folder) for other in pages if other.startswith(folder) and other != page)
        order = _ORDERED.get(folder.rstrip("/"), ())
        others.sort(key=lambda name: order.index(name) if name in order else len(order))
        source[0] += _contents(others)


def close_other_folders(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    """Show the pages of a folder only on its own pages.

    The theme asks for all pages on every page, which is two thirds of the time of the build.
    """
    if "toctree" in context:
        whole = context["toctree"]
        context["toctree"] = lambda **options: whole(**{**options, "collapse": True})


def _sections(app: Sphinx, pages: set[str]) -> list[tuple[str, list[str]]]:
    """Each section's existing pages."""
    sections: list[tuple[str, list[str]]] = app.config.navigation
    return [(caption, [page for page in listed if page in pages]) for caption, listed in sections]


def _contents(entries: list[str], caption: str = "") -> str:
    lines = [
        "",
        "",
        "```{toctree}",
        ":hidden:",
        *([f":caption: {caption}"] if caption else []),
        "",
        *entries,
        "```",
        "",
    ]
    return "\n".join(lines)

"""Formulas as MathML, which browsers draw themselves.

docutils turns LaTeX into it, and no script is needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_log = logging.getLogger(__name__)

_SPELLED = {r"\iff": r"\;\Longleftrightarrow\;", r"\mathbin": ""}
"""LaTeX that docutils does not know, by what it knows of the same looks."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Take part in the build."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    app.connect("config-inited", _choose)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _choose(_app: Sphinx, config: object) -> None:
    config.html_math_renderer = "mathml"  # type: ignore[attr-defined]


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{_mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _mathml(node: nodes.Element, *, as_block: bool) -> str:
    formula = re.sub(r"\\[a-z]+", lambda command: _SPELLED.get(command[0], command[0]), node.astext())
    try:
        return latex2mathml.tex2mathml(formula, as_block=as_block)
    except MathError as error:
        _log.warning("a formula that cannot be drawn: %s", error, location=node)
        return ""

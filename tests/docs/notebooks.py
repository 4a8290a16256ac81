"""Runs the notebooks of docs/notebooks/ in plain Python, as Jupyter shows what cells give:
`python -m tests.docs.notebooks` writes their outputs again.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

from tests.docs.blocks import ROOT

FOLDER = ROOT / "docs" / "notebooks"


def notebooks() -> list[Path]:
    """All of them."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The same notebook with what its cells give now."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells: list[dict[str, Any]] = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count = 1 + sum(each["cell_type"] == "code" for each in cells)
            outputs = _outputs("".join(cell["source"]), names, count)
            cells.append({**cell, "execution_count": count, "outputs": outputs})
        else:
            cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """What a cell prints, and what its last line is, where that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102 - our own notebook
        value = None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(_plain(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": _lines(value._repr_html_()), **data}
        if hasattr(value, "_repr_svg_"):
            data = {"image/svg+xml": _lines(value._repr_svg_()), **data}
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _plain(value: object) -> str:
    """What IPython writes of a value as text."""
    if not hasattr(value, "_repr_pretty_"):
        return repr(value)
    parts: list[str] = []
    value._repr_pretty_(type("Printer", (), {"text": staticmethod(parts.append)})(), False)
    return "".join(parts)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def written(notebook: dict[str, Any]) -> str:
    """A notebook as Jupyter writes it."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    for path in notebooks():
        path.write_text(written(executed(json.loads(path.read_text("utf-8")))), encoding="utf-8")

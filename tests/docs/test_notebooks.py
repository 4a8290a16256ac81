"""The notebooks give what they show, and are what Jupyter would write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, links_of
from tests.docs.notebooks import FOLDER, Kernel, notebooks, read, written

MOST_BYTES = 400_000
"""GitHub shows no large notebook."""


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with Kernel() as started:
        yield started


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_gives_what_it_shows(path: Path, kernel: Kernel) -> None:
    text = path.read_text("utf-8")
    assert written(kernel.executed(read(text))) == text, "write it again: python -m tests.docs.notebooks"


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_has_the_form_of_one(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    assert path.stat().st_size < MOST_BYTES
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9-]{1,64}", each) for each in ids)
    assert 8 <= len(ids) <= 20
    assert "".join(notebook["cells"][0]["source"]).startswith("# ")
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | (
            {"outputs", "execution_count"} if cell["cell_type"] == "code" else set()
        )
        if cell["cell_type"] == "markdown":
            assert [line for line in cell["source"] if len(line.rstrip("\n")) > 100] == []
        for link in links_of("".join(cell["source"])) if cell["cell_type"] == "markdown" else []:
            assert (path.parent / link.partition("#")[0]).is_file(), link


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_every_code_cell_shows_something_and_nothing_that_changes(path: Path) -> None:
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"], f"{cell['id']} shows nothing"
        for output in cell["outputs"]:
            assert output["output_type"] in ("stream", "execute_result", "display_data"), cell["id"]
            assert output.get("name", "stdout") == "stdout", cell["id"]
        shown = json.dumps(cell["outputs"])
        assert not re.search(r" at 0x[0-9a-f]{6,}|\btime_ms=|\b\d+(\.\d+)? m?s\b|/tmp/|/home/|\\u001b", shown), cell[
            "id"
        ]


def test_people_find_them() -> None:
    index = links_of((FOLDER / "index.md").read_text("utf-8"))
    assert [link for link in index if link.endswith(".ipynb")] == [
        "layout_to_proof.ipynb",
        *(link for link in index if link.endswith(".ipynb") and link != "layout_to_proof.ipynb"),
    ]
    assert {link for link in index if link.endswith(".ipynb")} == {path.name for path in notebooks()}
    for page in ("README.md", "docs/index.md", "docs/reference/python.md"):
        assert "notebooks/layout_to_proof.ipynb" in (ROOT / page).read_text("utf-8")
        assert "notebooks/index.md" in (ROOT / page).read_text("utf-8")


def test_a_cell_that_gives_something_else_is_noticed(kernel: Kernel) -> None:
    text = (FOLDER / "layout_to_proof.ipynb").read_text("utf-8")
    changed = text.replace("Swizzle<3,3,3>", "Swizzle<3,2,3>")
    assert changed != text
    assert written(kernel.executed(read(changed))) != changed


def test_a_notebook_knows_nothing_of_the_one_before(kernel: Kernel) -> None:
    def notebook(source: str) -> str:
        cell = {"cell_type": "code", "execution_count": 1, "id": "a", "metadata": {}, "outputs": [], "source": source}
        made = read(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        return written(kernel.executed(made))

    assert "1 here" in notebook("left = 1\nopen('left', 'w').close()\nprint(left, 'here')")
    assert "False False" in notebook("import os; print('left' in globals(), os.path.exists('left'))")

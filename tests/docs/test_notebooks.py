"""The notebooks give what they show, and are what Jupyter would write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, links_of
from tests.docs.notebooks import executed, notebooks, written


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_gives_what_it_shows(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    assert executed(notebook) == notebook, "write it again: python -m tests.docs.notebooks"
    assert path.read_text("utf-8") == written(notebook)


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_has_the_form_of_one(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", each) for each in ids)
    for cell in notebook["cells"]:
        code = {"outputs", "execution_count"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source", *code}
        for link in links_of("".join(cell["source"])) if cell["cell_type"] == "markdown" else []:
            assert (path.parent / link.partition("#")[0]).is_file(), link


def test_there_is_one_and_people_find_it() -> None:
    assert [path.stem for path in notebooks()] == ["layout_to_proof"]
    for page in ("README.md", "docs/index.md", "docs/reference/python.md"):
        assert "notebooks/layout_to_proof.ipynb" in (ROOT / page).read_text("utf-8")


def test_a_cell_that_gives_something_else_is_noticed() -> None:
    notebook = json.loads(notebooks()[0].read_text("utf-8"))
    changed = json.loads(json.dumps(notebook).replace("Swizzle<3,3,3>", "Swizzle<3,2,3>"))
    assert executed(changed) != changed

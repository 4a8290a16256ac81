"""Runs the notebooks of docs/notebooks/ in a kernel of Jupyter: `python -m tests.docs.notebooks`
writes their outputs again, of all of them or of those that are named.

One kernel runs them all, each in an empty folder and with names of its own. It takes some 0.4 s more
than IPython's shell in this process would. But Jupyter makes the outputs, so that no code here turns
values into them, and nothing of IPython stays in the process of the tests.
"""

from __future__ import annotations

import os
import sys
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

from tests.docs.blocks import ROOT

FOLDER = ROOT / "docs" / "notebooks"
SECONDS = 120
"""After which a cell is taken to hang."""


def notebooks() -> list[Path]:
    """All of them."""
    return sorted(FOLDER.glob("*.ipynb"))


def read(text: str) -> nbformat.NotebookNode:
    """A notebook from the text of its file."""
    return nbformat.reads(text, as_version=4)


def written(notebook: nbformat.NotebookNode) -> str:
    """A notebook as Jupyter writes it."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


class Kernel:
    """A kernel of Jupyter without the user's settings, for several notebooks one after the other."""

    def __init__(self) -> None:
        self._place = TemporaryDirectory(prefix="nb-")
        self._manager = KernelManager(transport="ipc", ip=str(Path(self._place.name) / "socket"))
        self._runs = 0

    def __enter__(self) -> Kernel:
        place = Path(self._place.name)
        command = place / "bin" / "swzverify"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m swzverify "$@"\n', encoding="utf-8")
        command.chmod(0o755)
        paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        changed = {
            "PATH": os.pathsep.join((str(command.parent), os.environ.get("PATH", os.defpath))),
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, paths)]),
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }
        changed |= dict.fromkeys(("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"), str(place / "settings"))
        self._manager.start_kernel(env={**os.environ, **changed}, cwd=str(place))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._manager.shutdown_kernel(now=True)
        self._manager.cleanup_resources()
        self._place.cleanup()

    def executed(self, notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
        """The same notebook with what its cells give now."""
        self._runs += 1
        folder = Path(self._place.name) / f"run-{self._runs}"
        folder.mkdir()
        begin = nbformat.v4.new_code_cell(f"%reset -f\nimport os\nos.chdir({str(folder)!r})\ndel os")
        given = deepcopy(notebook)
        given.cells = [begin, *given.cells]
        client = NotebookClient(
            given,
            km=self._manager,
            timeout=SECONDS,
            record_timing=False,
            coalesce_streams=True,
            store_widget_state=False,
        )
        try:
            client.execute()
        finally:
            if client.kc is not None:
                client.kc.stop_channels()
        cells = given.cells[1:]
        _number(cells)
        return nbformat.from_dict({**notebook, "cells": cells})


def _number(cells: list[nbformat.NotebookNode]) -> None:
    """Count a notebook's own cells from 1, and leave out what differs from run to run."""
    for count, cell in enumerate((each for each in cells if each.cell_type == "code"), 1):
        cell.execution_count = count
        cell.metadata.pop("execution", None)
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count


def main(names: list[str]) -> None:
    """Rewrite the notebooks in their places."""
    with Kernel() as kernel:
        for path in [Path(name) for name in names] or notebooks():
            path.write_text(written(kernel.executed(read(path.read_text("utf-8")))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

"""A stand-in for ncu: a script that writes a report, and prints recorded pages of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.binaries.fakes import only_tool
from tests.profiler.recorded import DATA, listing, source_page

NCU = """
printf '%s\\n' "$*" >> '{log}'
report=; page=; last=
for word; do
  case "$last" in --export) report=$word;; --page) page=$word;; esac
  last=$word
done
case "$page" in source) cat '{source}';; raw) cat '{raw}';; *) {run};; esac
"""


def ncu(monkeypatch: pytest.MonkeyPatch, folder: Path, run: str = ': > "$report"', source: str | None = None) -> Path:
    """A PATH with ncu and nvdisasm alone; what comes back is the file that gets ncu's arguments."""
    log, page, raw = folder / "log.txt", folder / "page.csv", DATA / "raw.csv"
    log.write_text("")
    page.write_text(source_page() if source is None else source)
    tools = only_tool(monkeypatch, folder, "ncu", NCU.format(log=log, source=page, raw=raw, run=run))
    (folder / "listing.txt").write_text(listing())
    (tools / "nvdisasm").write_text(f"#!/bin/sh\n/bin/cat '{folder}/listing.txt'\n")
    (tools / "nvdisasm").chmod(0o755)
    return log

"""Packages that are installed for a test: a module and its `.dist-info` on `sys.path`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks_of

PAGE = (ROOT / "docs" / "extend.md").read_text("utf-8")


def install(
    patch: pytest.MonkeyPatch, folder: Path, name: str, code: str, points: Mapping[str, Mapping[str, str]]
) -> Path:
    """Install a package `name` with these entry points, by group and name; returns its folder."""
    module = name.replace("-", "_")
    where = folder / name
    info = where / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (where / f"{module}.py").write_text(code, encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    groups = (
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in each.items()) for group, each in points.items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
    patch.syspath_prepend(str(where))
    patch.delitem(sys.modules, module, raising=False)
    return where


def page_code() -> str:
    """The package of docs/extend.md."""
    return "\n\n".join(block.text for block in blocks_of(PAGE) if block.language == "python")


def page_spec() -> str:
    """The spec of docs/extend.md."""
    (spec,) = [block.text for block in blocks_of(PAGE) if block.language == "yaml"]
    return spec


EXAMPLE = {
    "swzverify.claims": {"rows_aligned": "swz_example:RowsAligned"},
    "swzverify.formats": {"csv": "swz_example:render_csv"},
    "swzverify.readers": {"ttgir": "swz_example:read_ttgir"},
}

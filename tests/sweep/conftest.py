"""A spec with a sweep, for the tests of folders, clusters and the command."""

from __future__ import annotations

from pathlib import Path

import pytest

TEXT = """\
swzverify: 1
target: sm_90
constants: {E: 2, C: 64, P: 0, B: 3, M: 3, S: 3}
tiles:
  A:
    element: f16
    layout: {shape: [32, C], pad: P}
    swizzle: Swizzle<B,M,S>
accesses:
  row:
    tile: A
    instruction: st.shared.v4.b32
    threads: 32
    coord: [lane*(16/E)/C, lane*(16/E)%C]
  column:
    tile: A
    instruction: ldmatrix.x4
    threads: 32
    coord: [lane, 0]
sweep:
  over:
    E: {at: tiles.A.element, values: {i8: 1, f16: 2}}
    C: [32, 64]
    P: [0, 8]
    B: {start: 0, stop: 4}
    M: [3, 4]
    S: [3]
  where: [B <= S, C*E >= 64]
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The spec on disk."""
    file = tmp_path / "a.swz.yaml"
    file.write_text(TEXT, encoding="utf-8")
    return file

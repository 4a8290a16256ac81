"""The profiler's table: what every launch counts taken off, and every way in which it can be wrong."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from swzverify.errors import SwzError
from swzverify.gpu.costs import Patterns, patterns
from swzverify.gpu.counters import CONFLICTS, WAVEFRONTS, count, read_counts
from swzverify.hardware import LANES, find_instruction

METRICS = (WAVEFRONTS, CONFLICTS)


def some() -> dict[str, Patterns]:
    row = find_instruction("ld.shared.b32")
    addresses = np.arange(LANES)[None, :] * np.array([4, 8, 128])[:, None]
    return {row.name: patterns(row, addresses, np.ones((3, LANES), dtype=bool))}


def table(rows: list[tuple[str, float, float]], before: str = "", after: str = "") -> str:
    head = f'"ID","Kernel Name","{WAVEFRONTS}.sum","{CONFLICTS}.sum"\n"","","",""\n'
    body = "".join(f'"{i}","{kernel}","{w:,.0f}","{c:,.0f}"\n' for i, (kernel, w, c) in enumerate(rows))
    return before + head + body + after


KERNEL = "counted_ld_shared_b32(Offsets, unsigned int)"
HONEST = [(KERNEL, 17, 0), (KERNEL, 9, 0), (KERNEL, 17, 8), (KERNEL, 257, 248)]
"""The first pattern twice as often, then each: 1, 2 and 32 wavefronts, and 1 that every launch
counts.
"""


def test_what_every_launch_counts_is_taken_off() -> None:
    noise = "==PROF== Connected\n==WARNING== caches\n"
    found = read_counts(table(HONEST, noise, "==PROF== Disconnected\n"), some(), METRICS)["ld.shared.b32"]
    assert found.wavefronts.tolist() == [1, 2, 32]
    assert found.bank_conflicts.tolist() == [0, 1, 31]


def test_a_single_counter_leaves_conflicts_out() -> None:
    found = read_counts(table(HONEST), some(), (WAVEFRONTS,))["ld.shared.b32"]
    assert found.bank_conflicts.tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "==ERROR== no kernels were profiled\n",
        table(HONEST[:-1]),
        table([*HONEST[:2], ("counted_ld_shared_b64()", 17, 8), HONEST[3]]),
        table(HONEST).replace('"257"', '"n/a"'),
        table(HONEST).replace('"257"', '"nan"'),
        table(HONEST).replace(f"{WAVEFRONTS}.sum", "something"),
    ],
)
def test_a_table_that_is_not_whole(text: str) -> None:
    with pytest.raises(SwzError, match="SWZ713"):
        read_counts(text, some(), METRICS)


def program(folder: Path, body: str) -> None:
    file = folder / "ncu"
    file.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_no_profiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SwzError, match="SWZ711"):
        count(tmp_path / "work", some())


def test_a_profiler_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "print('==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'); sys.exit(1)")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SwzError, match="SWZ712"):
        count(tmp_path / "work", some())


def test_a_profiler_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "print('lost the device', file=sys.stderr); sys.exit(9)")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SwzError, match="lost the device"):
        count(tmp_path / "work", some())


def test_a_profiler_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, f"print({table(HONEST)!r})")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert count(tmp_path / "work", some())["ld.shared.b32"].wavefronts.tolist() == [1, 2, 32]
    assert (tmp_path / "work" / "patterns.npz").exists()

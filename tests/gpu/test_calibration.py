"""Calibrations: drawn patterns tell rules apart, files are read as written, and a wrong count
shows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from swzverify.errors import SwzError
from swzverify.gpu.calibration import (
    About,
    Calibration,
    every_instruction,
    judged,
    load_calibration,
    rows_measured,
    save_calibration,
)
from swzverify.gpu.counters import Counted
from swzverify.gpu.draw import FAMILIES, drawn
from swzverify.hardware import INSTRUCTIONS, access_cost, find_instruction

ABOUT = About("A GPU", 90, "13.0", "2026-11-21", 1)
NAMES = ("ld.shared.v4.b32", "stmatrix.x2", "cp.async.16", "atom.shared.add.u32")


def honest(count: int = 24) -> Calibration:
    patterns = {name: drawn(find_instruction(name), count, 1) for name in NAMES}
    counted: dict[str, Counted] = {}
    for name, each in patterns.items():
        costs = [
            access_cost(each.instruction, [int(a) if on else None for a, on in zip(row, lanes, strict=True)])
            for row, lanes in zip(each.addresses, each.active, strict=True)
        ]
        counted[name] = Counted(
            np.array([cost.wavefronts for cost in costs], dtype=float),
            np.array([cost.bank_conflicts for cost in costs], dtype=float),
        )
    return Calibration(ABOUT, patterns, counted)


@pytest.mark.parametrize("name", list(INSTRUCTIONS))
def test_drawn_patterns_are_the_instruction_s(name: str) -> None:
    row = find_instruction(name)
    each = drawn(row, 200, 5)
    assert len(each) == 200
    assert (each.addresses % row.width_bytes == 0).all()
    assert (each.addresses >= 0).all()
    assert (each.addresses < 48 * 1024).all()
    assert each.active.any(axis=1).all()
    assert each.active[:, : row.address_lanes].all() == row.warp_wide
    wavefronts, conflicts = each.predicted()
    # conflicts of many degrees, and none: a calibration of one cost would show little
    assert len(np.unique(wavefronts)) > 4
    assert (conflicts == 0).any()
    if row.joins:
        assert (wavefronts < row.group_count).any()
    again = drawn(row, 200, 5)
    assert (again.addresses == each.addresses).all()
    assert (drawn(row, 200, 6).addresses != each.addresses).any()


@pytest.mark.parametrize("family", list(FAMILIES))
def test_every_family_gives_lanes_of_its_own(family: str) -> None:
    rng = np.random.default_rng(2)
    rows = [FAMILIES[family](rng, 3072) for _ in range(30)]
    assert all(row.shape == (32,) and row.min() >= 0 for row in rows)
    assert len({row.tobytes() for row in rows}) > 5


def test_read_as_written(tmp_path: Path) -> None:
    file = tmp_path / "c.npz"
    save_calibration(file, honest())
    found = load_calibration(file)
    assert found.about == ABOUT
    assert [row.holds for row in judged(found)] == [True] * len(NAMES)
    assert set(rows_measured(found)) == set(NAMES)
    for name in NAMES:
        assert (found.patterns[name].addresses == honest().patterns[name].addresses).all()
        assert (found.patterns[name].active == honest().patterns[name].active).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_count_shows(name: str) -> None:
    found = honest()
    found.counted[name].wavefronts[3] += 40
    rows = {row.instruction: row for row in judged(found)}
    assert not rows[name].holds
    assert rows[name].kept == 23
    assert "the rule says" in rows[name].differences[0]
    assert "addresses [" in rows[name].differences[0]
    assert name not in rows_measured(found)
    assert sum(row.holds for row in rows.values()) == len(NAMES) - 1


def test_wrong_conflicts_show() -> None:
    found = honest()
    found.counted["stmatrix.x2"].bank_conflicts[0] += 1
    assert "bank conflicts" in next(row for row in judged(found) if not row.holds).differences[0]


@pytest.mark.parametrize("more", [-1, 1])
def test_a_copy_may_not_take_other_wavefronts_either_way(more: int) -> None:
    found = honest()
    found.counted["cp.async.16"].wavefronts[0] += more
    assert "cp.async.16" not in rows_measured(found)


def test_damaged_files(tmp_path: Path) -> None:
    file = tmp_path / "c.npz"
    save_calibration(file, honest(3))
    good = file.read_bytes()
    for number, data in enumerate((b"", b"text", good[: len(good) // 2])):
        other = tmp_path / f"{number}.npz"
        other.write_bytes(data)
        with pytest.raises(SwzError, match="SWZ705"):
            load_calibration(other)
    with np.load(file) as arrays:
        held = dict(arrays)
    for number, change in enumerate(({"about": np.asarray("{}")}, {f"{NAMES[0]}/masks": np.zeros(2, np.uint32)})):
        other = tmp_path / f"changed{number}.npz"
        np.savez(other, **{**held, **change})
        with pytest.raises(SwzError, match="SWZ705"):
            load_calibration(other)
    with pytest.raises(SwzError, match="SWZ503"):
        load_calibration(tmp_path / "none.npz")


def test_what_a_chip_has() -> None:
    assert list(every_instruction(90)) == list(INSTRUCTIONS)
    assert not any(name.startswith(("stmatrix", "cp.async")) for name in every_instruction(75))

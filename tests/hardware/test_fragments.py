"""The fragments of mma.sync: against the sentences of the PTX manual, and against CUTLASS's MMA_Traits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from swzverify import Layout, fragment_elements
from swzverify.errors import SwzError
from swzverify.hardware.fragments import MMA_SHAPES, Mma, find_mma

Place = Callable[[int, int, int], tuple[int, int]]
"""From groupID, threadID_in_group and the index i of `a_i` or `b_i` to the row of A (column of B) and k."""

F16, INT8 = ("f16", "bf16"), ("s8", "u8", "e4m3", "e5m2")
MANUAL: dict[tuple[str, str], tuple[tuple[str, ...], int, Place]] = {
    # shape, role: types, elements per lane, (row or column, place along K)
    ("m16n8k8", "A"): (F16, 4, lambda g, t, i: (g if i in (0, 1) else g + 8, t * 2 + (i & 1))),
    ("m16n8k8", "B"): (F16, 2, lambda g, t, i: (g, t * 2 + i)),
    ("m16n8k16", "A"): (
        F16,
        8,
        lambda g, t, i: (
            g if 0 <= i < 2 or 4 <= i < 6 else g + 8,
            t * 2 + (i & 1) if i < 4 else t * 2 + (i & 1) + 8,
        ),
    ),
    ("m16n8k16", "B"): (F16, 4, lambda g, t, i: (g, t * 2 + (i & 1) if i < 2 else t * 2 + (i & 1) + 8)),
    ("m16n8k4 tf32", "A"): (("tf32",), 2, lambda g, t, i: (g if i == 0 else g + 8, t)),
    ("m16n8k4 tf32", "B"): (("tf32",), 1, lambda g, t, _: (g, t)),
    ("m16n8k8 tf32", "A"): (("tf32",), 4, lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4)),
    ("m16n8k8 tf32", "B"): (("tf32",), 2, lambda g, t, i: (g, t if i == 0 else t + 4)),
    ("m8n8k16 s8", "A"): (("s8", "u8"), 4, lambda g, t, i: (g, t * 4 + i)),
    ("m8n8k16 s8", "B"): (("s8", "u8"), 4, lambda g, t, i: (g, t * 4 + i)),
    ("m16n8k16 s8", "A"): (INT8, 8, lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3))),
    ("m16n8k16 s8", "B"): (INT8, 4, lambda g, t, i: (g, t * 4 + i)),
    ("m16n8k32 s8", "A"): (
        INT8,
        16,
        lambda g, t, i: (
            g if 0 <= i < 4 or 8 <= i < 12 else g + 8,
            t * 4 + (i & 3) if i < 8 else t * 4 + (i & 3) + 16,
        ),
    ),
    ("m16n8k32 s8", "B"): (INT8, 8, lambda g, t, i: (g, t * 4 + (i & 3) + (0 if i < 4 else 16))),
}
"""PTX ISA 8.7, 9.7.14.5, shape by shape."""

TRAITS = {
    # ALayout and BLayout of cute/atom/mma_traits_sm80.hpp, with the rows of A (columns of B) fastest
    ("m16n8k8.f16", "A"): "((4,8),(2,2)):((32,1),(16,8))",
    ("m16n8k8.f16", "B"): "((4,8),2):((16,1),8)",
    ("m16n8k16.f16", "A"): "((4,8),(2,2,2)):((32,1),(16,8,128))",
    ("m16n8k16.f16", "B"): "((4,8),(2,2)):((16,1),(8,64))",
    ("m16n8k4.tf32", "A"): "((4,8),2):((16,1),8)",
    ("m16n8k8.tf32", "A"): "((4,8),(2,2)):((16,1),(8,64))",
    ("m16n8k8.tf32", "B"): "((4,8),2):((8,1),32)",
    ("m8n8k16.s8", "A"): "((4,8),4):((32,1),8)",
    ("m16n8k16.s8", "A"): "((4,8),(4,2)):((64,1),(16,8))",
    ("m16n8k32.s8", "A"): "((4,8),(4,2,2)):((64,1),(16,8,256))",
    ("m16n8k32.s8", "B"): "((4,8),(4,2)):((32,1),(8,128))",
}


def _by_the_manual(role: str, shape: str) -> list[tuple[str, list[list[tuple[int, int]]]]]:
    types, count, place = MANUAL[shape, role]
    lanes = [[place(lane >> 2, lane % 4, i) for i in range(count)] for lane in range(32)]
    return [(f"{shape.partition(' ')[0]}.{each}", lanes) for each in types]


def _disagreements() -> list[str]:
    return [
        f"{name} {role}"
        for shape, role in MANUAL
        for name, lanes in _by_the_manual(role, shape)
        if fragment_elements(name, role).reshape(32, -1, 2).tolist() != [[list(at) for at in lane] for lane in lanes]
    ]


def test_every_fragment_is_as_the_manual_says() -> None:
    assert _disagreements() == []
    told = {(name, role) for shape, role in MANUAL for name, _ in _by_the_manual(role, shape)}
    modelled = {f"m{m}n{n}k{k}.{each}" for (m, n, k), types in MMA_SHAPES.items() for each in types}
    assert told == set(product(modelled, "AB"))


@pytest.mark.parametrize(("name", "role"), sorted(TRAITS))
def test_fragments_are_those_of_cutlass(name: str, role: str) -> None:
    """Each layout maps (lane, value) to row + rows * k."""
    row = find_mma(name)
    layout = Layout(TRAITS[name, role])
    found = fragment_elements(name, role).reshape(32, -1, 2)
    flat = found[..., 0] + row.rows(role) * found[..., 1]
    assert flat.tolist() == [[layout((lane, value)) for value in range(flat.shape[1])] for lane in range(32)]


@pytest.mark.parametrize("role", ["A", "B"])
@pytest.mark.parametrize("name", ["m16n8k8.f16", "m16n8k32.u8", "m16n8k4.tf32", "m8n8k16.s8"])
def test_each_element_is_in_one_place(name: str, role: str) -> None:
    found = fragment_elements(name, role).reshape(-1, 2)
    row = find_mma(name)
    assert sorted(map(tuple, found.tolist())) == list(product(range(row.rows(role)), range(row.k)))


def _rows_eight_off(self: Mma, role: str, lane: Any, register: Any) -> Any:
    return lane // 4 + (register + 1) % self.halves(role) * 8


def _by_pairs(self: Mma, role: str, lane: Any, register: Any, part: Any) -> Any:
    return register // self.halves(role) * 4 * self.parts + lane % 4 + 4 * part


def _k_before_rows(self: Mma, role: str, lane: Any, register: Any) -> Any:
    return lane // 4 + register // max(1, self.registers(role) // self.halves(role)) * 8


@pytest.mark.parametrize(
    ("method", "wrong"), [("row", _rows_eight_off), ("row", _k_before_rows), ("column", _by_pairs)]
)
def test_a_planted_mistake_is_found(monkeypatch: pytest.MonkeyPatch, method: str, wrong: Any) -> None:
    monkeypatch.setattr(Mma, method, wrong)
    assert _disagreements()


def test_names_in_ptx_s_spelling() -> None:
    assert find_mma("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32").name == "m16n8k8.tf32"
    assert find_mma("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32").name == "m16n8k32.u8"


@pytest.mark.parametrize(
    ("name", "role", "code"),
    [
        ("m16n8", "A", "SWZ401"),
        ("m16n8k16.f16.f16", "A", "SWZ401"),
        ("m8n8k4.f16", "A", "SWZ411"),
        ("m16n8k64.s4", "A", "SWZ411"),
        ("m16n8k16.tf32", "A", "SWZ411"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.s8.f32", "A", "SWZ411"),
        ("m16n8k16.f16", "C", "SWZ105"),
    ],
)
def test_what_is_not_modelled_is_refused(name: str, role: str, code: str) -> None:
    with pytest.raises(SwzError, match=code):
        fragment_elements(name, role)


def test_the_array_has_integers() -> None:
    assert fragment_elements("m16n8k16.f16", "A").dtype == np.int64

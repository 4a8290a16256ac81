"""Fragments of `wmma` in runs: which bytes they touch, against what the manual says of rows and strides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from swzverify.compiled.kernel.fragments import Fragment
from swzverify.compiled.trial import fragments
from swzverify.compiled.trial.history import History
from swzverify.compiled.trial.touches import Effect
from tests.kernel.test_fragments import CODES, ELEMENT, SIZES
from tests.trial.test_clocks import pairs, run

FORMS = sorted({each.form for each in CODES if "sm_90" in each.targets})
LOAD = "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r8, %r9, %r10, %r11}, [%r2], 16;"
STORE = "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r2], {%r8, %r9, %r10, %r11}, 16;"


def opcode(form: str) -> str:
    operation, layout, shape, kind = form.split()
    return f"wmma.{operation}.sync.aligned.{layout}.{shape}.shared.{kind}"


def instruction(form: str, stride: int) -> str:
    registers = "{%r8, %r9, %r10, %r11}"
    name = opcode(form)
    return f"{name} [%r2], {registers}, {stride};" if ".store." in name else f"{name} {registers}, [%r2], {stride};"


def footprint(form: str, stride: int) -> set[int]:
    """The bytes of a matrix, as the manual lays it out: its rows, or columns, lie a stride of elements apart."""
    operation, layout, shape, kind = form.split()
    m, n, k = SIZES[shape]
    rows, columns = {"a": (m, k), "b": (k, n)}.get(operation[-1], (m, n))
    lines, each = (rows, columns) if layout == "row" else (columns, rows)
    size = ELEMENT[kind]
    return {(line * stride + at) * size + byte for line in range(lines) for at in range(each) for byte in range(size)}


def touched(form: str, stride: int, monkeypatch: pytest.MonkeyPatch) -> dict[Effect, set[int]]:
    """The bytes that a run tells of."""
    found: dict[Effect, set[int]] = {}

    def access(_: History, __: int, effect: Effect, ___: Any, starts: Any, width: int, *____: Any) -> None:
        found.setdefault(effect, set()).update(int(start) + byte for start in starts for byte in range(width))

    monkeypatch.setattr(History, "access", access)
    assert run(instruction(form, stride), threads=32).ended == ""
    return found


@pytest.mark.parametrize("form", FORMS)
def test_the_bytes_of_a_fragment_are_those_of_its_rows(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    effect = Effect.WRITE if "store" in form else Effect.READ
    assert touched(form, 32, monkeypatch) == {effect: footprint(form, 32)}


def test_planted_a_stride_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(name: str, capability: int) -> Fragment | None:
        found = real(name, capability)
        return None if found is None else replace(found, element_bytes=1)

    real, form = fragments.fragment_of, "load.a row m16n16k16 f16"
    monkeypatch.setattr(fragments, "fragment_of", mistaken)
    assert touched(form, 32, monkeypatch) != {Effect.READ: footprint(form, 32)}


def test_a_fragment_races_with_the_stores_of_another_warp() -> None:
    assert pairs(run(f"st.shared.u32 [%r4], %r1;\n{LOAD}")) == {(0, 1)}
    assert pairs(run(f"st.shared.u32 [%r4], %r1;\nbar.sync 0;\n{LOAD}")) == set()


def test_a_stored_fragment_races_with_loads_and_with_itself() -> None:
    # Both warps store the whole tile; nothing is known of the elements.
    assert pairs(run(f"{STORE}\nld.shared.u32 %r7, [%r5];")) >= {(0, 0), (0, 1)}
    alone = run(f"{STORE}\nld.shared.u32 %r7, [%r5];", threads=32)
    assert pairs(alone) == {(0, 1)}
    assert pairs(run(f"{STORE}\nbar.sync 0;\nld.shared.u32 %r7, [%r5];", threads=32)) == set()


def test_what_a_fragment_wrote_is_not_known() -> None:
    body = f"st.shared.u32 [%r4], %r1;\nbar.sync 0;\n{STORE}\nbar.sync 0;\nld.shared.u32 %r7, [%r2];\n"
    ended = run(f"{body}setp.eq.u32 %p1, %r7, 0;\n@%p1 bra A;\nbar.sync 0;\nA:", threads=32).ended
    assert ended == "a branch is not known"


def test_a_fragment_outside_of_the_array_is_a_fault() -> None:
    assert run("add.u32 %r2, %r2, 4096;\n" + LOAD, threads=32).is_fault
    assert run("add.u32 %r2, %r2, 4;\n" + LOAD, threads=32).is_fault


def test_a_stride_that_is_not_known_ends_the_run() -> None:
    shown = run(LOAD.replace("16;", "%r12;"), threads=32)
    assert shown.ended == "the stride of a fragment is not known"

"""Loops that move pointers from stage to stage, not always by the same: what is said of them, against
an interpreter.
"""

from __future__ import annotations

import random

import pytest

from swzverify.compiled.kernel import induction, sequences, uniform
from swzverify.compiled.kernel.leaves import CarriedLeaf, OpaqueLeaf
from tests.kernel.test_programs import explained
from tests.kernel.texts import kind, last, own
from tests.kernel.traps import COUNT, STORE
from tests.nightly import found_at, share

STARTS = (
    "mad.lo.u32 %r6, %r0, 3, 40;",
    "shl.b32 %r6, %r0, 1; xor.b32 %r11, %r0, 2; add.u32 %r6, %r6, %r11;",
    "mul.lo.u32 %r6, %r1, 40; add.u32 %r6, %r6, %r0;",
    "mad.lo.u32 %r6, %r0, 5, %r2;",
    "mov.u32 %r6, %r2;",
)
FLAGS = (
    "xor.b32 %r8, %r8, 1;",
    "xor.b32 %r8, %r8, 1;",
    "add.u32 %r8, %r8, 1; setp.eq.u32 %p4, %r8, 3; @%p4 mov.u32 %r8, 0;",
    "add.u32 %r8, %r8, 1; setp.eq.u32 %p4, %r8, 3; selp.u32 %r8, 0, %r8, %p4;",
    "xor.b32 %r8, %r8, %r2;",
    "add.u32 %r8, %r8, %r0; and.b32 %r8, %r8, 1;",
    "shr.u32 %r8, %r0, 2; xor.b32 %r8, %r8, %r4; and.b32 %r8, %r8, 1;",
    "st.shared.u32 [pool], %r4;\nld.volatile.shared.u32 %r8, [pool];",
    "shl.b32 %r11, %r0, 2; and.b32 %r11, %r11, 60; mov.u32 %r12, pool; add.u32 %r11, %r11, %r12;"
    " st.shared.u32 [%r11], %r4;\nld.shared.u32 %r8, [%r11];",
)
MOVES = (
    "setp.eq.u32 %p2, %r8, 1; @%p2 bra A{n}; add.u32 %r6, %r6, {one}; bra B{n}; A{n}: add.u32 %r6, %r6, {two}; B{n}:",
    "setp.eq.u32 %p2, %r8, 0; selp.u32 %r11, {one}, {two}, %p2; add.u32 %r6, %r6, %r11;",
    "setp.ne.u32 %p2, %r8, 0; @%p2 add.u32 %r6, %r6, {one}; add.u32 %r6, %r6, {two};",
    "mul.lo.u32 %r11, %r8, {one}; add.u32 %r6, %r9, %r11;",
    "shl.b32 %r11, %r8, 6; sub.u32 %r6, %r9, %r11;",
    "setp.eq.u32 %p2, %r8, 0; @%p2 bra A{n}; add.u32 %r6, %r6, {one}; bra B{n}; A{n}: mov.u32 %r6, %r9; B{n}:",
    "mad.lo.u32 %r6, %r8, {one}, %r6;",
    "mad.lo.u32 %r6, %r0, {one}, %r6;",
    "mul.lo.u32 %r6, %r6, 3;",
    "xor.b32 %r6, %r6, {one};",
    "setp.lt.u32 %p2, %r6, 400; @%p2 add.u32 %r6, %r6, {two};",
    "setp.eq.u32 %p2, %r0, 3; @%p2 add.u32 %r6, %r6, {two};",
)


def body(seed: int) -> str:
    """A loop that moves %r6, which begins with coordinates, by what %r8 says; %r9 is its begin."""
    source = random.Random(seed)
    lines = [source.choice(STARTS), "mov.u32 %r9, %r6;", f"mov.u32 %r8, {source.choice(('0', '0', '%r2', '%r1'))};"]
    lines += ["mov.u32 %r7, 0;", "M:"] if source.random() < 0.3 else []
    lines += ["L:", STORE.format("%r6")]
    steps = [source.choice(FLAGS)]
    for number in range(source.choice((1, 1, 2))):
        one, two = (source.choice((16, 64, 48, 100, 512, -64, -16, -512)) for _ in range(2))
        steps.append(source.choice(MOVES).format(n=number, one=one, two=two))
    source.shuffle(steps)
    lines += steps
    if source.random() < 0.3:
        lines.append(STORE.format("%r6"))
    lines.append(COUNT.format(source.choice(("5", "7", "%r2", "%r0", "%r1"))))
    lines.append(STORE.format("%r6"))
    if "M:" in lines:
        lines.append("mov.u32 %r4, 0; add.u32 %r7, %r7, 1; setp.lt.u32 %p6, %r7, 3; @%p6 bra M;")
        lines.append(STORE.format("%r6"))
    return "\n".join(lines)


@pytest.mark.parametrize("start", share(range(0, 12, 6), 2))
def test_every_execution_is_explained(start: int) -> None:
    assert explained(body, start) > 20


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(12, 600, 6))
def test_every_execution_of_many_kernels_is_explained(start: int) -> None:
    explained(body, start)


TOGGLED = "mov.u32 %r5, 0; mad.lo.u32 %r20, %r1, 16, %r3; LOOP: ld.shared.v4.u32 {{%r30,%r31,%r32,%r33}}, [%r20]; {0}"
NEXT = " add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r2; @%p1 bra LOOP;"


@pytest.mark.parametrize(
    "move",
    [
        "setp.eq.u32 %p2, %r5, 1; selp.u32 %r7, 1024, -1024, %p2; add.u32 %r20, %r20, %r7; xor.b32 %r5, %r5, 1;",
        "xor.b32 %r5, %r5, 1; shl.b32 %r7, %r5, 10; mad.lo.u32 %r8, %r1, 16, %r3; add.u32 %r20, %r8, %r7;",
        "setp.eq.u32 %p2, %r5, 1; @%p2 add.u32 %r20, %r20, 1024; @!%p2 add.u32 %r20, %r20, -1024; xor.b32 %r5, %r5, 1;",
    ],
)
def test_a_pointer_that_goes_round_stages_keeps_its_distances(move: str) -> None:
    access = last(f"mov.u32 %r6, 0; {TOGGLED.format(move)}{NEXT}")
    assert own(access) == []
    assert [kind(leaf) for leaf in access.leaves if isinstance(leaf, CarriedLeaf)] == ["carried"]


@pytest.mark.parametrize(
    "move",
    [
        "setp.lt.u32 %p2, %r1, 5; @%p2 add.u32 %r20, %r20, 1024;",
        "mul.lo.u32 %r20, %r20, 3;",
        "ld.global.u32 %r7, [%d1]; add.u32 %r20, %r20, %r7;",
        "setp.lt.u32 %p2, %r20, 4000; @%p2 add.u32 %r20, %r20, 1024;",
    ],
)
def test_other_pointers_do_not(move: str) -> None:
    access = last(f"mov.u32 %r6, 0; {TOGGLED.format(move)}{NEXT}")
    assert own(access) != [] or not all(leaf.uniform for leaf in access.leaves if isinstance(leaf, OpaqueLeaf))


# ---- planted mistakes


def found_by_some(seeds: range) -> None:
    with pytest.raises(AssertionError):
        explained(body, seeds.start, len(seeds))


@found_at(4, 60)
def test_choices_of_lanes_taken_for_shared(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """The new register is the same for all lanes whatever chooses its next value."""
    original = uniform.Uniformity.leaf

    def leaf(self: uniform.Uniformity, variable: induction.Var, inside: frozenset[int] = uniform.ANYWHERE) -> bool:
        return variable.name.startswith("multiples of") or original(self, variable, inside)

    monkeypatch.setattr(uniform.Uniformity, "leaf", leaf)
    found_by_some(seeds)


@found_at(8, 60)
def test_coordinates_that_do_not_cancel_are_dropped(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    original = induction._Solver._without_lanes

    def without(self: induction._Solver, whole: induction.Sum, depth: int = 0) -> induction.Expr | None:
        kept = {term: count for term, count in whole.terms.items() if not self._reads_lanes(term)}
        return original(self, induction.Sum(kept, whole.number, whole.width), depth)

    monkeypatch.setattr(induction._Solver, "_without_lanes", without)
    found_by_some(seeds)


@found_at(1, 60)
def test_multiples_taken_too_large(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(induction, "power_of", lambda _value, most: most)
    found_by_some(seeds)


@found_at(0, 60)
def test_a_choice_taken_for_its_first_way(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    for module in (induction, sequences):
        monkeypatch.setattr(module, "ite", lambda _condition, then, _otherwise: then)
    found_by_some(seeds)

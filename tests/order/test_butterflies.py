"""Butterflies over a warp: where all lanes are said to store one value, the interpreter stores one.

Random chains of `shfl.bfly` and an operation on what a lane has and what it gets, over words of global memory. Some
leave a distance out, take another operand, leave lanes out, divide the warp, or have an operation that is not
commutative. All lanes of a warp store the result to one word.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from swzverify.compiled.kernel import butterflies
from swzverify.compiled.kernel.leaves import Moved
from tests.nightly import counts
from tests.order.conftest import races_in
from tests.ptx_oracle import Buffer, races
from tests.ptx_oracle.race_cases import HEAD

WHOLE, PART = (64, 1, 1), (48, 1, 1)
SEEDS = (1, 2)
"""What draws the words of two launches."""
OPERATIONS = ("add.u32", "min.u32", "max.s32", "xor.b32", "or.b32", "mul.lo.u32")


@dataclass(frozen=True)
class Chain:
    """A kernel that reduces a word of each lane, and whether it is written as it should be."""

    text: str
    block: tuple[int, int, int]
    is_right: bool


def chain(seed: int) -> Chain:
    """The chain of a seed."""
    source = random.Random(seed)
    slips = source.random() < 0.5
    kinds = ("missing", "twice", "other", "mask", "clamp", "sub", "guard", "block", "moved on")
    slip = source.choice(kinds) if slips else ""
    operation = source.choice(OPERATIONS)
    distances = [1, 2, 4, 8, 16]
    source.shuffle(distances)
    if slip in ("missing", "twice"):
        gone = source.randrange(5)
        distances[gone : gone + 1] = [] if slip == "missing" else [distances[gone - 1]]
    bad = distances.index(16) if slip == "clamp" else source.randrange(len(distances))
    lines = ["mul.wide.u32 %d2, %r1, 4;", "add.s64 %d2, %d1, %d2;", "ld.global.u32 %r20, [%d2];"]
    value, beside = "%r20", ""
    if slip == "other":
        lines.append("ld.global.u32 %r50, [%d2+512];")
        beside = "%r50"
    for at, distance in enumerate(distances):
        moved, result = f"%r{21 + 2 * at}", f"%r{22 + 2 * at}"
        is_bad = at == bad
        mask = "0x0fffffff" if is_bad and slip == "mask" else "-1"
        clamp = "0x1f" if not is_bad or slip != "clamp" else "0x101f"
        guard = "@%p4 " if is_bad and slip == "guard" else ""
        name = "sub.u32" if is_bad and slip == "sub" else operation
        own = beside if is_bad and slip == "other" else value
        if guard:
            lines += ["setp.lt.u32 %p4, %r1, 40;", f"mov.u32 {moved}, {value};"]
        lines.append(f"{guard}shfl.sync.bfly.b32 {moved}, {value}, {distance}, {clamp}, {mask};")
        if is_bad and slip == "moved on":
            lines.append(f"add.u32 {moved}, {moved}, %r1;")
        both = [own, moved]
        source.shuffle(both)
        lines.append(f"{name} {result}, {both[0]}, {both[1]};")
        value = result
        if beside:  # another word is reduced over the same distances
            next_moved, next_one = f"%r{51 + 2 * at}", f"%r{52 + 2 * at}"
            lines.append(f"shfl.sync.bfly.b32 {next_moved}, {beside}, {distance}, 31, -1;")
            lines.append(f"{operation} {next_one}, {beside}, {next_moved};")
            beside = next_one
    lines += ["shr.u32 %r40, %r1, 5;", "shl.b32 %r40, %r40, 2;", "add.u32 %r40, %r3, %r40;"]
    lines.append(f"st.shared.u32 [%r40], {value};")
    text = HEAD + "\n".join(lines) + "\nret;\n}\n"
    return Chain(text, PART if slip == "block" else WHOLE, not slip)


def judged(each: Chain) -> str:
    """What the races of a chain are said to be."""
    return str(races_in(each.text, each.block).verdict)


def held(seeds: Iterable[int]) -> Counter[str]:
    """How many chains have each verdict; no benign one has two values in a launch.

    Raises:
        AssertionError: A verdict is not what the launches show.
    """
    found = Counter[str]()
    for seed in seeds:
        drawn = chain(seed)
        said = judged(drawn)
        found[said] += 1
        if said == "race-benign":
            for number in SEEDS:
                shown = races.races_of(drawn.text, "k", drawn.block, params=[1, Buffer(4096, "u32")], seed=number)
                assert not shown.result.error, shown.result.error
                assert shown.verdict == "race-benign", seed
        assert not drawn.is_right or said == "race-benign", seed
    return found


@pytest.mark.parametrize("count", counts(24, 1500))
def test_one_value_is_one_value(count: int) -> None:
    found = held(range(count))
    assert found["race-benign"] > count // 3
    assert found["race"] + found["depends"] > count // 8


def test_floats_that_commute_are_measured() -> None:
    with (Path(__file__).parent.parent / "data" / "h100_commutes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(row["different"] == "0" and int(row["pairs"]) > 10**8 for row in rows)
    measured = {row["opcode"] for row in rows}
    assert all(butterflies._COMMUTES.fullmatch(each) for each in measured)
    kinds = {tuple(each.split(".")[:: max(1, each.count("."))]) for each in measured}
    for name, kind in product(("add", "mul", "min", "max"), ("f32", "f16x2", "bf16x2")):
        assert (name, kind) in kinds
    assert not any(butterflies._COMMUTES.fullmatch(f"{name}.f64") for name in ("add", "mul", "min", "max"))
    assert not any(butterflies._COMMUTES.fullmatch(each) for each in ("sub.f32", "min.xorsign.abs.f32", "fma.rn.f32"))


@pytest.mark.parametrize(
    ("product", "total", "verdict"),
    [
        ("mul.f32", "add.f32", False),
        ("mul.ftz.f32", "add.ftz.f32", False),
        ("mul.rn.f32", "add.f32", True),
        ("mul.f32", "add.rn.f32", True),
        ("mul.f32", "max.f32", True),
        ("ex2.approx.f32", "add.f32", True),
    ],
)
def test_products_that_may_be_fused_are_no_steps(product: str, total: str, verdict: bool) -> None:
    """`a * b + shfl(a * b)` may be one `fma` in each lane, which rounds its own product less than the other one."""
    factors = "%f1" if product.startswith("ex2") else "%f1, %f2"
    lines = [".reg .f32 %f<9>;", "cvt.rn.f32.u32 %f1, %r1;", "cvt.rn.f32.u32 %f2, %r2;"]
    lines.append(f"{product} %f3, {factors};")
    for distance in (16, 8, 4, 2, 1):
        lines += [f"shfl.sync.bfly.b32 %f4, %f3, {distance}, 31, -1;", f"{total} %f3, %f3, %f4;"]
    lines += ["shr.u32 %r40, %r1, 5;", "shl.b32 %r40, %r40, 2;", "add.u32 %r40, %r3, %r40;"]
    text = HEAD + "\n".join([*lines, "st.shared.f32 [%r40], %f3;"]) + "\nret;\n}\n"
    assert (judged(Chain(text, WHOLE, verdict)) == "race-benign") is verdict


def _any_chain(patch: pytest.MonkeyPatch) -> None:
    """Every step is the last one."""
    patch.setattr(butterflies, "_distances", lambda *_: butterflies.ALL_DISTANCES)


def _any_operand(patch: pytest.MonkeyPatch) -> None:
    """The other operand may be anything."""
    patch.setattr(Moved, "is_of", lambda _self, _value: True)


def _any_operation(patch: pytest.MonkeyPatch) -> None:
    """Every operation is commutative."""
    patch.setattr(butterflies, "_COMMUTES", butterflies.re.compile(r"(?:sub|add|mul\.lo|min|max|xor|or)\..*"))


def _any_control(patch: pytest.MonkeyPatch) -> None:
    """The warp is never divided, and all its lanes are there."""
    right = butterflies.moved

    def wrong(mode: str, value: object, step: object, _control: object, *, is_whole: bool) -> Moved | None:
        return right(mode, value, step, butterflies.Const(31, 32), is_whole=is_whole or True)  # type: ignore[arg-type]

    patch.setattr("swzverify.compiled.kernel.evaluate.moved", wrong)


@pytest.mark.parametrize("plant", [_any_chain, _any_operand, _any_operation, _any_control])
def test_planted_mistakes_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        held(range(60))

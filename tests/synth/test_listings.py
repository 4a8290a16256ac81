"""Searches over listings against brute force: every mark, every order, every exchange of numbers of
small random listings, counted by the oracle.
"""

from __future__ import annotations

import json
import random
import re
from itertools import permutations, product
from pathlib import Path

import pytest

from swzverify.apps.commands.synth_listing import SEARCHES, synthesize_listing
from swzverify.errors import SwzError
from swzverify.search.synth.code import numbers
from swzverify.search.synth.code.found import price_of
from swzverify.search.synth.code.numbers import best_numbers
from swzverify.spec import load_spec
from tests.oracle.listings import conflicts_of

ROOT = Path(__file__).parents[2]
TARGETS = ("sm_52", "sm_60", "sm_70")
_SOURCES = re.compile(r"(?<=, )(-?R\d+)(?:\.reuse)?")


def drawn(rng: random.Random, count: int, *, free: bool, loads: bool = False) -> list[str]:
    """Instructions without marks; `free` ones write registers that no other names."""
    registers = rng.sample((0, 1, 2, 4, 5, 8, 12, 16), 4)
    lines: list[str] = []
    for number in range(count):
        result = 100 + number if free else rng.choice(registers)
        names = [f"R{rng.choice(registers)}" for _ in range(3)]
        name = rng.choice(("FFMA", "FFMA", "FFMA", "IADD3", "FADD"))
        if loads and rng.random() < 0.2:
            lines.append(f"LDS R{rng.choice(registers)}, [R{rng.choice(registers)}]")
            continue
        lines.append(f"{name} R{result}, {', '.join(names[: 2 if name == 'FADD' else 3])}")
    return lines


def most(lines: list[str], target: str) -> int:
    found = conflicts_of({"target": target, "text": ";\n".join(lines) + ";\n"}, "sm_90").most
    assert found is not None
    return found


def marked(lines: list[str]) -> list[str]:
    """Every source of arithmetic instructions marked."""
    return [each if each.startswith("LDS") else _SOURCES.sub(r"\1.reuse", each) for each in lines]


def every_marking(lines: list[str]) -> list[list[str]]:
    counts = [0 if each.startswith("LDS") else len(_SOURCES.findall(each)) for each in lines]
    found: list[list[str]] = []
    for bits in product((False, True), repeat=sum(counts)):
        left = iter(bits)
        found.append(
            [
                each
                if each.startswith("LDS")
                else _SOURCES.sub(lambda source: source[1] + (".reuse" if next(left) else ""), each)  # noqa: B023
                for each in lines
            ]
        )
    return found


def searched(tmp_path: Path, lines: list[str], target: str, family: str) -> tuple[int, list[str], bool]:
    """The conflicts that the tool says, the lines that it tells, and whether it says that none is better."""
    spec = {"swzverify": 1, "listings": {"code": {"target": target, "text": ";\n".join(lines) + ";\n"}}}
    file = tmp_path / "a.swz.yaml"
    file.write_text(json.dumps(spec))
    result = synthesize_listing(str(file), None, family)
    assert result.confirmed
    told = [each.rstrip(";") for each in result.text.splitlines()]
    return result.found.price.conflicts, told, result.found.is_least


@pytest.mark.parametrize("seed", range(30))
def test_no_marks_are_better(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    target = rng.choice(TARGETS)
    lines = drawn(rng, 3, free=False, loads=seed % 3 == 0)
    conflicts, told, is_least = searched(tmp_path, lines, target, "reuse")
    assert [each.replace(".reuse", "") for each in told] == lines
    assert is_least
    assert conflicts == most(told, target) == min(most(each, target) for each in every_marking(lines))


@pytest.mark.parametrize("seed", range(30))
def test_no_order_is_better(tmp_path: Path, seed: int) -> None:
    rng = random.Random(1000 + seed)
    target = rng.choice(TARGETS)
    lines = drawn(rng, rng.randint(1, 5), free=True)
    conflicts, told, is_least = searched(tmp_path, lines, target, "order")
    assert sorted(each.replace(".reuse", "") for each in told) == sorted(lines)
    assert is_least
    orders = [marked(list(order)) for order in permutations(lines)]
    assert conflicts == most(told, target) == min(most(each, target) for each in orders)


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_is_below_every_order(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not every order is counted, the answer may be worse, and the bound must not be too high."""
    monkeypatch.setattr("swzverify.search.synth.code.order.MOST_EXACT", 0)
    rng = random.Random(2000 + seed)
    target = rng.choice(TARGETS)
    lines = drawn(rng, rng.randint(1, 5), free=True)
    conflicts, told, is_least = searched(tmp_path, lines, target, "order")
    best = min(most(marked(list(order)), target) for order in permutations(lines))
    assert conflicts == most(told, target) >= best
    assert not is_least or conflicts == best


@pytest.mark.parametrize("seed", range(30))
def test_no_numbers_are_better(tmp_path: Path, seed: int) -> None:
    rng = random.Random(3000 + seed)
    target = rng.choice(TARGETS)
    lines = drawn(rng, 4, free=False, loads=seed % 3 == 0)
    conflicts, told, is_least = searched(tmp_path, lines, target, "registers")
    assert is_least
    code = "\n".join(each for each in lines if not each.startswith("LDS"))
    fixed = {
        int(number) + more
        for each in lines
        if each.startswith("LDS")
        for number in re.findall(r"R(\d+)", each)
        for more in range(4)
    }
    used = sorted({int(number) for number in re.findall(r"R(\d+)", code)} - fixed)
    best: int | None = None
    for numbering in permutations(used):
        to = dict(zip(used, numbering, strict=True))
        renamed = [
            each
            if each.startswith("LDS")
            else re.sub(r"R(\d+)", lambda found: f"R{to.get(int(found[1]), int(found[1]))}", each)  # noqa: B023
            for each in lines
        ]
        cost = most(marked(renamed), target)
        best = cost if best is None else min(best, cost)
    assert conflicts == most(told, target) == best


def test_a_search_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(numbers, "MOST_NODES", 1)
    lines = ["FFMA R0, R4, R8, R12", "FFMA R0, R4, R8, R1", "FFMA R1, R4, R0, R8"]
    _, _, is_least = searched(tmp_path, lines, "sm_52", "registers")
    assert not is_least


def test_what_is_said_of_the_published_order() -> None:
    """docs/registers.md: no conflict, which is the least, and three reads more than the least."""
    (case,) = load_spec(ROOT / "specs" / "registers" / "ffma_64_order.swz.yaml").cases
    published, rows = case.listings["published"], case.listings["row_by_row"]
    assert (published.most, published.least, rows.most, rows.least) == (0, 0, 8, 8)
    assert price_of(published).bank_reads == 132
    unmarked = case.listings["published_unmarked"]
    assert SEARCHES["reuse"](unmarked).price == price_of(published)
    assert SEARCHES["reuse"](rows).price == price_of(rows)
    ordered = SEARCHES["order"](rows)
    assert ordered.price.conflicts == 0
    assert ordered.how.endswith("no order reads fewer than 129 registers from the banks")
    assert best_numbers(rows).price.conflicts == 0


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["FFMA R0, R4, R5, R0", "FFMA R1, R0, R5, R1"], "depend on each other by R0"),
        (["FFMA R0, R4, R5, R0", "FFMA R0, R6, R5, R0"], "depend on each other by R0"),
        (["@P0 FFMA R0, R4, R5, R0"], "cannot change its place"),
        (["LDS R0, [R4]", "FADD R1, R2, R3"], "cannot change its place"),
        (["FFMA R0, R4, 1.5, R0"], "cannot change its place"),
        (["HMMA.1688.F32 R0, R4, R5, R0"], "how HMMA.1688.F32 reads its registers is not known"),
    ],
)
def test_what_cannot_be_ordered(tmp_path: Path, lines: list[str], says: str) -> None:
    with pytest.raises(SwzError, match=says) as caught:
        searched(tmp_path, lines, "sm_52", "order")
    assert caught.value.code == "SWZ568"

"""`delivers: [A, B]`: an order of K that A and B share, against the product itself.

The tests multiply. They load random numbers as the kernel does, add up the products of the elements
that meet in `mma.sync`, and compare with the product of the tiles: what is proved must be equal, and what
is refuted must not.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from swzverify.apps.diff.compare import differences
from swzverify.certificates.make import describe
from swzverify.claims.k_order import KOrder
from swzverify.claims.shared_k import SharedK
from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.evaluate import evaluate
from swzverify.search.cures import find_operand_cures
from swzverify.spec import Spec, SpecError
from swzverify.testing.cases import reads_at
from tests.claims.test_fragment_claims import ELEMENTS, MANUAL, Warp, c_value, claim_of, judged
from tests.nightly import share

pytestmark = pytest.mark.usefixtures("nothing_remembered")

Patch = pytest.MonkeyPatch
SHAPES = {"f16": ("m16n8k16", 16), "tf32": ("m16n8k8", 8), "s8": ("m16n8k32", 32)}
ROWS, BLOCKS = {"A": 32, "B": 16}, 2


def load(kind: str, role: str, style: str) -> dict[str, Any]:
    """An access that loads blocks of two steps of K, each lane some elements side by side.

    `one` loads a register at a time, in the stated order; `two` and `four` load two or four registers at
    once, so that the elements of a lane lie side by side; `exchanged` gives them to other registers, and in
    `twice` two lanes read the same elements.
    """
    size = ELEMENTS[kind][1]
    step, per, halves = SHAPES[kind][1], 4 // size, 2 if role == "A" else 1
    rows = f"i*{8 * halves} + h*8 + lane/4"
    fragment: dict[str, Any] = {"mma": f"{SHAPES[kind][0]}.{kind}", "role": role}
    loops: dict[str, Any] = {"i": ROWS[role] // (8 * halves), "h": halves, "b": BLOCKS, "s": 2, "q": 2}
    if style == "one":
        coord, register = f"(b*2 + s)*{step} + (q*4 + lane%4)*{per}", f"q*{halves} + h"
        instruction, k = "ld.shared.b32", f"(b*2 + s)*{step}"
    elif style == "two":
        coord, register = f"(b*2 + s)*{step} + lane%4*{2 * per}", f"register*{halves} + h"
        instruction, k = "ld.shared.v2.b32", f"(b*2 + s)*{step}"
        del loops["q"]
    else:
        coord, register = f"b*{2 * step} + lane%4*{4 * per}", f"register%2*{halves} + h"
        instruction, k = "ld.shared.v4.b32", f"b*{2 * step} + register/2*{step}"
        if style == "exchanged":
            register, k = f"register/2*{halves} + h", f"b*{2 * step} + register%2*{step}"
        if style == "twice":
            coord = f"b*{2 * step} + lane%4/2*{4 * per}"
        del loops["q"], loops["s"]
    return {
        "tile": f"T{role}",
        "instruction": instruction,
        "threads": 32,
        "for": loops,
        "coord": [rows, coord],
        "fragment": {**fragment, "at": [f"i*{8 * halves}", k], "register": register},
    }


def spec_of(kind: str, styles: tuple[str, str]) -> dict[str, Any]:
    width = BLOCKS * 2 * SHAPES[kind][1]
    return {
        "swzverify": 1,
        "target": "sm_80",
        "tiles": {
            f"T{role}": {"element": ELEMENTS[kind][0], "layout": f"({ROWS[role]},{width}):({width + 16},1)"}
            for role in "AB"
        },
        "accesses": {f"load_{role}": load(kind, role, style) for role, style in zip("AB", styles, strict=True)},
        "claims": [{"delivers": ["load_A", "load_B"]}],
    }


def held(entry: dict[str, Any]) -> dict[tuple[int, int], set[tuple[int, int]]]:
    """For each (row, k) that `mma.sync` takes: which element of the tile the register holds."""
    shape, kind = entry["fragment"]["mma"].split(".")
    size = ELEMENTS[kind][1]
    _, _, place = MANUAL[shape if size == 2 else f"{shape} {'tf32' if size == 4 else 's8'}", entry["fragment"]["role"]]
    found: dict[tuple[int, int], set[tuple[int, int]]] = {}
    loops = entry["for"]
    for values in product(*map(range, loops.values())):
        env = {"warp": 0, **dict(zip(loops, values, strict=True))}
        lanes: Any = [tuple(c_value(each, env | {"lane": lane}) for each in entry["coord"]) for lane in range(32)]
        registers = Warp(entry["instruction"], lanes, size, lambda row, column: (row, column)).registers
        for (lane, register, part), element in registers.items():
            inner = env | {"register": register}
            into = c_value(entry["fragment"]["register"], inner)
            r, k = place(lane >> 2, lane % 4, into * (4 // size) + part)
            row, column = (c_value(each, inner) for each in entry["fragment"]["at"])
            found.setdefault((row + r, column + k), set()).add(element)
    return found


def multiplies(spec: dict[str, Any]) -> bool:
    """Whether the loads give the product of the tiles, for random numbers."""
    rng = random.Random(1)
    width = int(spec["tiles"]["TA"]["layout"].split(",")[1].split(")")[0])
    tiles = {
        role: np.asarray([[rng.randrange(1 << 20) for _ in range(width)] for _ in range(ROWS[role])]) for role in "AB"
    }
    loaded = {role: np.zeros_like(tile) for role, tile in tiles.items()}
    for role in "AB":
        for (row, k), elements in held(spec["accesses"][f"load_{role}"]).items():
            (element,) = elements
            loaded[role][row, k] = tiles[role][element]
    return bool(np.array_equal(loaded["A"] @ loaded["B"].T, tiles["A"] @ tiles["B"].T))


STYLES = ["one", "two", "four", "exchanged", "twice"]
CASES = [("f16", styles) for styles in product(STYLES, STYLES)]
CASES += [(kind, (a, b)) for kind in ("tf32", "s8") for a, b in product(STYLES, STYLES) if a in (b, "four")]


@pytest.mark.parametrize("case", share(CASES, 5), ids=["-".join((kind, *styles)) for kind, styles in CASES])
def test_what_is_proved_is_the_product_of_the_tiles(case: tuple[str, tuple[str, str]]) -> None:
    spec = spec_of(*case)
    assert (judged(spec).outcome.value == "proved") is multiplies(spec)
    assert multiplies(spec) is (case[1][0] == case[1][1] != "twice")


def second_in_its_own_order(patch: Patch) -> None:
    sound = SharedK.sides.func

    def sides(self: SharedK) -> Any:
        return sound(self)[0], sound(SharedK(self.second, self.first))[0]

    patch.setattr(SharedK, "sides", property(sides))


def orders_need_not_be_one_to_one(patch: Patch) -> None:
    patch.setattr(SharedK, "is_one_to_one", True)


@pytest.mark.parametrize("plant", share([second_in_its_own_order, orders_need_not_be_one_to_one], 2))
def test_a_planted_mistake_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    plant(monkeypatch)
    specs = (spec_of("f16", styles) for styles in product(STYLES, STYLES))
    assert any(judged(spec).outcome.value == "proved" and not multiplies(spec) for spec in specs)


def test_an_expression_of_an_order_is_its_table() -> None:
    rng = random.Random(4)
    for size in (1, 2, 3, 8, 12, 16, 40):
        table = rng.sample(range(size), size)
        for each in (table, sorted(table), [1 % size] * size):
            found = KOrder(np.asarray(each)).lowered(ints.named("k", size))
            assert [evaluate(found.bits, {"k": k}) for k in range(size)] == each
            assert found.high < size


def test_the_table_names_the_operand_and_its_order() -> None:
    found = judged(spec_of("f16", ("four", "one")))
    assert found.counterexample is not None
    assert found.reason.startswith("load_B in the order of K that load_A has: lane 0, register 0, part 0 should hold")
    assert "K in the order 0, 1, 8, 9, 16, 17, 24, 25, 2, 3" in found.scope
    assert "K in the order" not in judged(spec_of("f16", ("one", "one"))).scope
    assert judged(spec_of("f16", ("twice", "twice"))).reason.startswith("the order in which the elements along K come")


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("SWZ105", lambda spec: spec.update(claims=[{"delivers": ["load_A", "load_A"]}])),
        ("SWZ105", lambda spec: spec["accesses"]["load_B"]["for"].update(b=1)),
        ("SWZ105", lambda spec: spec["tiles"]["TA"].update(layout="(32,(8,8)):(8,(1,0))")),
        ("SWZ107", lambda spec: spec["accesses"]["load_A"]["for"].update(z=1 << 14)),
    ],
)
def test_what_has_no_order_of_k_is_refused(code: str, change: Callable[[dict[str, Any]], None]) -> None:
    spec = spec_of("f16", ("four", "four"))
    change(spec)
    with pytest.raises(SpecError, match=code):
        claim_of(spec)


def test_loads_that_never_run_say_nothing() -> None:
    spec = spec_of("f16", ("four", "four"))
    spec["accesses"]["load_B"]["for"]["b"] = 0
    assert judged(spec).outcome.value == "vacuous"


def test_what_the_rest_of_the_house_says() -> None:
    spec = spec_of("f16", ("four", "one"))
    claim = claim_of(spec)
    with pytest.raises(SwzError, match="SWZ607"):
        describe(claim)
    assert find_operand_cures(claim) == ()
    found = judged(spec).counterexample
    assert found is not None
    assert claim.broken(*reads_at(claim, found.binding))
    good = claim_of(spec_of("f16", ("four", "four")))
    assert good.broken(*reads_at(good, {"i": 0, "h": 0, "b": 1, "warp": 0})) == []
    both = [Spec.from_text(json.dumps(each)).claims[0] for each in (spec, spec_of("f16", ("four", "two")))]
    assert {each.what for each in differences(*both)} >= {"coordinates of load_B"}

"""The comparison itself: misreadings that all engines share are found, made small, and recorded.

Engines that read one front end agree on its mistakes; the oracle alone can see these. Each plant
below is such a mistake, in every reading of the tool at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from swzverify.claims import equivalent
from swzverify.engines import gf2, worst
from swzverify.engines.obligations import Answer, Cost, Finding, WorstCost
from swzverify.engines.smt import cost as smt_cost
from swzverify.ir import c_eval, c_eval_many, c_lower, c_parse
from swzverify.ir import integers as ints
from swzverify.ir.c_ast import BinaryOp, CExpr, UnaryOp
from swzverify.ir.c_formula import CFormula
from swzverify.ir.expr import TRUE, Expr, conjunction
from swzverify.ir.integers import Integer
from swzverify.layout import tma
from swzverify.prover import judgement as prover
from swzverify.spec import build, build_access, build_lets, build_tile, lets
from swzverify.spec.access_models import AccessPart
from swzverify.spec.values import Values
from swzverify.subjects import (
    Access,
    ListedLoop,
    Loop,
    Tile,
    access_names,
    iterations,
    listed_loop,
    lowered_access,
    plain_access,
)
from swzverify.subjects import access as access_module
from swzverify.subjects.loop import AXIS_WORDS
from tests.differential import __main__ as runner
from tests.differential import chunk as chunks
from tests.differential.comparison import Comparison, compare, drawn, first_disagreement
from tests.differential.shrink import smallest
from tests.oracle.yaml_values import Spec

pytestmark = pytest.mark.usefixtures("nothing_remembered")

Patch = pytest.MonkeyPatch
SEEDS = range(0, 600)


def binds_tighter(patch: Patch) -> None:
    """`a & b == c` read as `(a & b) == c`."""
    sound = c_parse.precedence
    swap = {BinaryOp.BIT_AND: BinaryOp.EQUAL, BinaryOp.EQUAL: BinaryOp.BIT_AND}
    patch.setattr(c_parse, "precedence", lambda op: sound(swap.get(op, op)))


def amounts_wrap(patch: Patch) -> None:
    """Shift amounts taken modulo 32, as hardware does, in place of an error."""
    patch.setattr(c_lower.Lowering, "_amount", lambda _, value, *__: ints.bit_and(value, ints.integer(31)))
    for op in (BinaryOp.SHIFT_LEFT, BinaryOp.SHIFT_RIGHT):
        for module in (c_eval, c_eval_many):
            sound = module._BINARY[op]
            patch.setitem(module._BINARY, op, lambda a, b, sound=sound: sound(a, b & 31))
    patch.setattr(c_eval_many._Many, "check_right", lambda *_: None)
    patch.setattr(c_eval.Scalar, "check_right", lambda *_: None)


def division_by_zero_is_zero(patch: Patch) -> None:
    """`a / 0` and `a % 0` are 0: points are lost, or gained, without a word."""

    def divisor(_: object, value: Integer, node: CExpr, text: str) -> Integer:
        del node, text
        return ints.maximum(value, ints.integer(1))

    patch.setattr(c_lower.Lowering, "_divisor", divisor)
    for op in (BinaryOp.DIVIDE, BinaryOp.REMAINDER):
        for module, at_least_one in ((c_eval, lambda b: max(b, 1)), (c_eval_many, lambda b: np.maximum(b, 1))):
            sound = module._BINARY[op]
            patch.setitem(module._BINARY, op, lambda a, b, f=sound, g=at_least_one: f(a, g(b)))
    patch.setattr(c_eval_many._Many, "check_right", lambda *_: None)
    patch.setattr(c_eval.Scalar, "check_right", lambda *_: None)


def not_is_complement(patch: Patch) -> None:
    """`!x` read as `~x`."""
    for module in (c_lower, c_eval, c_eval_many):
        patch.setitem(module._UNARY, UnaryOp.NOT, module._UNARY[UnaryOp.INVERT])


def predicate_forgotten(patch: Patch) -> None:
    """Every thread takes part."""
    sound = build_access.build_access

    def wrong(name: str, part: AccessPart, *rest: object) -> Access:
        return sound(name, part.model_copy(update={"if_": None}), *rest)  # type: ignore[arg-type]  # as they came

    patch.setattr(build, "build_access", wrong)


def assumption_forgotten(patch: Patch) -> None:
    sound = build_access.build_access

    def wrong(name: str, part: AccessPart, *rest: object) -> Access:
        return sound(name, part.model_copy(update={"assume": []}), *rest)  # type: ignore[arg-type]  # as they came

    patch.setattr(build, "build_access", wrong)


def loop_too_short(patch: Patch) -> None:
    """The last iteration of a loop whose range is no multiple of its step is lost."""
    patch.setattr(Loop, "count", property(lambda self: max(0, (self.stop - self.start) // self.step)))


def stages_adjoin(patch: Patch) -> None:
    """Stages one element further apart than they are."""
    sound = Tile.__init__

    def wrong(self: Tile, *arguments: object, **named: object) -> None:
        sound(self, *arguments, **named)  # type: ignore[arg-type]  # as they came
        object.__setattr__(self, "pitch_bytes", self.pitch_bytes + 16)

    patch.setattr(Tile, "__init__", wrong)


def vacuous_is_proved(patch: Patch) -> None:
    patch.setattr(prover, "_possible", lambda *_: Finding("z3", Answer.HOLDS))


def one_name_is_one_subject(patch: Patch) -> None:
    """What a list states of an access leaves the tile of that name out of `standard`."""
    patch.setattr(build, "_heading", lambda claim: (claim.kind, claim.subject))


def both_end_with_the_first(patch: Patch) -> None:
    """Two accesses are compared in the iterations that both have."""

    def cut(first: Access, other: Access) -> tuple[Access, Access]:
        if first.loop_limits == other.loop_limits or [x.name for x in first.loops] != [x.name for x in other.loops]:
            return first, other
        limits = [min(pair) for pair in zip(first.loop_limits, other.loop_limits, strict=True)]
        loops = tuple(
            replace(x, stop=x.start + x.step * n) if isinstance(x, Loop) else x
            for x, n in zip(first.loops, limits, strict=True)
        )
        return replace(first, loops=loops), replace(other, loops=loops)

    patch.setattr(equivalent, "over_common_loops", cut)


def loops_keep_their_order(patch: Patch) -> None:
    """Loops of two accesses go together as they come, whatever their names."""
    patch.setattr(equivalent, "over_common_loops", lambda first, other: (first, other))


def the_last_thread_speaks_for_all(patch: Patch) -> None:
    """An iteration exists where the last thread stays in range, in every reading."""

    def stay(access: Access, loops: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.repeat(stays(access, loops)[:, -1:], access.threads, axis=1)

    def exists_at(access: Access, point: Mapping[str, int]) -> bool:
        values = {x.name: np.full((1, 1), x.value(point.get(x.name, 0))) for x in access.loops}
        return bool(stay(access, values).all()) if access.is_unbounded else exists(access, point)

    def condition(access: Access, limits: Sequence[int], room: Sequence[int]) -> Expr:
        # a block of one thread, which is the last one
        names = iterations.names
        env = names.constants(access) | names.loops(access, limits, room) | names.one_thread(access, access.threads - 1)
        found, _ = iterations._values(access, env, limits, access.threads - 1)
        return conjunction(iterations._in_range(value) for value in found)

    stays, exists = plain_access._stay, plain_access.exists_at
    patch.setattr(plain_access, "_stay", stay)
    patch.setattr(plain_access, "exists_at", exists_at)
    patch.setattr(access_module, "exists_at", exists_at)
    patch.setattr(iterations, "_safe_limit", lambda *_: 0)
    patch.setattr(iterations, "existence", condition)
    patch.setattr(lowered_access, "existence", condition)


def nothing_overflows(patch: Patch) -> None:
    """Every value of an unbounded loop is an iteration, wherever C's range ends."""
    patch.setattr(iterations, "_end", lambda *_: None)
    patch.setattr(iterations, "existence", lambda *_: TRUE)
    patch.setattr(lowered_access, "existence", lambda *_: TRUE)
    patch.setattr(plain_access, "exist", lambda *_: np.ones(1, dtype=np.bool_))
    patch.setattr(access_module, "exists_at", lambda *_: True)


def one_worst_case(patch: Patch) -> None:
    """The warp with the most conflicts stands for the one with the most wavefronts."""
    sound = worst.judged

    def wrong(engine: str, cost: Cost, found: WorstCost) -> Finding:
        return sound(engine, cost, WorstCost.of_one(found.most_conflicts))

    for module in (worst, gf2, smt_cost):
        patch.setattr(module, "judged", wrong)


def an_axis_that_is_not_said_is_0(patch: Patch) -> None:
    """`threadIdx.y` under `threads: 32`."""
    sound = access_names.threads

    def wrong(access: Access) -> dict[str, Integer]:
        unsaid = {f"{word}{axis}": ints.integer(int(word == "blockDim.")) for word in AXIS_WORDS for axis in "yz"}
        return unsaid | sound(access)

    patch.setattr(Access, "_check_names", lambda _: None)
    patch.setattr(access_names, "threads", wrong)


def any_box_is_loaded(patch: Patch) -> None:
    """TMA tiles of any extents at any base."""
    patch.setattr(build_tile, "_check_tma_base", lambda *_: None)
    patch.setattr(tma, "MAX_BOX_EXTENT", 1 << 30)


def every_target_has_tma(patch: Patch) -> None:
    patch.setattr(build_tile, "_check_tma_target", lambda *_: None)


def lets_without_brackets(patch: Patch) -> None:
    """A let's text put in place of its name as a macro's: `row*2` is `a + b*2`."""

    def wrong(formula: CFormula, known: Mapping[str, lets.Let]) -> lets.Written:
        text = re.sub(r"[A-Za-z_][A-Za-z0-9_.]*", lambda name: bare(name.group(), known), formula.text)
        return lets.Written(text, formula.text, written(formula, known).uses)

    def bare(name: str, known: Mapping[str, lets.Let]) -> str:
        return known[name].written.text if name in known else name

    written = lets.write_out
    patch.setattr(lets, "write_out", wrong)
    patch.setattr(build_lets, "write_out", wrong)


def the_first_access_names_for_all(patch: Patch) -> None:
    """A let's name stands for the same text in every access of a spec."""
    sound = build_lets.build_lets
    last: list[object] = []
    kept: dict[str, lets.Let] = {}

    def wrong(entries: Mapping[str, int | str], values: Values, *rest: object) -> lets.Lets:
        found = sound(entries, values, *rest)  # type: ignore[arg-type]  # as they came
        if not last or last[0] is not rest[-1]:
            last[:] = rest[-1:]
            kept.clear()
        for name, let in found.known.items():
            kept.setdefault(name, let)
        return lets.Lets({name: kept[name] for name in found.known}, found.broken)

    patch.setattr(build_access, "build_lets", wrong)


def lets_at_the_top_see_those_of_accesses(patch: Patch) -> None:
    """A let at the top takes whatever its names mean in an access."""
    sound = lets.Lets.formula

    def wrong(self: lets.Lets, formula: CFormula, *rest: object) -> CFormula:
        while formula.names & set(self.known):
            formula = sound(self, formula, *rest)  # type: ignore[arg-type]  # as they came
        return formula

    patch.setattr(lets.Lets, "formula", wrong)


def circles_are_cut(patch: Patch) -> None:
    """A let that stands for itself is left as a name, which means 0."""
    patch.setattr(build_lets, "circles", lambda _: ())


def the_last_listed_value_is_lost(patch: Patch) -> None:
    """A listed loop runs one time less, in every reading."""
    sound = listed_loop.listed
    patch.setattr(build_access, "listed", lambda name, values: sound(name, list(values)[:-1] or values))


def a_multiplied_loop_reaches_its_stop(patch: Patch) -> None:
    """`i <= stop` for `i < stop`."""
    sound = listed_loop.geometric
    patch.setattr(build_access, "geometric", lambda name, start, stop, times: sound(name, start, stop + 1, times))


def values_are_counted_only(patch: Patch) -> None:
    """Two listed loops of one length count as the same; iterations go together as they come."""
    patch.setattr(ListedLoop, "key", property(lambda self: ("listed", self.count)))


def multiplied_loops_add(patch: Patch) -> None:
    """`i += times` for `i *= times`."""
    patch.setattr(build_access, "geometric", Loop)


NEW_PLANTS: dict[Callable[[Patch], None], int] = {
    one_name_is_one_subject: 4,
    both_end_with_the_first: 26,
    loops_keep_their_order: 26,
    the_last_thread_speaks_for_all: 304,
    nothing_overflows: 23,
    one_worst_case: 156,
    an_axis_that_is_not_said_is_0: 562,
    any_box_is_loaded: 83,
    every_target_has_tma: 95,
    lets_without_brackets: 13,
    the_first_access_names_for_all: 22,
    lets_at_the_top_see_those_of_accesses: 238,
    circles_are_cut: 19,
    the_last_listed_value_is_lost: 3,
    a_multiplied_loop_reaches_its_stop: 112,
    values_are_counted_only: 573,
    multiplied_loops_add: 86,
}
"""Mistakes that specs with unbounded loops, equal names, partial blocks and boxes at their limits
show.

With each the seed that is tried first, which showed it when this was written.
"""
PLANTS: list[Callable[[Patch], None]] = [
    binds_tighter,
    amounts_wrap,
    division_by_zero_is_zero,
    not_is_complement,
    predicate_forgotten,
    assumption_forgotten,
    loop_too_short,
    stages_adjoin,
    vacuous_is_proved,
]


FOUND_AT: dict[Callable[[Patch], None], int] = {
    binds_tighter: 186,
    amounts_wrap: 31,
    assumption_forgotten: 15,
    stages_adjoin: 133,
    vacuous_is_proved: 27,
}
"""The seeds that find what few specs find; they are tried first."""


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.__name__ for plant in PLANTS])
def test_a_planted_misreading_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    plant(monkeypatch)
    assert first_disagreement([FOUND_AT.get(plant, SEEDS[0]), *SEEDS]) is not None


@pytest.mark.parametrize(("plant", "first"), NEW_PLANTS.items(), ids=[plant.__name__ for plant in NEW_PLANTS])
def test_a_planted_misreading_is_found_by_the_new_themes(
    monkeypatch: Patch, plant: Callable[[Patch], None], first: int
) -> None:
    plant(monkeypatch)
    assert first_disagreement([first, *SEEDS], "new") is not None


def test_what_is_found_is_made_small(monkeypatch: Patch) -> None:
    """Only what the misreading needs is left: one condition, with a shift whose amount leaves
    0..31.
    """
    amounts_wrap(monkeypatch)
    whole: Spec = {
        "swzverify": 1,
        "target": "sm_90",
        "tiles": {"T": {"element": "f32", "layout": "(32,4):(4,1)"}, "U": {"element": "f16", "layout": "8:1"}},
        "accesses": {
            "a": {
                "tile": "T",
                "instruction": "ld.shared.b32",
                "threads": 32,
                "coord": ["lane % 32", "0"],
                "if": "tid >= 0 && min((1 << tid + 9) - lane * 3, 77) > 0",
            }
        },
        "claims": [{"bijective": "U"}, {"aligned": "a"}, {"conflict_free": "a"}],
    }
    outcome = compare(whole, 1)
    assert [each.claim for each in outcome.disagreements] == [""]
    small = smallest(whole, outcome.disagreements[0], 1_000_000)
    assert compare(small, 1).disagreements
    assert set(small) <= {"swzverify", "target", "accesses", "tiles"}
    accesses = small["accesses"]
    assert isinstance(accesses, dict)
    access = accesses["a"]
    assert isinstance(access, dict)
    assert access["if"] == "1 << tid + 9"


def test_the_runner_records_and_goes_on(monkeypatch: Patch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "record.json"
    monkeypatch.setattr(runner, "CHUNK_SPECS", 4)
    monkeypatch.setattr(chunks, "smallest", lambda spec, *_: spec)

    def command(*more: str) -> int:
        monkeypatch.setattr("sys.argv", ["differential", "--record", str(record), "--rlimit", "2000000", *more])
        return runner.main()

    assert command("--seeds", "100-108") == 0
    first = json.loads(record.read_text())
    assert (first["specs"], first["chunks"], first["disagreements"]) == (8, [100, 104], [])
    assert first["claims"] == sum(sum(counter.values()) for counter in first["verdicts"].values())
    # The same command goes on where the record ends; what is there is not drawn again.
    predicate_forgotten(monkeypatch)
    assert command("--seeds", "100-140") == 1
    second = json.loads(record.read_text())
    assert (second["specs"], second["chunks"]) == (40, list(range(100, 140, 4)))
    assert {each["seed"] for each in second["disagreements"]} <= set(range(108, 140))
    assert second["small"]
    assert "specs/s" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="another run"):
        command("--seeds", "200-208")


def test_a_break_and_a_hang_are_findings(monkeypatch: Patch) -> None:
    def breaks(seed: int, _: int, **__: bool) -> Comparison:
        if seed == 7:
            raise ZeroDivisionError("on purpose")
        while seed == 8:
            pass
        return Comparison(specs=1)

    monkeypatch.setattr(chunks, "compare_seed", breaks)
    monkeypatch.setattr(chunks, "SPEC_LIMIT_S", 1)
    monkeypatch.setattr(chunks, "smallest", lambda spec, *_: spec)
    chunk = chunks.run_chunk(6, 10, 1)
    assert chunk.comparison.specs == 3
    assert chunk.unfinished == (8,)
    [found] = chunk.comparison.disagreements
    assert found.seed == 7
    assert "ZeroDivisionError: on purpose" in found.problem
    assert chunk.small == (drawn(7),)

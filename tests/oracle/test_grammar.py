"""That random specs reach the whole grammar: every operator in every position, and every verdict of
every claim.
"""

from __future__ import annotations

import inspect
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import Any, get_args

import pytest

from swzverify.claims import KINDS
from swzverify.spec import access_models, claim_models, models, phase_models, place_models, tile_models
from swzverify.spec.fields import Count, Expression, Part

from . import c_expr
from .brute_force import OracleAmbiguousError, OracleError, judge
from .c_expr import Expr, Op
from .grammar import (
    BINARY,
    COMPILED_POSITIONS,
    GLOBAL_POSITIONS,
    LANE_POSITIONS,
    LISTING_POSITIONS,
    OFFSET_POSITIONS,
    OPERAND_POSITIONS,
    OPERATORS,
    PHASE_POSITIONS,
    POSITIONS,
    SOURCE_POSITIONS,
    VARIABLE_POSITIONS,
    WALK_POSITIONS,
    WEIGHT_POSITIONS,
    expressions,
    operators,
)
from .random_parts import seeded
from .random_specs import lane_spec, offset_spec, random_spec, walk_spec

SPECS = 3_000
LEAST_CASES = 20
LEAST_NESTED = 2
JUDGED_SPECS = 750
LEAST_SHARE = 0.05

# Every key of the format that takes an expression, as "model.field", and the positions that stand
# for it.
FIELDS: dict[str, tuple[str, ...]] = {
    "MemoryPart.bytes": ("memory.bytes",),
    "MemoryPart.align": ("memory.align",),
    "MemoryPart.base": ("memory.base",),
    "AlignedBasePart.align": (
        "tile.base.align",
        "access.base.align",
        "map.base.align",
        "source.base.align",
        "operand.base.align",
    ),
    "MemoryBasePart.offset": ("tile.base.offset", "access.base.offset", "map.base.offset", "operand.base.offset"),
    "DenseLayoutPart.shape": ("layout.shape",),
    "DenseLayoutPart.pad": ("layout.pad",),
    "SwizzlePart.bits": ("swizzle.bits",),
    "SwizzlePart.base": ("swizzle.base",),
    "SwizzlePart.shift": ("swizzle.shift",),
    "TmaPart.box": ("tma.box",),
    "StagesPart.count": ("tile.stages.count",),
    "StagesPart.pitch": ("tile.stages.pitch",),
    "TilePart.bits": ("tile.bits",),
    "TilePart.base": ("tile.base",),
    "TilePart.shape": ("tile.shape",),
    "TilePart.offset": ("tile.offset",),
    "TilePart.address": ("tile.address",),
    "TilePart.stages": ("tile.stages",),
    "TilePart.bytes": ("tile.bytes",),
    "LoopPart.start": ("loop.start",),
    "LoopPart.stop": ("loop.stop",),
    "LoopPart.step": ("loop.step",),
    "LoopPart.times": ("loop.times",),
    "AccessPart.threads": ("threads",),
    "AccessPart.block": ("block",),
    "AccessPart.for_": ("loop.count", "loop.value"),
    "AccessPart.lanes": ("lane.count",),
    "LaneRangePart.start": ("lane.start",),
    "LaneRangePart.stop": ("lane.stop",),
    "LaneRangePart.step": ("lane.step",),
    "LaneBitsPart.bits": ("lane.bits",),
    "AccessPart.coord": ("coord",),
    "AccessPart.let": ("let",),
    "SpecPart.let": ("let",),
    "MapPart.let": ("let",),
    "AccessPart.stage": ("stage",),
    "AccessPart.address": ("address",),
    **{
        f"{part}.{key}": (f"compiled.{key}",)
        for part in ("CodePart", "CompiledPart", "CompiledOperandPart")
        for key in ("line", "source", "parameters")
    },
    "CompiledPart.loops": ("compiled.loops",),
    "PhasePart.for_": ("phase.count",),
    "RunPart.at": ("phase.at",),
    "WaitPart.wait_group": ("phase.wait_group",),
    "ReadsWhatWasWrittenArgument.lag": ("reads_what_was_written.lag",),
    "AccessPart.source": ("source",),
    "SourcePart.address": ("source.address",),
    "SourcePart.base": ("source.base",),
    "WalkPart.start": ("walk.start",),
    "WalkPart.step": ("walk.step",),
    "WalkPart.xor": ("walk.xor",),
    "AccessPart.base": ("access.base",),
    "AccessPart.bytes": ("access.bytes",),
    "AccessPart.if_": ("if",),
    "AccessPart.assume": ("assume",),
    "AccessPart.weight": ("access.weight",),
    "OperandPart.for_": ("loop.count", "loop.value"),
    "OperandPart.threads": ("threads",),
    "OperandPart.block": ("block",),
    "OperandPart.base": ("operand.base",),
    "DescriptorPart.start": ("operand.start",),
    "DescriptorPart.lbo": ("operand.lbo",),
    "DescriptorPart.sbo": ("operand.sbo",),
    "DescriptorPart.base_offset": ("operand.base_offset",),
    "DescriptorPart.base": ("operand.base",),
    "ReadsPart.at": ("operand.at",),
    "ReadsPart.stage": ("operand.stage",),
    "MapPart.over": ("map.over",),
    "MapPart.value": ("map.value",),
    "MapPart.onto": ("map.onto",),
    "MapPart.base": ("map.base",),
    "ContiguousArgument.elements": ("contiguous.elements",),
    "ContiguousArgument.mode": ("contiguous.mode",),
    "WavefrontsArgument.at_most": ("wavefronts.at_most",),
    "WavefrontsArgument.exactly": ("wavefronts.exactly",),
    "CoalescedArgument.at_most": ("coalesced.at_most",),
    "CoversArgument.times": ("covers.times",),
    "RegisterConflictsArgument.at_most": ("register_conflicts.at_most",),
}
NOTATION = {"notation.shape", "notation.stride"}
"""Inside the text of a layout, which the models do not take apart."""

# What a kind can come out as: only what has conditions can be vacuous. Nothing is open to one who
# can count it all out.
VERDICTS: dict[str, set[str]] = {
    "injective": {"proved", "refuted"},
    "bijective": {"proved", "refuted"},
    "contiguous": {"proved", "refuted", "vacuous"},
    "aligned": {"proved", "refuted", "vacuous"},
    "in_bounds": {"proved", "refuted", "vacuous"},
    "conflict_free": {"proved", "refuted", "vacuous"},
    "wavefronts": {"proved", "refuted", "vacuous"},
    "covers": {"proved", "refuted", "vacuous"},
    "equivalent": {"proved", "refuted", "vacuous"},
    "disjoint": {"proved", "refuted"},
    "permutation": {"proved", "refuted"},
}


def takes_expression(annotation: Any, metadata: tuple[Any, ...]) -> bool:
    """Whether a field's type holds `Count` or `Expression`, known by their validators."""
    wanted = [kind.__metadata__[0] for kind in (Count, Expression)]  # type: ignore[attr-defined]
    if any(any(each is one for one in wanted) for each in metadata):
        return True
    return any(
        takes_expression(each, getattr(each, "__metadata__", ())) for each in get_args(annotation) if each is not None
    )


def test_positions_are_those_of_the_spec_reader() -> None:
    stated = (vars(module).values() for module in (models, access_models, phase_models, place_models, tile_models))
    parts = {
        part
        for part in (
            *chain.from_iterable(stated),
            *map(claim_models.claim_part, KINDS),
            *claim_models.ARGUMENT_PARTS.values(),
        )
        if inspect.isclass(part) and issubclass(part, Part)
    }
    found = {
        f"{part.__name__}.{name}"
        for part in parts
        for name, field in part.model_fields.items()
        if takes_expression(field.annotation, tuple(field.metadata))
    }
    # tests/sweep, tests/claims/test_fragment_claims.py and random_roles.py have generators and oracles of their own
    roles = {"BarrierPart.stages", "BarrierPart.arrivals", "RolePart.threads", "PhasePart.threads", "ProductPart.at"}
    roles |= {
        "PassPart.stage",
        "PassPart.phase",
        "PassPart.by",
        "ArrivePart.stage",
        "ArrivePart.by",
        "ArrivePart.bytes",
    }
    roles |= {"CopyPart.stage", "CopyPart.by", "ProductWaitPart.wgmma_wait", "FencePart.by"}
    roles |= {f"{part}.{key}" for part, key in (("BarSyncPart", "bar_sync"), ("BarArrivePart", "bar_arrive"))}
    roles |= {"BarSyncPart.threads", "BarArrivePart.threads"}
    assert found == set(FIELDS) | roles | {
        "SweepPart.where",
        "FragmentPart.at",
        "FragmentPart.stage",
        "FragmentPart.register_",
    }
    listed = {position for positions in FIELDS.values() for position in positions}
    others = (
        *OFFSET_POSITIONS,
        *GLOBAL_POSITIONS,
        *WALK_POSITIONS,
        *COMPILED_POSITIONS,
        *WEIGHT_POSITIONS,
        *LISTING_POSITIONS,
        *SOURCE_POSITIONS,
        *OPERAND_POSITIONS,
        *PHASE_POSITIONS,
    )
    known = {*POSITIONS, *LANE_POSITIONS, *others}
    assert listed | NOTATION == known


@pytest.mark.nightly
def test_every_operator_stands_in_every_position() -> None:
    cases: Counter[tuple[str, str]] = Counter()
    composite = Counter[str]()
    nested: Counter[tuple[str, str, int]] = Counter()
    for seed in range(SPECS):
        spec = random_spec(seeded(seed))
        found: set[tuple[str, str]] = set()
        for position, text in expressions(spec):
            tree = c_expr.parse(text)
            used = operators(tree)
            if position in VARIABLE_POSITIONS:
                nested.update(edges(tree))
            found.update((operator, position) for operator in used)
            composite[position] += len(used) >= 4 and bool(used & {"<<", ">>", "/", "%"})
        cases.update(found)
    rare = {(o, p): cases[o, p] for o in OPERATORS for p in POSITIONS if cases[o, p] < LEAST_CASES}
    assert not rare
    lone = [(a, b, side) for a in BINARY for b in BINARY for side in (0, 1) if nested[a, b, side] < LEAST_NESTED]
    assert not lone
    # Conditions and bounds of loops with shifts and divisions inside something composite: where
    # points once got lost.
    positions = ("if", "assume", "loop.count", "loop.start", "loop.stop", "loop.step")
    assert min(composite[position] for position in positions) > 50


@pytest.mark.nightly
def test_composite_expressions_stand_in_every_position_of_the_lanes() -> None:
    composite = Counter[str]()
    for seed in range(SPECS // 4):
        for position, text in expressions(lane_spec(seeded(seed))):
            composite[position] += len(operators(c_expr.parse(text))) >= 3
    assert min(composite[position] for position in (*LANE_POSITIONS, "address", "coord", "if", "stage")) > 10


@pytest.mark.nightly
def test_composite_expressions_stand_in_every_position_of_tiles_by_expression() -> None:
    composite = Counter[str]()
    for seed in range(SPECS // 10):
        for position, text in expressions(offset_spec(seeded(seed))):
            composite[position] += len(operators(c_expr.parse(text))) >= 3
    assert min(composite[position] for position in (*OFFSET_POSITIONS, "coord", "if", "let")) > 10


@pytest.mark.nightly
def test_composite_expressions_stand_in_every_position_of_walks() -> None:
    composite = Counter[str]()
    for seed in range(SPECS // 10):
        for position, text in expressions(walk_spec(seeded(seed))):
            composite[position] += len(operators(c_expr.parse(text))) >= 3
    assert min(composite[position] for position in (*WALK_POSITIONS, "if", "let")) > 10


def edges(tree: Expr) -> Iterator[tuple[str, str, int]]:
    """(operator, operator of an operand, which operand) wherever one stands in another: what
    precedence is about.
    """
    if isinstance(tree, Op):
        for side, operand in enumerate(tree.operands):
            if isinstance(operand, Op):
                yield tree.symbol, operand.symbol, side
            yield from edges(operand)


@pytest.mark.parametrize("part", [4, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_verdict_and_every_error_has_its_share(part: int) -> None:
    """One test for all kinds: in several, two processes would each draw and judge the specs."""
    verdicts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    refused, ambiguous = Counter[str](), 0
    for seed in range(JUDGED_SPECS // part):
        try:
            for judgement in judge(random_spec(seeded(seed))):
                verdicts[judgement.kind][judgement.verdict] += 1
        except OracleAmbiguousError:
            ambiguous += 1
        except OracleError as error:
            refused[error.code] += 1
    assert {kind: set(verdicts[kind]) - known for kind, known in VERDICTS.items()} == {kind: set() for kind in VERDICTS}
    shares = {
        (kind, verdict): verdicts[kind][verdict] / verdicts[kind].total()
        for kind in VERDICTS
        for verdict in VERDICTS[kind]
    }
    assert min(shares.values()) >= LEAST_SHARE, shares
    assert ambiguous < JUDGED_SPECS // part // 100
    assert refused["SWZ304"] + refused["SWZ305"] > JUDGED_SPECS // part // 50
    assert min(refused[code] for code in ("SWZ303", "SWZ304", "SWZ305", "SWZ306")) >= max(1, 3 // part)
    assert refused.total() < JUDGED_SPECS // part // 5


def test_variable_positions_are_among_all() -> None:
    assert set(VARIABLE_POSITIONS) < set(POSITIONS)
    assert len(set(OPERATORS)) == len(OPERATORS)

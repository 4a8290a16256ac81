"""Random rings whose stage behind a loop is taken from the number of trips, which the launch gives.

The loop over tiles is around a loop of `n` trips. Behind it the stage and the phase go on by `n`, as CUTLASS has it.
"""

from __future__ import annotations

import random

from tests.ptx_oracle.races import Races

from .pipeline_judge import run
from .pipeline_pieces import Pipeline, with_mistake
from .random_kernels import Kernel

SHAPES = ((64, 1, 1), (64, 1, 1), (64, 1, 1), (96, 1, 1))
NUMBERS = (0, 1, 3, 4)
"""Values of the parameter, from which the trips come."""
_SIZE = 128


def count(pipeline: Pipeline) -> str:
    """The number of trips of a tile."""
    form = pipeline.source.choice(("itself", "half", "half"))
    if form == "itself":
        return "%r1"
    above = pipeline.register("add.s32 %r1, 1")
    sign = pipeline.register(f"shr.u32 {above}, 31")
    return pipeline.register(f"shr.s32 {pipeline.register(f'add.s32 {above}, {sign}')}, 1")


def advance(pipeline: Pipeline, who: str, stage: str, phase: str, trips: str, stages: int) -> None:
    """The stage and the phase behind all trips of a tile."""
    total = pipeline.register(f"add.u32 {stage}, {trips}")
    if pipeline.is_wrong(f"stage of the {who}"):
        pipeline.put(f"add.u32 {total}, {total}, 1;")
    if pipeline.source.random() < 0.5:
        wide, high = f"%d{pipeline.source.choice((3, 4))}", pipeline.register("mov.u32 0")
        number, shift = {2: (1 << 31, 32), 3: (2863311531, 33)}[stages]
        pipeline.put(f"mul.wide.u32 {wide}, {total}, {number};", f"shr.u64 {wide}, {wide}, {shift};")
        pipeline.put(f"cvt.u32.u64 {high}, {wide};")
    else:
        high = pipeline.register(f"div.u32 {total}, {stages}")
    if not pipeline.is_wrong(f"phase of the {who}"):
        odd = pipeline.register(f"and.b32 {high}, 1")
        pipeline.put(f"xor.b32 {phase}, {phase}, {odd};")
    pipeline.put(f"sub.u32 {stage}, {total}, {pipeline.register(f'mul.lo.u32 {high}, {stages}')};")


def fill(pipeline: Pipeline, stage: str, phase: str, copies: bool) -> None:
    """The producer fills a stage."""
    if not pipeline.is_wrong("wait for empty"):
        pipeline.wait(pipeline.register(f"mad.lo.u32 {stage}, 8, %r6"), phase)
    full = pipeline.register(f"mad.lo.u32 {stage}, 8, %r5")
    place = pipeline.register(f"mad.lo.u32 {stage}, {_SIZE}, %r4")
    if copies:
        pipeline.put(f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{full}], {_SIZE};")
        to = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        pipeline.put(f"{to} [{place}], [%d1], {_SIZE}, [{full}];")
    else:
        pipeline.put(f"st.shared.u32 [{pipeline.register(f'mad.lo.u32 %r3, 4, {place}')}], {stage};")
        pipeline.put(f"mbarrier.arrive.shared::cta.b64 _, [{full}];")


def drain(pipeline: Pipeline, stage: str, phase: str) -> None:
    """A consumer reads a stage, and gives it back."""
    if not pipeline.is_wrong("wait for full"):
        pipeline.wait(pipeline.register(f"mad.lo.u32 {stage}, 8, %r5"), phase)
    place = pipeline.register(f"mad.lo.u32 {stage}, {_SIZE}, %r4")
    pipeline.put(f"ld.shared.u32 %r9, [{pipeline.register(f'mad.lo.u32 %r3, 4, {place}')}];")
    empty = pipeline.register(f"mad.lo.u32 {stage}, 8, %r6")
    pipeline.do("the arrival at empty", f"mbarrier.arrive.shared::cta.b64 _, [{empty}];")


def side(pipeline: Pipeline, who: str, stages: int, tiles: str, trips: str, copies: bool) -> None:
    """What one side does with all tiles."""
    source = pipeline.source
    stage, phase = pipeline.register("mov.u32 0"), pipeline.register(f"mov.u32 {int(who == 'producer')}")
    with pipeline.loop(tiles):
        here, now = pipeline.register(f"mov.u32 {stage}"), pipeline.register(f"mov.u32 {phase}")
        left = pipeline.register(f"add.s32 {trips}, {pipeline.number(f'trips of the {who}', 0, 1)}")
        again, behind, is_tested_first = pipeline.label(), pipeline.label(), source.random() < 0.4
        if not is_tested_first:
            pipeline.put(f"@{pipeline.test(f'lt.s32 {trips}, 1')} bra {behind};")
        pipeline.put(f"{again}:")
        if is_tested_first:
            pipeline.put(f"@{pipeline.test(f'le.s32 {left}, 0')} bra {behind};")
        if who == "producer":
            fill(pipeline, here, now, copies)
        else:
            drain(pipeline, here, now)
        pipeline.next_stage(here, now, stages)
        pipeline.put(f"add.s32 {left}, {left}, -1;")
        pipeline.put(f"bra {again};" if is_tested_first else f"@{pipeline.test(f'gt.s32 {left}, 0')} bra {again};")
        pipeline.put(f"{behind}:")
        advance(pipeline, who, stage, phase, trips, stages)


def drawn(seed: int, mistake: int) -> tuple[Pipeline, set[str], tuple[int, int, int]]:
    """The kernel of a seed with a mistake, by its place; -1 makes none."""
    source = random.Random(seed)
    block, stages, copies = source.choice(SHAPES), source.choice((2, 3)), source.random() < 0.5
    pipeline = Pipeline(source, mistake)
    tiles = source.choice(("2", "2", "3", "%r1"))
    for stage in range(stages):
        pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r5+{8 * stage}], {1 if copies else 32};")
        pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r6+{8 * stage}], {block[0] - 32};")
    pipeline.put("bar.sync 0;")
    trips, consumer, end = count(pipeline), pipeline.label(), pipeline.label()
    pipeline.put(f"@{pipeline.test('ne.u32 %r2, 0')} bra {consumer};")
    if copies:
        pipeline.put(f"@!%p1 bra {end};")
    side(pipeline, "producer", stages, tiles, trips, copies)
    pipeline.put(f"bra {end};", f"{consumer}:")
    side(pipeline, "consumer", stages, tiles, trips, copies)
    pipeline.put(f"{end}:")
    return pipeline, {f"{stages} stages", *({"copies"} if copies else ())}, block


def counted(seed: int) -> Kernel:
    """The random kernel of a seed."""
    return with_mistake(seed, drawn, lambda draw: draw < 0.5)


def runs_of(kernel: Kernel) -> tuple[Races, ...]:
    """The runs of a kernel, for each number of trips."""
    return tuple(run(kernel, number, order) for number in NUMBERS for order in (None, 1))

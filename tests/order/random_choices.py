"""Random rings over tiles whose trips are loaded from global memory: conditions on them hold for one tile.

A tile is left out if it has no trips. Its first stage comes before the loop and its last one behind it, so that the
stage and the phase depend on what was loaded. Each tile also has a word of its own, whose phase is that of a counter of
tiles. Copies may come before their bytes are announced.
"""

from __future__ import annotations

import random

from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import Races, races_of

from .pipeline_pieces import Pipeline, with_mistake
from .random_counts import NUMBERS
from .random_kernels import Kernel

SIZE = 128
_WORD, _WORD_FULL, _WORD_EMPTY = 2048, 48, 48
_COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"


def _fill(pipeline: Pipeline, stage: str, phase: str, is_late: bool, copies: bool) -> None:
    """The producer fills a stage; with `is_late` it announces the bytes behind the copy."""
    if not pipeline.is_wrong("wait for empty"):
        pipeline.wait(pipeline.register(f"mad.lo.u32 {stage}, 8, %r6"), phase)
    full = pipeline.register(f"mad.lo.u32 {stage}, 8, %r5")
    place = pipeline.register(f"mad.lo.u32 {stage}, {SIZE}, %r4")
    if not copies:
        pipeline.put(f"st.shared.u32 [{pipeline.register(f'mad.lo.u32 %r3, 4, {place}')}], {stage};")
        pipeline.put(f"mbarrier.arrive.shared::cta.b64 _, [{full}];")
        return
    announced = pipeline.number("bytes", SIZE, SIZE // 2)
    lines = [
        f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{full}], {announced};",
        f"{_COPY} [{place}], [%d1], {SIZE}, [{full}];",
    ]
    pipeline.put(*(reversed(lines) if is_late else lines))


def _drain(pipeline: Pipeline, stage: str, phase: str) -> None:
    """A consumer reads a stage, and gives it back."""
    if not pipeline.is_wrong("wait for full"):
        pipeline.wait(pipeline.register(f"mad.lo.u32 {stage}, 8, %r5"), phase)
    place = pipeline.register(f"mad.lo.u32 {stage}, {SIZE}, %r4")
    empty = pipeline.register(f"mad.lo.u32 {stage}, 8, %r6")
    read = f"ld.shared.u32 %r9, [{pipeline.register(f'mad.lo.u32 %r3, 4, {place}')}];"
    release = f"mbarrier.arrive.shared::cta.b64 _, [{empty}];"
    pipeline.put(*([release, read] if pipeline.is_wrong("release before the read") else [read, release]))


def _word(pipeline: Pipeline, who: str, tiles: str) -> None:
    """What a side does with the word of a tile: `tiles` counts those that came before."""
    if pipeline.is_wrong(f"counter of the {who}"):
        odd = pipeline.register(f"mov.u32 {int(who == 'producer')}")
    elif pipeline.source.random() < 0.5:
        sign = pipeline.register(f"shr.u32 {tiles}, 31")
        even = pipeline.register(f"and.b32 {pipeline.register(f'add.s32 {tiles}, {sign}')}, -2")
        odd = pipeline.register(f"sub.s32 {tiles}, {even}")
    else:
        odd = pipeline.register(f"and.b32 {tiles}, 1")
    if who == "producer":
        pipeline.wait(f"%r6+{_WORD_EMPTY}", pipeline.register(f"xor.b32 {odd}, 1"))
        pipeline.put(f"@%p1 st.shared.u32 [%r4+{_WORD}], {tiles};")
        pipeline.put(f"@%p1 mbarrier.arrive.shared::cta.b64 _, [%r5+{_WORD_FULL}];")
    else:
        pipeline.wait(f"%r5+{_WORD_FULL}", odd)
        pipeline.put(f"ld.shared.u32 %r9, [%r4+{_WORD}];")
        pipeline.put(f"mbarrier.arrive.shared::cta.b64 _, [%r6+{_WORD_EMPTY}];")


def _side(pipeline: Pipeline, who: str, stages: int, is_late: bool, copies: bool) -> None:
    """What one side does with all tiles."""
    source, empty = pipeline.source, int(who == "producer")

    def once() -> None:
        if who == "producer":
            _fill(pipeline, stage, phase, is_late, copies)
        else:
            _drain(pipeline, stage, phase)
        pipeline.next_stage(stage, phase, stages)

    stage, phase, seen = (pipeline.register(f"mov.u32 {number}") for number in (0, empty, 0))
    tile, head, after, end = pipeline.register("mov.u32 0"), *(pipeline.label() for _ in range(3))
    pipeline.put(f"{head}:")
    pipeline.put(f"@{pipeline.test(f'ge.u32 {tile}, 3')} bra {end};")
    address = "%d3"
    pipeline.put(f"mul.wide.u32 %d2, {tile}, 4;", f"add.u64 {address}, %d1, %d2;")
    loaded = pipeline.register(f"ld.global.u32 [{address}]")
    trips = pipeline.register(f"and.b32 {pipeline.register(f'add.u32 {loaded}, %r1')}, 3")
    if not pipeline.is_wrong(f"empty tiles of the {who}"):
        pipeline.put(f"@{pipeline.test(f'eq.u32 {trips}, 0')} bra {after};")
    _word(pipeline, who, seen)
    once()
    left = pipeline.register(f"sub.u32 {trips}, {pipeline.number(f'trips of the {who}', 1, 2)}")
    again, behind = pipeline.label(), pipeline.label()
    pipeline.put(f"@{pipeline.test(f'le.s32 {left}, 0')} bra {behind};", f"{again}:")
    once()
    pipeline.put(f"add.s32 {left}, {left}, -1;", f"@{pipeline.test(f'gt.s32 {left}, 0')} bra {again};")
    pipeline.put(f"{behind}:")
    if source.random() < 0.7:
        once()
    pipeline.put(f"add.u32 {seen}, {seen}, 1;", f"{after}:", f"add.u32 {tile}, {tile}, 1;", f"bra {head};", f"{end}:")


def drawn(seed: int, mistake: int) -> tuple[Pipeline, set[str], tuple[int, int, int]]:
    """The kernel of a seed with a mistake, by its place; -1 makes none."""
    source = random.Random(seed)
    stages, is_late, copies = source.choice((2, 3)), source.random() < 0.5, source.random() < 0.7
    is_last = source.random()
    pipeline = Pipeline(source, mistake)
    for stage in range(stages):
        pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r5+{8 * stage}], {1 if copies else 32};")
        pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r6+{8 * stage}], 32;")
    pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r5+{_WORD_FULL}], 1;")
    pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r6+{_WORD_EMPTY}], 32;", "bar.sync 0;")
    consumer, end = pipeline.label(), pipeline.label()
    pipeline.put(f"@{pipeline.test('ne.u32 %r2, 0')} bra {consumer};")
    if copies:
        pipeline.put(f"@!%p1 bra {end};")
    for who in ("producer", "consumer"):
        # Both sides make the same: what comes behind a loop is drawn alike for them.
        source.seed(f"{seed} {is_last}")
        _side(pipeline, who, stages, is_late, copies)
        pipeline.put(*([f"bra {end};", f"{consumer}:"] if who == "producer" else []))
    pipeline.put(f"{end}:")
    constructs = {f"{stages} stages", *({"copies"} if copies else ()), *({"late"} if is_late else ())}
    return pipeline, constructs, (64, 1, 1)


def chosen(seed: int) -> Kernel:
    """The random kernel of a seed."""
    return with_mistake(seed, drawn, lambda draw: draw < 0.5)


def runs_of(kernel: Kernel) -> tuple[Races, ...]:
    """Launches of a kernel, with two contents of global memory."""
    return tuple(
        races_of(kernel.text, "k", kernel.block, params=[number, Buffer(8192, fill)], shuffle=order, steps=3000)
        for number in NUMBERS
        for order, fill in ((None, "iota"), (1, "u32"))
    )

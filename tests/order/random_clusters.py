"""Random small kernels with the barrier of a cluster, or with copies of several threads to one object."""

from __future__ import annotations

import random

from .pipeline_pieces import Pipeline, with_mistake
from .random_kernels import Kernel

SHAPES = ((64, 1, 1), (64, 1, 1), (96, 1, 1), (128, 1, 1))
_ARRIVE, _WAIT = "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"


def words(pipeline: Pipeline) -> None:
    """Stores and loads of words of a few places, with meetings of the cluster and of the block among them."""
    source = pipeline.source
    own = pipeline.register("mad.lo.u32 %r0, 4, %r4")
    other = pipeline.register(f"xor.b32 {own}, {source.choice((4, 128))}")
    has_arrived = False
    for _ in range(source.randint(4, 9)):
        place = 1024 * source.choice((0, 0, 1))
        what = source.choice(("store", "load", "load", "cluster", "cluster", "cluster", "block", "copy"))
        if what == "store":
            pipeline.put(f"st.shared.u32 [{own}+{place}], %r0;")
        elif what == "load":
            pipeline.put(f"ld.shared.u32 %r9, [{other}+{place}];")
        elif what == "copy":
            pipeline.put(f"cp.async.ca.shared.global [{own}+{place}], [%d1], 4;")
            if source.random() < 0.8:
                pipeline.put("cp.async.wait_all;")
        elif what == "block":
            pipeline.put("bar.sync 0;")
        elif has_arrived:
            pipeline.put(_WAIT)
            has_arrived = False
        else:
            pipeline.put(_ARRIVE if source.random() < 0.85 else _ARRIVE.replace("arrive", "arrive.relaxed"))
            has_arrived = source.random() < 0.6
            if not has_arrived:
                pipeline.put(_WAIT)
    if has_arrived:
        pipeline.put(_WAIT)


def repeated(pipeline: Pipeline, _: int) -> set[str]:
    """Words, once or in a loop."""
    if pipeline.source.random() < 0.5:
        words(pipeline)
        return {"words"}
    with pipeline.loop("%r1"):
        words(pipeline)
    return {"words in a loop"}


def meet(pipeline: Pipeline, what: str) -> None:
    """All threads of the block meet, unless that is the mistake."""
    if pipeline.is_wrong(f"without {what}"):
        return
    pipeline.put(*(("bar.sync 0;",) if pipeline.source.random() < 0.6 else (_ARRIVE, _WAIT)))


def copiers(pipeline: Pipeline, warps: int) -> set[str]:
    """The first lanes of some warps copy parts of a tile, in each trip, and all threads read it."""
    source = pipeline.source
    some, stages = source.choice((1, 2, warps)), source.choice((1, 2))
    part, rounds = 64, source.choice(("1", "2", "%r1"))
    relaxed = source.random() < 0.4
    for stage in range(stages):
        pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r5+{8 * stage}], 1;")
    if relaxed:
        pipeline.do("the fence of the objects", "fence.mbarrier_init.release.cluster;")
        pipeline.put(_ARRIVE.replace("arrive", "arrive.relaxed"), _WAIT)
    else:
        meet(pipeline, "the meeting behind init")
    count, head, end = pipeline.register("mov.u32 0"), pipeline.label(), pipeline.label()
    own = pipeline.register("mad.lo.u32 %r0, 4, %r4")
    pipeline.put(f"{head}:")
    pipeline.put(f"@{pipeline.test(f'ge.u32 {count}, {rounds}')} bra {end};")
    stage = pipeline.register(f"and.b32 {count}, {stages - 1}")
    around = pipeline.register(f"shr.u32 {count}, {stages - 1}")
    parity = pipeline.register(f"and.b32 {around}, 1")
    place = pipeline.register(f"mad.lo.u32 {stage}, 8, %r5")
    base = pipeline.register(f"mad.lo.u32 {stage}, {part * warps}, %r4")
    meet(pipeline, "the meeting before the copies")
    total = pipeline.number("bytes", some * part, some * part - 16, some * part + 16)
    pipeline.put(f"@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [{place}], {total};")
    if source.random() < 0.5:
        pipeline.put("bar.sync 0;")
    flag = pipeline.test(f"eq.u32 %r0, {32 * (warps - 1)}")
    if source.random() < 0.4:
        # A word of a thread that may copy: only a meeting, or its own wait, orders it with the loads.
        pipeline.put(f"@{flag} st.shared.u32 [%r4+2048], {count};")
        if source.random() < 0.5:
            pipeline.put("bar.sync 0;")
    first = pipeline.test(f"lt.u32 %r2, {some}")
    both = f"%p{pipeline.predicates + 1}"
    pipeline.predicates += 1
    pipeline.put(f"and.pred {both}, {first}, %p1;")
    here = pipeline.register(f"mad.lo.u32 %r2, {part}, {base}")
    pipeline.put(
        f"@{both} cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{here}], [%d1], {part}, [{place}];"
    )
    if not pipeline.is_wrong("without the wait"):
        pipeline.wait(place, pipeline.register(f"xor.b32 {parity}, 1") if pipeline.is_wrong("parity") else parity)
    pipeline.put(f"ld.shared.u32 %r9, [{own}];", "ld.shared.u32 %r10, [%r4+2048];")
    pipeline.put(f"add.u32 {count}, {count}, 1;", f"bra {head};", f"{end}:")
    return {f"{some} copiers", f"{stages} stages", *({"relaxed"} if relaxed else ())}


def drawn(seed: int, mistake: int) -> tuple[Pipeline, set[str], tuple[int, int, int]]:
    """The kernel of a seed with a mistake, by its place; -1 makes none."""
    source = random.Random(seed)
    block = source.choice(SHAPES)
    kind = source.choice((repeated, copiers, copiers))
    pipeline = Pipeline(source, mistake)
    return pipeline, kind(pipeline, block[0] // 32), block


def clustered(seed: int) -> Kernel:
    """The random kernel of a seed."""
    return with_mistake(seed, drawn, lambda draw: draw < 0.5)

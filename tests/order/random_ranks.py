"""Random kernels of clusters of several blocks, which reach the shared memory of each other.

Words are stored and loaded in other blocks between barriers of the cluster, or producers of all blocks copy parts of a
tile to several blocks, and consumers of all blocks give the stages back. Half of the kernels have one mistake.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .pipeline_pieces import HEAD, Pipeline

_Kind = Callable[[Pipeline, int], set[str]]

CLUSTERS = ((2, 1, 1), (2, 1, 1), (2, 1, 1), (1, 2, 1), (3, 1, 1))
_ARRIVE, _WAIT = "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"
_MEET = (_ARRIVE, _WAIT)
_MULTICAST = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
_COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"


@dataclass(frozen=True)
class Cluster:
    """A kernel with the shape of its block and of its cluster."""

    seed: int
    text: str
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    constructs: frozenset[str]

    @property
    def ranks(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]


def meet(pipeline: Pipeline, what: str) -> None:
    """All threads of the cluster meet, or as a mistake those of each block alone."""
    if pipeline.is_wrong(f"the block's barrier for {what}"):
        pipeline.put("bar.sync 0;")
    else:
        pipeline.do(what, *_MEET)


def other_rank(pipeline: Pipeline, rank: str, ranks: int) -> str:
    """The rank of another block, or of the own one, in one of several ways."""
    kind = pipeline.source.randrange(4)
    if kind == 0 and ranks == 2:
        return pipeline.register(f"xor.b32 {rank}, 1")
    if kind == 1:
        return pipeline.register(f"mov.u32 {pipeline.source.randrange(ranks)}")
    after = pipeline.register(f"add.u32 {rank}, {pipeline.source.randint(1, ranks)}")
    return after if pipeline.is_wrong("a rank that no block has") else pipeline.register(f"rem.u32 {after}, {ranks}")


def words(pipeline: Pipeline, ranks: int) -> set[str]:
    """Stores and loads of words, in this block and in others, with barriers among them."""
    source = pipeline.source
    own = pipeline.register("mad.lo.u32 %r0, 4, %r4")
    rank = pipeline.register("mov.u32 %cluster_ctarank")
    is_generic = source.random() < 0.3
    pipeline.put(*(() if pipeline.is_wrong("without the first barrier") else _MEET))
    last_is_far = False
    for _ in range(source.randint(3, 7)):
        place = 1024 * source.choice((0, 0, 1))
        what = source.choice(("store", "load", "far store", "far load", "far load", "meet", "meet", "block"))
        guard = ""
        if source.random() < 0.3:
            guard = f"@{pipeline.test(f'eq.u32 {rank}, {source.randrange(ranks)}')} "
        if what == "store":
            pipeline.put(f"{guard}st.shared.u32 [{own}+{place}], %r0;")
        elif what == "load":
            pipeline.put(f"{guard}ld.shared.u32 %r9, [{own}+{place}];")
        elif what == "block":
            pipeline.put("bar.sync 0;")
        elif what == "meet":
            pipeline.put(*_MEET)
            last_is_far = False
        else:
            last_is_far = True
            there = other_rank(pipeline, rank, ranks)
            opcode = "st" if "store" in what else "ld"
            if is_generic:
                pipeline.put(f"cvt.u64.u32 %d2, {own};", "cvta.shared.u64 %d2, %d2;", f"mapa.u64 %d3, %d2, {there};")
                place_text = f"[%d3+{place}]"
            else:
                far = pipeline.register(f"mapa.shared::cluster.u32 {own}, {there}")
                opcode, place_text = f"{opcode}.shared::cluster", f"[{far}+{place}]"
            operands = f"{place_text}, %r0" if "store" in what else f"%r9, {place_text}"
            pipeline.put(f"{guard}{opcode}.u32 {operands};")
    if last_is_far:
        meet(pipeline, "the last barrier")
    return {"words", *({"generic"} if is_generic else ())}


def looped(pipeline: Pipeline, ranks: int) -> set[str]:
    """Each thread stores a word in the next block and loads its own, in each trip."""
    rank = pipeline.register("mov.u32 %cluster_ctarank")
    own = pipeline.register("mad.lo.u32 %r0, 4, %r4")
    there = other_rank(pipeline, rank, ranks)
    far = pipeline.register(f"mapa.shared::cluster.u32 {own}, {there}")
    pipeline.put(*_MEET)
    with pipeline.loop("%r1") as (count, _):
        stage = pipeline.register(f"and.b32 {count}, 1")
        double = pipeline.source.random() < 0.5
        distance = pipeline.register(f"mul.lo.u32 {stage}, {1024 if double else 0}")
        to, at = (pipeline.register(f"add.u32 {each}, {distance}") for each in (far, own))
        pipeline.put(f"st.shared::cluster.u32 [{to}], {count};")
        meet(pipeline, "the barrier behind the store")
        pipeline.put(f"ld.shared.u32 %r9, [{at}];")
        if not double:
            meet(pipeline, "the barrier behind the load")
    meet(pipeline, "the last barrier")
    return {"looped"}


def ring(pipeline: Pipeline, ranks: int) -> set[str]:
    """Producers of all blocks copy their parts of each tile to all blocks; consumers give the stages back to all."""
    source = pipeline.source
    stages, part = source.choice((1, 2)), 32
    rank = pipeline.register("mov.u32 %cluster_ctarank")
    everyone, trips = (1 << ranks) - 1, source.choice(("3", "%r1", "%r1"))
    is_plain_too = source.random() < 0.4  # a part that each block copies for itself
    parts = ranks + is_plain_too
    count = pipeline.number("the count of empty", ranks, 1, ranks + 1)
    for stage in range(stages):
        pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r5+{8 * stage}], 1;")
        pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r6+{8 * stage}], {count};")
    if source.random() < 0.5:
        pipeline.do("the fence of the objects", "fence.mbarrier_init.release.cluster;")
        if pipeline.is_wrong("the block's barrier behind init"):
            pipeline.put("bar.sync 0;")
        else:
            pipeline.put(_ARRIVE.replace("arrive", "arrive.relaxed"), _WAIT)
    else:
        meet(pipeline, "the meeting behind init")
    number, stage, phase = (pipeline.register("mov.u32 0") for _ in range(3))
    consumer, end = pipeline.label(), pipeline.label()
    pipeline.put(f"@{pipeline.test('ne.u32 %r2, 0')} bra {consumer};", f"@!%p0 bra {end};")

    def step(head: str) -> None:
        pipeline.put(f"add.u32 {number}, {number}, 1;")
        pipeline.next_stage(stage, phase, stages)
        pipeline.put(f"bra {head};")

    def place(base: str) -> str:
        return pipeline.register(f"mad.lo.u32 {stage}, 8, {base}")

    # The producer.
    head, done = pipeline.label(), pipeline.label()
    pipeline.put(f"{head}:")
    pipeline.put(f"@{pipeline.test(f'ge.u32 {number}, {trips}')} bra {done};")
    if not pipeline.is_wrong("without the wait for empty"):
        pipeline.wait(place("%r6"), pipeline.register(f"xor.b32 {phase}, 1"))
    full = place("%r5")
    size = pipeline.number("bytes", part * parts, part * parts - 16)
    pipeline.put(f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{full}], {size};")
    base = pipeline.register(f"mad.lo.u32 {stage}, {part * parts}, %r4")
    to = pipeline.register(f"mad.lo.u32 {rank}, {part}, {base}")
    if pipeline.is_wrong("all copy one part"):
        to = base
    mask = everyone
    if pipeline.is_wrong("a mask without a block"):
        mask = everyone - 1
    pipeline.put(f"mov.b16 %h1, {mask};")
    if is_plain_too:
        own = pipeline.register(f"add.u32 {base}, {part * ranks}")
        pipeline.put(f"{_COPY} [{own}], [%d1], {part}, [{full}];")
    pipeline.put(f"{_MULTICAST} [{to}], [%d1], {part}, [{full}], %h1;")
    step(head)
    pipeline.put(f"{done}:")
    if not pipeline.is_wrong("without a tail"):
        for _ in range(stages):
            tail = pipeline.register(f"xor.b32 {phase}, 1")
            pipeline.wait(place("%r6"), tail)
            pipeline.next_stage(stage, phase, stages)
    pipeline.put(f"bra {end};", f"{consumer}:")
    # The consumer.
    head, done = pipeline.label(), pipeline.label()
    pipeline.put(f"{head}:")
    pipeline.put(f"@{pipeline.test(f'ge.u32 {number}, {trips}')} bra {done};")
    if not pipeline.is_wrong("without the wait for full"):
        pipeline.wait(place("%r5"), phase)
    read = pipeline.register(f"mad.lo.u32 {stage}, {part * parts}, %r4")
    among = pipeline.register(f"rem.u32 %r3, {part * parts // 4}")
    word = pipeline.register(f"mad.lo.u32 {among}, 4, {read}")
    pipeline.put(f"ld.shared.u32 %r9, [{word}];")
    pipeline.do("the meeting of the warp", "bar.warp.sync -1;")
    empty = place("%r6")
    to_rank = "%r3"
    if pipeline.is_wrong("all arrive at the own block"):
        to_rank = rank
    if pipeline.is_wrong("all arrive at the block of rank 0"):
        to_rank = pipeline.register("mov.u32 0")
    few = pipeline.test(f"lt.u32 %r3, {ranks}")
    far = pipeline.register("mov.u32 0")
    pipeline.put(
        f"@{few} mapa.shared::cluster.u32 {far}, {empty}, {to_rank};",
        f"@{few} mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{far}];",
    )
    step(head)
    pipeline.put(f"{done}:", f"{end}:")
    return {f"ring of {stages}", *({"plain too"} if is_plain_too else ())}


def helped(pipeline: Pipeline, ranks: int) -> set[str]:
    """Lane 0 copies tiles of distinct sizes; another lane arrives for each tile, too, and touches memory beside."""
    source = pipeline.source
    pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r5], {pipeline.number('the count of full', 2, 1)};")
    pipeline.put("@%p0 mbarrier.init.shared::cta.b64 [%r6], 1;")
    meet(pipeline, "the meeting behind init")
    far = pipeline.register(f"mapa.shared::cluster.u32 %r4, {source.randrange(ranks)}")
    pipeline.put(f"ld.shared::cluster.u32 %r9, [{far}+2048];")
    tiles = source.sample((16, 32, 48, 64), source.randint(2, 4))
    places = [64 * (each % source.choice((1, 2, 4))) for each in range(len(tiles))]
    helper, consumer, end = (pipeline.label() for _ in range(3))
    pipeline.put(f"@{pipeline.test(f'eq.u32 %r0, {source.choice((1, 33))}')} bra {helper};")
    pipeline.put(f"@{pipeline.test('eq.u32 %r0, 32')} bra {consumer};", f"@!%p0 bra {end};")
    for at, size in enumerate(tiles):
        if at and not pipeline.is_wrong("without the wait for empty"):
            pipeline.wait("%r6", str(1 - at % 2))
        pipeline.put(f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], {size};")
        pipeline.put(f"{_COPY} [%r4+{places[at]}], [%d1], {size}, [%r5];")
    pipeline.put(f"bra {end};", f"{helper}:")
    for at in range(len(tiles)):
        if at and not pipeline.is_wrong("the helper runs ahead"):
            pipeline.wait("%r6", str(1 - at % 2))
        if source.random() < 0.2:
            pipeline.put(f"ld.shared.u32 %r9, [%r4+{source.choice(places)}];")
        pipeline.put("mbarrier.arrive.shared::cta.b64 _, [%r5];")
        if source.random() < 0.15 or pipeline.is_wrong("a load behind the arrival"):
            pipeline.put(f"ld.shared.u32 %r9, [%r4+{source.choice(places)}];")
    pipeline.put(f"bra {end};", f"{consumer}:")
    for at, place in enumerate(places):
        if not pipeline.is_wrong("without the wait for full"):
            pipeline.wait("%r5", str(at % 2))
        pipeline.put(f"ld.shared.u32 %r9, [%r4+{place}];", "mbarrier.arrive.shared::cta.b64 _, [%r6];")
    pipeline.put(f"{end}:")
    meet(pipeline, "the last barrier")
    return {f"helped, {len(tiles)} tiles"}


_KINDS = (words, words, looped, ring, ring)


def drawn(seed: int, mistake: int, kinds: Sequence[_Kind] = _KINDS) -> tuple[Pipeline, set[str], tuple[int, int, int]]:
    """The kernel of a seed with a mistake, by its place; -1 makes none."""
    source = random.Random(seed)
    cluster = source.choice(CLUSTERS)
    kind = source.choice(kinds)
    pipeline = Pipeline(source, mistake)
    return pipeline, kind(pipeline, cluster[0] * cluster[1] * cluster[2]), cluster


def ranked(seed: int, kinds: Sequence[_Kind] = _KINDS) -> Cluster:
    """The random kernel of a seed."""
    right, constructs, cluster = drawn(seed, -1, kinds)
    choose = random.Random(f"mistake {seed}")
    if right.chances and choose.random() < 0.5:
        mistake = choose.randrange(len(right.chances))
        constructs = {*constructs, f"wrong: {right.chances[mistake]}"}
        right, _, _ = drawn(seed, mistake, kinds)
    head = HEAD.replace(".reg .b64 %d<9>;", ".reg .b64 %d<9>;\n.reg .b16 %h<9>;")
    text = head + "\n".join(right.lines) + "\nret;\n}\n"
    return Cluster(seed, text, (64, 1, 1), cluster, frozenset(constructs))

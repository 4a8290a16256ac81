"""Random small kernels of producers and consumers, right or with one mistake.

Warps have roles: producers write stages of shared memory, by stores, small copies or bulk copies,
and consumers read them. They hand stages to each other by mbarriers with parity, or by named
barriers. A kernel may end its loops early, and may go on behind them. Each part that a mistake can
take out or change is written by `do` or asks `is_wrong`, so that one mistake is chosen among all of a kernel.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .pipeline_pieces import Pipeline, tail, with_mistake
from .random_kernels import Kernel
from .random_products import WARPGROUPS, products

NUMBERS = (0, 1, 2, 5)
"""Values of the parameter, which may be the number of trips."""
SHAPES = ((64, 1, 1), (64, 1, 1), (64, 1, 1), (96, 1, 1), (128, 1, 1))


def trips_of(pipeline: Pipeline) -> str:
    return pipeline.source.choice(("2", "3", "4", "%r1", "%r1"))


@dataclass
class Ring:
    """A ring of stages between producers and consumers."""

    pipeline: Pipeline
    warps: int
    stages: int
    producers: int
    """Warps that produce; the others consume."""
    how: str
    """`stores`, `copies` or `bulk`."""
    elects: bool
    """One lane arrives for each consumer warp."""
    trips: str
    leaves: bool
    """Both loops are left in the third trip."""
    tail: bool
    """All threads go on behind the loops, in the memory of the stages."""

    @property
    def words(self) -> int:
        """Words of a stage."""
        return 32 * (self.warps - self.producers)

    def stage_and_parity(self, count: str) -> tuple[str, str]:
        """The stage of a trip, and the parity of its phase."""
        pipeline, stages = self.pipeline, self.stages
        if stages & (stages - 1):
            stage = pipeline.register(f"rem.u32 {count}, {stages}")
        else:
            stage = pipeline.register(f"and.b32 {count}, {stages - 1}")
        around = pipeline.register(f"div.u32 {count}, {stages}")
        return stage, pipeline.register(f"and.b32 {around}, 1")

    def make(self) -> None:
        """Thread 0 makes the mbarriers."""
        pipeline = self.pipeline
        full = {"stores": 32 * self.producers, "copies": 32 * self.producers, "bulk": 1}[self.how]
        if self.how == "stores" and self.elects:
            full = self.producers
        empty = (1 if self.elects else 32) * (self.warps - self.producers)
        wrong_full = (full - 1, full + 1) if full > 1 else (2,)
        full = pipeline.number("arrivals at full", full, *wrong_full)
        empty = pipeline.number("arrivals at empty", empty, empty + 1, *((empty - 1,) if empty > 1 else ()))
        for stage in range(self.stages):
            pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r5+{8 * stage}], {full};")
            pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r6+{8 * stage}], {empty};")
        pipeline.do("the barrier behind init", "bar.sync 0;")

    def loop(self, role: str) -> None:
        """The loop of a role."""
        pipeline = self.pipeline
        with pipeline.loop(self.trips) as (count, end):
            stage, parity = self.stage_and_parity(count)
            offset = pipeline.register(f"shl.b32 {stage}, 3")
            full, empty = (pipeline.register(f"add.u32 {base}, {offset}") for base in ("%r5", "%r6"))
            base = pipeline.register(f"mad.lo.u32 {stage}, {4 * self.words}, %r4")
            (self.produce if role == "producer" else self.consume)(base, full, empty, parity, count)
            if self.leaves and not pipeline.is_wrong(f"{role}s do not leave the loop"):
                pipeline.put(f"@{pipeline.test(f'eq.u32 {count}, 2')} bra {end};")

    def produce(self, base: str, full: str, empty: str, parity: str, count: str) -> None:
        """Wait for an empty stage, fill it, and tell the consumers."""
        pipeline = self.pipeline
        other = pipeline.register(f"xor.b32 {parity}, 1")
        if not pipeline.is_wrong("without the wait for empty"):
            pipeline.wait(empty, parity if pipeline.is_wrong("parity of empty") else other)
        if self.how == "bulk":
            self.load(base, full)
            return
        arrive = f"mbarrier.arrive.shared::cta.b64 _, [{full}];"
        late = pipeline.is_wrong("arrives at full before the writes")
        if late:
            pipeline.put(arrive if not (self.elects and self.how == "stores") else f"@%p1 {arrive}")
        for part in range(0, self.words, 32 * self.producers):
            place = pipeline.register(f"mad.lo.u32 %r0, 4, {base}")
            width = 32 * self.producers
            guard = ""
            if part + width > self.words:
                guard = f"@{pipeline.test(f'lt.u32 %r0, {self.words - part}')} "
            if self.how == "stores":
                pipeline.put(f"{guard}st.shared.u32 [{place}+{4 * part}], {count};")
            else:
                pipeline.put(f"{guard}cp.async.ca.shared.global [{place}+{4 * part}], [%d1], 4;")
        if late:
            return
        if self.how == "copies":
            if pipeline.source.random() < 0.5:
                whole = f"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [{full}];"
                pipeline.put(arrive if pipeline.is_wrong("a plain arrive behind copies") else whole)
                return
            pipeline.do("the wait for copies", "cp.async.wait_all;")
            pipeline.put(arrive)
        elif self.elects:
            pipeline.do("syncwarp before the arrive at full", "bar.warp.sync -1;")
            pipeline.put(f"@%p1 {arrive}")
        else:
            pipeline.put(arrive)

    def load(self, base: str, full: str) -> None:
        """A bulk load, or two."""
        pipeline, size = self.pipeline, 4 * self.words
        parts = pipeline.source.choice((1, 1, 2))
        expected = pipeline.number("bytes", size, size // 2, 2 * size)
        expect = f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{full}], {expected};"
        if pipeline.is_wrong("an arrive without its bytes"):
            expect = f"mbarrier.arrive.shared::cta.b64 _, [{full}];"
        after = pipeline.is_wrong("arrives behind the copy")
        if not after:
            pipeline.put(expect)
        for part in range(parts):
            here = pipeline.register(f"add.u32 {base}, {part * size // parts}")
            pipeline.put(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                f"[{here}], [%d1], {size // parts}, [{full}];"
            )
        if after:
            pipeline.put(expect)

    def consume(self, base: str, full: str, empty: str, parity: str, _count: str) -> None:
        """Wait for a full stage, read it, and give it back."""
        pipeline = self.pipeline
        mine = pipeline.register(f"sub.u32 {32 * self.warps - 1}, %r0")
        place = pipeline.register(f"mad.lo.u32 {mine}, 4, {base}")
        early = pipeline.is_wrong("reads before the wait for full")
        if early:
            pipeline.put(f"ld.shared.u32 %r9, [{place}];")
        if not pipeline.is_wrong("without the wait for full"):
            other = pipeline.register(f"xor.b32 {parity}, 1")
            pipeline.wait(full, other if pipeline.is_wrong("parity of full") else parity)
        arrive = f"mbarrier.arrive.shared::cta.b64 _, [{empty}];"
        if self.elects:
            arrive = f"@%p1 {arrive}"
        released = pipeline.is_wrong("gives the stage back before the reads")
        if released:
            pipeline.put(arrive)
        if not early:
            pipeline.put(f"ld.shared.u32 %r9, [{place}];")
        if not released:
            if self.elects:
                pipeline.do("syncwarp before the arrive at empty", "bar.warp.sync -1;")
            pipeline.do("the arrive at empty", arrive)

    def write(self) -> None:
        """The whole."""
        pipeline = self.pipeline
        self.make()
        consumer, end = pipeline.label(), pipeline.label()
        pipeline.put(f"@{pipeline.test(f'ge.u32 %r2, {self.producers}')} bra {consumer};")
        if self.how == "bulk":
            pipeline.put(f"@!%p0 bra {end};")
        self.loop("producer")
        if self.how == "copies":
            pipeline.put("cp.async.wait_all;")
        pipeline.put(f"bra {end};", f"{consumer}:")
        self.loop("consumer")
        pipeline.put(f"{end}:")
        if self.tail:
            pipeline.do("the barrier before the tail", "bar.sync 0;")
            tail(pipeline)
        if pipeline.source.random() < 0.4:
            self.end()

    def end(self) -> None:
        """Thread 0 invalidates the mbarriers."""
        pipeline = self.pipeline
        pipeline.do("the barrier before inval", "bar.sync 0;")
        for stage in range(self.stages):
            pipeline.put(f"@%p0 mbarrier.inval.shared::cta.b64 [%r5+{8 * stage}];")
            pipeline.put(f"@%p0 mbarrier.inval.shared::cta.b64 [%r6+{8 * stage}];")
        if pipeline.is_wrong("an arrival behind inval"):
            pipeline.put("bar.sync 0;", "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r5];")


def ring(pipeline: Pipeline, warps: int) -> set[str]:
    """A ring of stages with mbarriers."""
    source = pipeline.source
    producers = 1 if warps == 2 else source.choice((1, 2)) if warps == 3 else source.choice((1, 2, 2))
    how = source.choice(("stores", "stores", "copies", "bulk", "bulk"))
    stages = source.choice((1, 2, 2, 3, 4))
    elects, leaves, has_tail = (source.random() < chance for chance in (0.5, 0.2, 0.2))
    Ring(pipeline, warps, stages, producers, how, elects, trips_of(pipeline), leaves, has_tail).write()
    more = {word for word, is_there in (("elects", elects), ("leaves", leaves), ("tail", has_tail)) if is_there}
    return {f"ring of {how}", f"{stages} stages", *more}


def named(pipeline: Pipeline, warps: int) -> set[str]:
    """Producers and consumers with named barriers: one for full and one for empty, or by stage."""
    source, threads = pipeline.source, 32 * warps
    stages = source.choice((1, 2))
    trips = trips_of(pipeline)
    words = threads - 32
    in_register = source.random() < 0.4
    lines: dict[str, int] = {}
    for role in ("producer", "consumer"):
        lines[f"full of {role}"] = pipeline.number(f"threads at full ({role})", threads, threads - 32, threads + 32)
        lines[f"empty of {role}"] = pipeline.number(f"threads at empty ({role})", threads, threads - 32)
    consumer, end = pipeline.label(), pipeline.label()
    pipeline.put(f"@{pipeline.test('ge.u32 %r2, 1')} bra {consumer};")
    for role in ("producer", "consumer"):
        if role == "consumer":
            pipeline.put(f"bra {end};", f"{consumer}:")
            # The stages are empty at first.
            for stage in range(stages):
                pipeline.do("the first arrive", f"bar.arrive {8 + stage}, {lines['empty of consumer']};")
        with pipeline.loop(trips) as (count, _):
            stage = pipeline.register(f"and.b32 {count}, {stages - 1}")
            base = pipeline.register(f"mad.lo.u32 {stage}, {4 * words}, %r4")
            if in_register or stages > 1:
                full = pipeline.register(f"add.u32 {stage}, {pipeline.number(f'full of {role}', 1, 4)}")
                empty = pipeline.register(f"add.u32 {stage}, 8")
            else:
                full, empty = str(pipeline.number(f"full of {role}", 1, 4)), "8"
            if role == "producer":
                pipeline.do("the wait for empty", f"bar.sync {empty}, {lines['empty of producer']};")
                place = pipeline.register(f"mad.lo.u32 %r0, 4, {base}")
                for part in range(0, words, 32):
                    pipeline.put(f"st.shared.u32 [{place}+{4 * part}], {count};")
                pipeline.put(f"bar.arrive {full}, {lines['full of producer']};")
            else:
                pipeline.do("the wait for full", f"bar.sync {full}, {lines['full of consumer']};")
                mine = pipeline.register(f"sub.u32 {threads - 1}, %r0")
                place = pipeline.register(f"mad.lo.u32 {mine}, 4, {base}")
                pipeline.put(f"ld.shared.u32 %r9, [{place}];")
                last = pipeline.test(f"ge.u32 {pipeline.register(f'add.u32 {count}, {stages}')}, {trips}")
                pipeline.do("the arrive at empty", f"@!{last} bar.arrive {empty}, {lines['empty of consumer']};")
    pipeline.put(f"{end}:")
    return {"named barriers", f"{stages} stages"}


def groups(pipeline: Pipeline, warps: int) -> set[str]:
    """Two sets of warps, each with its own named barrier, and then all together: at one place, or at two."""
    half, has_two_places = 32 * (warps // 2), pipeline.source.random() < 0.4
    over, end = pipeline.label(), pipeline.label()
    trips = trips_of(pipeline)
    own = pipeline.register("mad.lo.u32 %r0, 4, %r4")
    pipeline.put(f"@{pipeline.test(f'ge.u32 %r0, {half}')} bra {over};")
    ids = (1, pipeline.number("the second id", 2, 1))
    for which, (number, size) in enumerate(zip(ids, (half, 32 * warps - half), strict=True)):
        if which:
            pipeline.put(f"bra {end};", f"{over}:")
        threads = pipeline.number(f"threads of set {which}", size, size + 32)
        with pipeline.loop(trips) as (count, out):
            pipeline.put(f"st.shared.u32 [{own}], {count};")
            pipeline.do("the barrier behind the write", f"bar.sync {number}, {threads};")
            other = pipeline.register(f"xor.b32 {own}, {4 if size == 32 or pipeline.source.random() < 0.5 else 64}")
            pipeline.put(f"ld.shared.u32 %r9, [{other}];")
            pipeline.do("the barrier behind the read", f"bar.sync {number}, {threads};")
            if pipeline.source.random() < 0.4:
                pipeline.put(f"@{pipeline.test(f'eq.u32 {count}, 2')} bra {out};")
        if has_two_places:
            pipeline.do(f"the barrier of all in set {which}", f"bar.sync 15, {32 * warps};")
    pipeline.put(f"{end}:")
    if not has_two_places:
        pipeline.do("the barrier of all", "bar.sync 0;")
    pipeline.put(f"xor.b32 %r9, {own}, 128;" if pipeline.source.random() < 0.5 else f"xor.b32 %r9, {own}, 4;")
    pipeline.put("ld.shared.u32 %r10, [%r9];")
    return {"two sets of warps", *(["a barrier at two places"] if has_two_places else [])}


def stored(pipeline: Pipeline, warps: int) -> set[str]:
    """A buffer that is written, stored by a bulk copy, and written again."""
    trips, size = trips_of(pipeline), 128 * warps
    stages = pipeline.source.choice((1, 2))
    place = pipeline.register("mad.lo.u32 %r0, 4, %r4")
    with pipeline.loop(trips) as (count, _):
        stage = pipeline.register(f"and.b32 {count}, {stages - 1}")
        here = pipeline.register(f"mad.lo.u32 {stage}, {size}, {place}")
        base = pipeline.register(f"mad.lo.u32 {stage}, {size}, %r4")
        reads = pipeline.source.choice((".read", ".read", ""))
        waited = pipeline.number("groups", stages - 1, stages)
        pipeline.do("the wait for the source", f"@%p0 cp.async.bulk.wait_group{reads} {waited};")
        pipeline.do("the barrier before the write", "bar.sync 0;")
        pipeline.put(f"st.shared.u32 [{here}], {count};")
        pipeline.do("the proxy fence", "fence.proxy.async.shared::cta;")
        pipeline.do("the barrier behind the write", "bar.sync 0;")
        if pipeline.source.random() < 0.3:
            pipeline.put("@%p0 fence.proxy.async;")
        pipeline.put(f"@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d1], [{base}], {size};")
        pipeline.do("the commit", "@%p0 cp.async.bulk.commit_group;")
    return {"bulk store", f"{stages} stages"}


def masks(pipeline: Pipeline, warps: int) -> set[str]:
    """Parts of warps that exchange words behind barriers of their masks."""
    size = pipeline.source.choice((2, 8, 16))
    own = pipeline.register("mad.lo.u32 %r0, 4, %r4")
    group = pipeline.register(f"and.b32 %r3, {32 - size}")
    ones = (1 << size) - 1
    mask = pipeline.register(f"shl.b32 {pipeline.register(f'mov.u32 {ones}')}, {group}")
    with pipeline.loop(trips_of(pipeline)) as (count, _):
        pipeline.put(f"st.shared.u32 [{own}], {count};")
        pipeline.do("the barrier behind the write", f"bar.warp.sync {mask};")
        partner = pipeline.number("partner", 4 * (size // 2), 4 * size if size < 32 else 128)
        pipeline.put(f"xor.b32 %r9, {own}, {partner};", "ld.shared.u32 %r10, [%r9];")
        pipeline.do("the barrier behind the read", f"bar.warp.sync {mask};")
    return {"masks", f"{warps} warps"}


def loops(pipeline: Pipeline, warps: int) -> set[str]:
    """A loop with barriers of the block that is left early, and a loop behind it in the same memory."""
    own = pipeline.register("mad.lo.u32 %r0, 4, %r4")
    count, head, out = pipeline.register("mov.u32 0"), pipeline.label(), pipeline.label()
    two, early = pipeline.source.random() < 0.5, pipeline.source.random() < 0.5
    trips = trips_of(pipeline)
    place, other = own, pipeline.register(f"xor.b32 {own}, {pipeline.source.choice((4, 128))}")
    pipeline.put(f"{head}:")
    pipeline.put(f"@{pipeline.test(f'ge.u32 {count}, {trips}')} bra {out};")
    if two:
        odd = pipeline.register(f"and.b32 {count}, 1")
        place, other = (pipeline.register(f"mad.lo.u32 {odd}, 512, {at}") for at in (own, other))
    pipeline.put(f"st.shared.u32 [{place}], {count};")
    pipeline.do("the barrier behind the write", "bar.sync 0;")
    leaves = f"@{pipeline.test(f'eq.u32 {count}, {pipeline.source.choice((0, 1, 2))}')} bra {out};"
    if pipeline.is_wrong("each thread leaves by itself"):
        leaves = f"@{pipeline.test(f'eq.u32 {count}, %r3')} bra {out};"
    if early:
        pipeline.put(leaves)
    pipeline.put(f"ld.shared.u32 %r9, [{other}];")
    if not early:
        pipeline.put(leaves)
    if not two:
        pipeline.do("the barrier behind the read", "bar.sync 0;")
    pipeline.put(f"add.u32 {count}, {count}, 1;", f"bra {head};", f"{out}:")
    pipeline.do("the barrier before the tail", "bar.sync 0;")
    tail(pipeline)
    return {"loop left early", f"{warps} warps"}


KINDS = (ring, ring, ring, ring, named, named, groups, stored, masks, loops, products, products)


def drawn(seed: int, mistake: int) -> tuple[Pipeline, set[str], tuple[int, int, int]]:
    """The kernel of a seed with a mistake, by its place; -1 makes none."""
    source = random.Random(seed)
    block = source.choice(SHAPES)
    kind = source.choice(KINDS)
    if kind is products:
        block = source.choice(WARPGROUPS)
    pipeline = Pipeline(source, mistake)
    return pipeline, kind(pipeline, block[0] // 32), block


def pipeline(seed: int) -> Kernel:
    """The random kernel of a seed: right in one case of three, else with one mistake."""
    return with_mistake(seed, drawn, lambda draw: draw > 0.35)

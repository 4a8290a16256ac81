"""Random kernels of two warpgroups that hand tiles to each other, right or with one mistake.

They have 256 threads that wait for each other, which the interpreter takes minutes for. So each mistake that can be
made here lets something race, or leaves an arrival out.
"""

from __future__ import annotations

import random

from .pipeline_pieces import HEAD, Pipeline
from .random_products import ACCUMULATORS, DESCRIPTOR, FRAGMENT, TILE


class Exchange:
    """Two warpgroups: the first writes two tiles in turn, the second multiplies them, or both do.

    They hand the tiles to each other by named barriers or by objects.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        source = pipeline.source
        self.pipeline = pipeline
        self.by = source.choice(("names", "objects"))
        self.waits = source.choice(("all", "lanes"))
        self.both = source.random() < 0.5
        """The first warpgroup multiplies its tile, too."""
        self.stores = source.random() < 0.3
        """The first thread of the second warpgroup stores the tile to global memory, too."""
        self.frees = source.choice(("one", "lanes", "all"))
        self.trips = source.choice(("2", "3", "%r1"))

    def write(self) -> None:
        """The whole."""
        pipeline = self.pipeline
        pipeline.put(f".shared .align 128 .b8 t[{2 * TILE}];", ".reg .f32 %f<9>;", "mov.u32 %r7, t;", "mov.u32 %r9, 0;")
        if self.by == "objects":
            self.make()
        second, end = pipeline.label(), pipeline.label()
        pipeline.put(f"@{pipeline.test('ge.u32 %r2, 4')} bra {second};")
        self.loop(first=True)
        pipeline.put(f"bra {end};", f"{second}:")
        self.loop(first=False)
        pipeline.put(f"{end}:")

    def make(self) -> None:
        """Thread 0 makes the objects of both tiles."""
        pipeline = self.pipeline
        free = {"one": 1, "lanes": 4, "all": 128}[self.frees]
        free = pipeline.number("arrivals at empty", free, *((free - 1,) if free > 1 else (2,)))
        for at in (0, 1):
            pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r5+{8 * at}], 128;")
            pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r6+{8 * at}], {free};")
        pipeline.do("the barrier behind init", "bar.sync 0;")

    def loop(self, *, first: bool) -> None:
        pipeline = self.pipeline
        with pipeline.loop(self.trips) as (count, _):
            stage = pipeline.register(f"and.b32 {count}, 1")
            parity = pipeline.register(f"and.b32 {pipeline.register(f'shr.u32 {count}, 1')}, 1")
            offset = pipeline.register(f"shl.b32 {stage}, 3")
            full, empty = (pipeline.register(f"add.u32 {base}, {offset}") for base in ("%r5", "%r6"))
            tile = pipeline.register(f"mad.lo.u32 {stage}, {TILE}, %r7")
            (self.fill if first else self.use)(tile, full, empty, parity)

    def wait(self, what: str, place: str, parity: str) -> None:
        """All wait for an object, or one lane of each warp, or, by mistake, the first warp alone."""
        pipeline, past = self.pipeline, self.pipeline.label()
        one = pipeline.is_wrong(f"one warp waits for {what}")
        lanes = self.waits == "lanes"
        if one:
            warp = pipeline.register("and.b32 %r2, 3")
            pipeline.put(f"@{pipeline.test(f'ne.u32 {warp}, 0')} bra {past};")
        elif lanes:
            pipeline.put(f"@!%p1 bra {past};")
        if not pipeline.is_wrong(f"without the wait for {what}"):
            pipeline.wait(place, parity)
        pipeline.put(f"{past}:")
        if lanes:
            pipeline.do(f"the barrier of a warp behind {what}", "bar.warp.sync -1;")

    def multiply(self, tile: str) -> None:
        pipeline = self.pipeline
        units = pipeline.register(f"shr.u32 {tile}, 4")
        pipeline.put(f"cvt.u64.u32 %d2, {units};", f"or.b64 %d2, %d2, {DESCRIPTOR};", "wgmma.fence.sync.aligned;")
        pipeline.put(f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {ACCUMULATORS}, {FRAGMENT}, %d2, 1, 1, 1, 0;")
        pipeline.put("wgmma.commit_group.sync.aligned;")
        pipeline.do("the wait for the product", "wgmma.wait_group.sync.aligned 0;")

    def fill(self, tile: str, full: str, empty: str, parity: str) -> None:
        """Wait for an empty tile, write it, and hand it on."""
        pipeline = self.pipeline
        if self.by == "objects":
            self.wait("empty", empty, pipeline.register(f"xor.b32 {parity}, 1"))
        else:
            pipeline.do("the barrier before the writes", "bar.sync 4, 256;")
        pipeline.put(f"st.shared.u16 [{pipeline.register(f'mad.lo.u32 %r0, 2, {tile}')}], 1;")
        fence = "fence.proxy.async.shared::cta;"
        is_late = pipeline.is_wrong("the fence is late")
        if not is_late:
            pipeline.do("the fence", fence)
        if self.both:
            pipeline.do("the barrier of the warpgroup", "bar.sync 3, 128;")
            self.multiply(tile)
        if self.by == "objects":
            pipeline.put(f"mbarrier.arrive.shared::cta.b64 _, [{full}];")
        else:
            pipeline.do("the arrive behind the writes", "bar.arrive 5, 256;")
        if is_late:
            pipeline.put(fence)

    def use(self, tile: str, full: str, empty: str, parity: str) -> None:
        """Wait for a full tile, multiply it, and give it back."""
        pipeline = self.pipeline
        if self.by == "objects":
            self.wait("full", full, parity)
        else:
            pipeline.do("the arrive before the writes", "bar.arrive 4, 256;")
            pipeline.do("the barrier behind the writes", "bar.sync 5, 256;")
        is_early = self.by == "objects" and pipeline.is_wrong("gives a tile back before the product")
        if is_early:
            self.free(empty)
        self.multiply(tile)
        if self.stores:
            one = pipeline.test("eq.u32 %r0, 128")
            pipeline.put(f"@{one} cp.async.bulk.global.shared::cta.bulk_group [%d1], [{tile}], {TILE};")
            pipeline.do("the commit of the store", f"@{one} cp.async.bulk.commit_group;")
            pipeline.do("the wait for the store", f"@{one} cp.async.bulk.wait_group.read 0;")
        if self.by == "objects" and not is_early:
            self.free(empty)

    def free(self, empty: str) -> None:
        pipeline = self.pipeline
        one = "%p1" if self.frees == "lanes" else pipeline.test("eq.u32 %r0, 128")
        guard = "" if self.frees == "all" else f"@{one} "
        pipeline.do("the arrive at empty", f"{guard}mbarrier.arrive.shared::cta.b64 _, [{empty}];")


def exchange(seed: int, mistake: int) -> tuple[str, list[str]]:
    """The kernel of a seed with a mistake by its place, -1 for none; and all mistakes that it can have."""
    pipeline = Pipeline(random.Random(f"exchange {seed}"), mistake)
    Exchange(pipeline).write()
    return HEAD + "\n".join(pipeline.lines) + "\nret;\n}\n", pipeline.chances

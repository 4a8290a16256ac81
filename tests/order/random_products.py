"""Random small kernels in which `wgmma` reads what copies, boxes of tensor maps or stores bring.

A warpgroup multiplies; another warp fills the stages. The operand B has 256 bytes: 8 rows of 16 elements. In a
kernel of one warpgroup alone, all threads do both.
"""

from __future__ import annotations

from .pipeline_pieces import Pipeline

WARPGROUPS = ((160, 1, 1), (160, 1, 1), (256, 1, 1), (128, 1, 1))
TILE = 256
DESCRIPTOR = 128 // 16 << 16 | 256 // 16 << 32
"""No swizzle; the two halves of K lie 128 bytes apart."""
ACCUMULATORS = "{%f1, %f2, %f3, %f4}"
FRAGMENT = "{%r9, %r9, %r9, %r9}"


def box(size: int) -> str:
    """A copy of a box of a tensor map with so many bytes, as `untensored` finds it."""
    return f"// box of {size}"


class Stages:
    """A ring of tiles, with a barrier object for full and one for empty of each."""

    def __init__(self, pipeline: Pipeline, warps: int) -> None:
        source = pipeline.source
        self.pipeline, self.warps = pipeline, warps
        self.first_of_producer = 0 if warps == 8 else 4
        self.first_of_consumer = 4 if warps == 8 else 0
        self.stages = source.choice((1, 2, 2, 3))
        self.how = source.choice(("tensor", "tensor", "bulk", "stores", "stores"))
        self.arrives = source.choice(("all", "one", "lanes"))
        self.is_late = self.stages > 1 and source.random() < 0.4
        """The stage before is given back while a product runs."""
        self.trips = source.choice(("2", "3", "4", "%r1", "%r1"))
        self.room = self.stages * TILE
        self.is_fenced_by_reader = self.how == "stores" and source.random() < 0.5
        """The warpgroup that multiplies executes the fence of the proxies behind its wait."""

    def write(self) -> None:
        """The whole."""
        pipeline = self.pipeline
        pipeline.put(f".shared .align 128 .b8 t[{self.room}];", ".reg .f32 %f<9>;", "mov.u32 %r7, t;")
        pipeline.put("mov.u32 %r9, 0;")
        full = {"tensor": 1, "bulk": 1, "stores": 32}[self.how]
        empty = {"all": 128, "one": 1, "lanes": 4}[self.arrives]
        full = pipeline.number("arrivals at full", full, full + 1)
        empty = pipeline.number("arrivals at empty", empty, empty + 1, *((empty - 1,) if empty > 1 else ()))
        for stage in range(self.stages):
            pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r5+{8 * stage}], {full};")
            pipeline.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r6+{8 * stage}], {empty};")
        pipeline.do("the barrier behind init", "bar.sync 0;")
        consumer, end = pipeline.label(), pipeline.label()
        first = self.first_of_producer
        is_producer = pipeline.test(f"eq.u32 %r2, {first}")
        pipeline.put(f"@!{is_producer} bra {consumer};")
        if self.how != "stores":
            lane = pipeline.test("ne.u32 %r3, 0")
            pipeline.put(f"@{lane} bra {end};")
        self.loop("producer")
        pipeline.put(f"bra {end};", f"{consumer}:")
        low = pipeline.test(f"lt.u32 %r2, {self.first_of_consumer}")
        pipeline.put(f"@{low} bra {end};")
        self.loop("consumer")
        pipeline.put(f"{end}:")

    def loop(self, role: str) -> None:
        pipeline = self.pipeline
        with pipeline.loop(self.trips) as (count, _):
            stage, parity = self.stage_and_parity(count)
            (self.produce if role == "producer" else self.consume)(stage, parity, count)
        if role == "consumer" and self.is_late:
            pipeline.put("wgmma.wait_group.sync.aligned 0;")

    def stage_and_parity(self, count: str) -> tuple[str, str]:
        pipeline = self.pipeline
        stage = pipeline.register(f"rem.u32 {count}, {self.stages}")
        around = pipeline.register(f"div.u32 {count}, {self.stages}")
        return stage, pipeline.register(f"and.b32 {around}, 1")

    def place(self, base: str, stage: str) -> str:
        offset = self.pipeline.register(f"shl.b32 {stage}, 3")
        return self.pipeline.register(f"add.u32 {base}, {offset}")

    def produce(self, stage: str, parity: str, count: str) -> None:
        """Wait for an empty stage, fill it, and tell the consumers."""
        pipeline = self.pipeline
        full, empty = self.place("%r5", stage), self.place("%r6", stage)
        other = pipeline.register(f"xor.b32 {parity}, 1")
        if not pipeline.is_wrong("without the wait for empty"):
            pipeline.wait(empty, parity if pipeline.is_wrong("parity of empty") else other)
        if pipeline.is_wrong("a stage further"):
            stage = pipeline.register(f"rem.u32 {pipeline.register(f'add.u32 {stage}, 1')}, {max(2, self.stages)}")
        base = pipeline.register(f"mad.lo.u32 {stage}, {TILE}, %r7")
        if self.how == "stores":
            place = pipeline.register(f"mad.lo.u32 %r3, 8, {base}")
            pipeline.put(f"st.shared.v2.u32 [{place}], {{{count}, {count}}};")
            fence = "fence.proxy.async.shared::cta;"
            late = not self.is_fenced_by_reader and pipeline.is_wrong("the fence behind the arrival")
            if not late and not self.is_fenced_by_reader:
                pipeline.do("the fence", fence)
            pipeline.put(f"mbarrier.arrive.shared::cta.b64 _, [{full}];")
            if late:
                pipeline.put(fence)
            return
        expected = pipeline.number("bytes", TILE, TILE // 2, 2 * TILE)
        pipeline.put(f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{full}], {expected};")
        copy = f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{base}], [%d1], {TILE}, [{full}];"
        if self.how == "tensor":
            opcode = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
            copy = f"{opcode} [{base}], [%d1, {{{count}, {count}}}], [{full}]; {box(TILE)}"
        pipeline.put(copy)

    def consume(self, stage: str, parity: str, count: str) -> None:
        """Wait for a full stage, multiply it, and give it back."""
        pipeline = self.pipeline
        full = self.place("%r5", stage)
        fence = self.fence_of_reader()
        is_early = bool(fence) and pipeline.is_wrong("the fence before the wait for full")
        pipeline.put(*(fence if is_early else ()))
        if not pipeline.is_wrong("without the wait for full"):
            other = pipeline.register(f"xor.b32 {parity}, 1")
            pipeline.wait(full, other if pipeline.is_wrong("parity of full") else parity)
        if fence and not is_early:
            pipeline.do("the fence of who multiplies", *fence)
        base = pipeline.register(f"mad.lo.u32 {stage}, {TILE}, %r7")
        units = pipeline.register(f"shr.u32 {base}, 4")
        pipeline.put(f"cvt.u64.u32 %d2, {units};", f"or.b64 %d2, %d2, {DESCRIPTOR};")
        early = pipeline.is_wrong("gives the stage back before the product")
        if early:
            self.release(stage, count)
        pipeline.put("wgmma.fence.sync.aligned;")
        pipeline.put(f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {ACCUMULATORS}, {FRAGMENT}, %d2, 1, 1, 1, 0;")
        pipeline.do("the commit", "wgmma.commit_group.sync.aligned;")
        right = 1 if self.is_late else 0
        left = pipeline.number("groups", right, right + 1)
        pipeline.do("the wait for the product", f"wgmma.wait_group.sync.aligned {left};")
        if not early:
            self.release(stage, count)

    def fence_of_reader(self) -> tuple[str, ...]:
        """The fence of who multiplies, or that of some of these alone; none if who writes executes it."""
        if not self.is_fenced_by_reader:
            return ()
        return fence_of_some(self.pipeline, self.first_of_consumer)

    def release(self, stage: str, count: str) -> None:
        """Arrive at empty of the stage, or of the one before it if products run one trip later."""
        pipeline = self.pipeline
        skip = pipeline.label()
        if self.is_late:
            pipeline.put(f"@{pipeline.test(f'eq.u32 {count}, 0')} bra {skip};")
            before = pipeline.register(f"sub.u32 {count}, 1")
            stage = pipeline.register(f"rem.u32 {before}, {self.stages}")
        empty = self.place("%r6", stage)
        arrive = f"mbarrier.arrive.shared::cta.b64 _, [{empty}];"
        if self.arrives == "one":
            one = pipeline.test(f"eq.u32 %r0, {32 * self.first_of_consumer}")
            arrive = f"@{one} {arrive}"
        elif self.arrives == "lanes":
            arrive = f"@%p1 {arrive}"
        pipeline.do("the arrive at empty", arrive)
        pipeline.put(f"{skip}:")


def fence_of_some(pipeline: Pipeline, first_warp: int) -> tuple[str, ...]:
    """A fence of all threads of a warpgroup; of one warp, or of one lane of each warp, if that is the mistake."""
    fence = "fence.proxy.async.shared::cta;"
    if pipeline.is_wrong("the fence of one warp"):
        return (f"@{pipeline.test(f'eq.u32 %r2, {first_warp}')} {fence}",)
    return (f"@%p1 {fence}" if pipeline.is_wrong("the fence of one lane of each warp") else fence,)


def epilogue(pipeline: Pipeline) -> None:
    """All threads fill a tile, multiply it, and fill it again."""
    count, head, out = pipeline.register("mov.u32 0"), pipeline.label(), pipeline.label()
    pipeline.put(f".shared .align 128 .b8 t[{TILE * 2}];", ".reg .f32 %f<9>;", "mov.u32 %r7, t;", "mov.u32 %r9, 0;")
    place = pipeline.register("mad.lo.u32 %r0, 2, %r7")
    units = pipeline.register("shr.u32 %r7, 4")
    pipeline.put(f"cvt.u64.u32 %d2, {units};", f"or.b64 %d2, %d2, {DESCRIPTOR};", f"{head}:")
    pipeline.put(f"@{pipeline.test(f'ge.u32 {count}, 3')} bra {out};")
    pipeline.put(f"st.shared.u16 [{place}], 1;")
    is_behind = pipeline.source.random() < 0.5
    late = not is_behind and pipeline.is_wrong("the fence behind the barrier of one warp")
    if not late and not is_behind:
        pipeline.do("the fence", "fence.proxy.async;")
    pipeline.do("the barrier behind the write", "bar.sync 0;")
    if is_behind:
        pipeline.do("the fence behind the barrier", *fence_of_some(pipeline, 0))
    if late:
        first = pipeline.test("eq.u32 %r2, 9")
        pipeline.put(f"@{first} fence.proxy.async;")
    pipeline.put("wgmma.fence.sync.aligned;")
    pipeline.put(f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {ACCUMULATORS}, {FRAGMENT}, %d2, 1, 1, 1, 0;")
    pipeline.put("wgmma.commit_group.sync.aligned;")
    pipeline.do("the wait for the product", "wgmma.wait_group.sync.aligned 0;")
    if pipeline.source.random() < 0.5:
        pipeline.do("the barrier behind the product", "bar.sync 0;")
    pipeline.put(f"add.u32 {count}, {count}, 1;", f"bra {head};", f"{out}:")


def products(pipeline: Pipeline, warps: int) -> set[str]:
    """A ring of tiles, or one tile of a warpgroup."""
    if warps == 4:
        epilogue(pipeline)
        return {"product of one warpgroup"}
    ring = Stages(pipeline, warps)
    ring.write()
    late = {"late release"} if ring.is_late else set()
    return {f"product of {ring.how}", f"{ring.stages} stages", f"{ring.arrives} arrive", *late}

"""Random small kernels in which copies and objects are used in more ways than in `random_pipelines`.

Several copies bring the bytes of one phase, which are announced before, behind or between them. Stages are refilled by
the threads that read them, changed in place, or stored to global memory. Warps take turns as producers, or have an
object each. Stages and phases are counted in registers or computed from the trip. Words are read by other threads than
by those that wrote them.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from .pipeline_pieces import HEAD, Pipeline
from .random_kernels import Kernel

LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.global.shared::cta.bulk_group"
FENCE = "fence.proxy.async.shared::cta;"
ALL = "bar.sync 0;"
WARP = "bar.warp.sync -1;"


class Writer(Pipeline):
    """Writes one kernel of some warps; each stage has a word for each thread."""

    def __init__(self, source: random.Random, warps: int) -> None:
        super().__init__(source)
        self.warps, self.threads, self.size = warps, 32 * warps, 128 * warps

    def one(self, *values: str) -> str:
        return self.source.choice(values)

    def number_of(self, *values: int) -> int:
        return self.source.choice(values)

    def happens(self, chance: float) -> bool:
        return self.source.random() < chance

    def trips(self) -> str:
        return self.one("2", "3", "4", "%r1", "%r1")

    def loop(self, body: Callable[[str], None], trips: str) -> None:
        """A loop with the test before the body, or behind it."""
        count, head, end = self.register("mov.u32 0"), self.label(), self.label()
        is_tested_last = trips != "%r1" and self.happens(0.3)
        self.put(f"{head}:")
        if not is_tested_last:
            self.put(f"@{self.test(f'ge.u32 {count}, {trips}')} bra {end};")
        body(count)
        self.put(f"add.u32 {count}, {count}, 1;")
        self.put(f"@{self.test(f'lt.u32 {count}, {trips}')} bra {head};" if is_tested_last else f"bra {head};")
        self.put(f"{end}:")

    def stage_of(self, count: str, stages: int) -> tuple[str, str]:
        """The stage of a trip, and the parity of its phase."""
        around = self.register(f"div.u32 {count}, {stages}")
        return self.register(f"rem.u32 {count}, {stages}"), self.register(f"and.b32 {around}, 1")

    def counted(self, stages: int, phase: int) -> tuple[str, str, Callable[[], None]]:
        """A stage and its parity in registers, and what makes them those of the next trip."""
        stage, parity = self.register("mov.u32 0"), self.register(f"mov.u32 {phase}")

        def step() -> None:
            self.put(f"add.u32 {stage}, {stage}, 1;")
            is_last = self.test(f"eq.u32 {stage}, {stages}")
            if self.happens(0.5):
                self.put(f"@{is_last} mov.u32 {stage}, 0;", f"@{is_last} xor.b32 {parity}, {parity}, 1;")
            else:
                self.put(f"selp.u32 {stage}, 0, {stage}, {is_last};")
                turn = self.register(f"selp.u32 1, 0, {is_last}")
                self.put(f"xor.b32 {parity}, {parity}, {turn};")

        return stage, parity, step

    def place(self, stage: str, base: str = "%r4", size: int = 0) -> str:
        """The start of a stage."""
        return self.register(f"mad.lo.u32 {stage}, {size or self.size}, {base}")

    def object(self, stage: str, base: str) -> str:
        return self.register(f"mad.lo.u32 {stage}, 8, {base}")

    def word(self, base: str, thread: str = "%r0") -> str:
        """A thread's own word of a stage, or that of another thread."""
        kind = self.source.randrange(4)
        if kind == 0:
            thread = self.register(f"xor.b32 {thread}, {self.number_of(1, 2, 8, 16)}")
        elif kind == 1 and thread == "%r0":
            thread = self.register(f"sub.u32 {self.threads - 1}, %r0")
        return self.register(f"mad.lo.u32 {thread}, 4, {base}")

    def touch(self, base: str, value: str = "") -> None:
        """A word is written if there is a value, and else read."""
        place = self.word(base)
        self.put(f"st.shared.u32 [{place}], {value};" if value else f"ld.shared.u32 %r9, [{place}];")

    def make(self, full: int, empty: int, stages: int) -> None:
        for at in range(stages):
            self.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r5+{8 * at}], {full};")
            self.put(f"@%p0 mbarrier.init.shared::cta.b64 [%r6+{8 * at}], {empty};")
        self.put(ALL)

    def arrive(self, place: str, guard: str = "") -> None:
        self.put(f"{guard}mbarrier.arrive.shared::cta.b64 _, [{place}];")

    def load(self, base: str, full: str, size: int, parts: int) -> None:
        """Copies that bring the bytes of a phase, and the announcement of these bytes."""
        announce = f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{full}], "
        part = size // parts
        copies = [
            f"{LOAD} [{self.register(f'add.u32 {base}, {at * part}')}], [%d1], {part}, [{full}];" for at in range(parts)
        ]
        match self.one("first", "first", "apart", "last", "in pieces"):
            case "first":
                self.put(f"{announce}{size};", *copies)
            case "apart":
                self.put(f"mbarrier.expect_tx.shared::cta.b64 [{full}], {size};", *copies)
                self.arrive(full)
            case "last":
                self.put(*copies, f"{announce}{size};")
            case _:
                for copy in copies[:-1]:
                    self.put(f"mbarrier.expect_tx.shared::cta.b64 [{full}], {part};", copy)
                self.put(f"{announce}{part};", copies[-1])

    def store(self, guard: str, base: str, size: int, left: int) -> None:
        """A copy to global memory, and a wait for all but the last groups."""
        self.put(f"{guard}{STORE} [%d1], [{base}], {size};", f"{guard}cp.async.bulk.commit_group;")
        self.put(f"{guard}cp.async.bulk.wait_group{self.one('.read', '.read', '')} {left};")

    def give_back(self, empty: str, *, elects: bool) -> None:
        if elects:
            self.put(WARP)
        self.arrive(empty, "@%p1 " if elects else "")

    def producer(self, stages: int, trips: str, size: int) -> tuple[str, str]:
        """Thread 0 fills the stages; give the labels of the others and of the end."""
        others, end = self.label(), self.label()
        self.put(f"@{self.test('ge.u32 %r2, 1')} bra {others};", f"@!%p0 bra {end};")
        stage, parity, step = self.counted(stages, 1)

        def fill(_count: str) -> None:
            self.wait(self.object(stage, "%r6"), parity)
            self.load(self.place(stage, size=size), self.object(stage, "%r5"), size, self.number_of(1, 2))
            step()

        self.loop(fill, trips)
        self.put(f"bra {end};", f"{others}:")
        return others, end


def refilled(writer: Writer) -> None:
    """All threads read a stage, and one of them fills it again."""
    stages, parts = writer.number_of(1, 2, 3), writer.number_of(1, 1, 2, 4)
    by_object, trips = writer.happens(0.6), writer.trips()
    writer.make(1, writer.threads, stages)
    lead = "%p0" if writer.happens(0.7) else writer.test(f"eq.u32 %r0, {writer.threads - 27}")
    skip, first = writer.label(), writer.number_of(stages, stages, max(1, stages - 1))
    writer.put(f"@!{lead} bra {skip};")
    for at in range(first):
        writer.put(f"@{writer.test(f'le.u32 {trips}, {at}')} bra {skip};")
        base, full = (writer.register(f"add.u32 {each}") for each in (f"%r4, {at * writer.size}", f"%r5, {8 * at}"))
        writer.load(base, full, writer.size, parts)
    writer.put(f"{skip}:")

    def body(count: str) -> None:
        stage, parity = writer.stage_of(count, stages)
        writer.wait(writer.object(stage, "%r5"), parity)
        writer.touch(writer.place(stage))
        if by_object:
            writer.arrive(writer.object(stage, "%r6"))
        else:
            writer.put(ALL)
        later, past = writer.register(f"add.u32 {count}, {first}"), writer.label()
        writer.put(f"@!{lead} bra {past};", f"@{writer.test(f'ge.u32 {later}, {trips}')} bra {past};")
        stage, parity = writer.stage_of(later, stages)
        if by_object:
            writer.wait(writer.object(stage, "%r6"), writer.register(f"xor.b32 {parity}, 1"))
        writer.load(writer.place(stage), writer.object(stage, "%r5"), writer.size, parts)
        writer.put(f"{past}:")

    writer.loop(body, trips)


def in_place(writer: Writer) -> None:
    """Consumers change a stage in place, or store it to global memory, before they give it back."""
    stages, trips, readers = writer.number_of(1, 2, 3), writer.trips(), writer.warps - 1
    elects, writes, stores = writer.happens(0.5), writer.happens(0.5), writer.happens(0.5)
    size = 128 * readers
    writer.make(1, 1 if stores else readers if elects else 32 * readers, stages)
    _, end = writer.producer(stages, trips, size)
    stage, parity, step = writer.counted(stages, 0)
    thread, lead = writer.register("sub.u32 %r0, 32"), writer.test("eq.u32 %r0, 32")

    def body(count: str) -> None:
        writer.wait(writer.object(stage, "%r5"), parity)
        base, empty = writer.place(stage, size=size), writer.object(stage, "%r6")
        place = writer.word(base, thread)
        writer.put(f"ld.shared.u32 %r9, [{place}];")
        if writes:
            writer.put(f"st.shared.u32 [{place}], {count};", FENCE)
        if stores:
            writer.put(f"bar.sync 2, {32 * readers};")
            writer.store(f"@{lead} ", base, size, 0)
            writer.arrive(empty, f"@{lead} ")
        else:
            writer.give_back(empty, elects=elects)
        step()

    writer.loop(body, trips)
    writer.put(f"{end}:")


def portions(writer: Writer) -> None:
    """Each warp copies its part of a stage, and thread 0 announces all of it."""
    stages, trips, by_object = writer.number_of(1, 2), writer.trips(), writer.happens(0.5)
    writer.make(1, writer.threads, stages)
    stage, parity, step = writer.counted(stages, 0)

    def body(_count: str) -> None:
        base, full, empty = writer.place(stage), writer.object(stage, "%r5"), writer.object(stage, "%r6")
        if by_object:
            writer.wait(empty, writer.register(f"xor.b32 {parity}, 1"))
        else:
            writer.put(ALL)
        writer.put(f"@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [{full}], {writer.size};")
        mine = writer.register(f"mad.lo.u32 %r2, 128, {base}")
        writer.put(f"@%p1 {LOAD} [{mine}], [%d1], 128, [{full}];")
        writer.wait(full, parity)
        writer.touch(base)
        if by_object:
            writer.arrive(empty)
        step()

    writer.loop(body, trips)


def meetings(writer: Writer) -> None:
    """An object at which all threads meet, with the states of their arrivals or with parities."""
    by_state, trips, two = writer.happens(0.5), writer.trips(), writer.happens(0.5)
    writer.make(writer.threads, writer.threads, 1)
    parity = writer.register("mov.u32 0")

    def meet(place: str) -> None:
        if not by_state:
            writer.arrive(place)
            writer.wait(place, parity)
            return
        head, answer = writer.label(), writer.test("eq.u32 %r0, 0")
        writer.put(f"mbarrier.arrive.shared::cta.b64 %d3, [{place}];", f"{head}:")
        writer.put(f"mbarrier.try_wait.shared::cta.b64 {answer}, [{place}], %d3;", f"@!{answer} bra {head};")

    def body(count: str) -> None:
        base = "%r4" if two else writer.place(writer.register(f"and.b32 {count}, 1"))
        writer.touch(base, count)
        meet("%r5")
        writer.touch(base)
        if two:
            meet("%r6")
        writer.put(f"xor.b32 {parity}, {parity}, 1;")

    writer.loop(body, trips)


def turns(writer: Writer) -> None:
    """The warps take turns as producers, and all threads read."""
    by_copy, trips = writer.happens(0.5), writer.trips()
    writer.make(1 if by_copy else 32, writer.threads, writer.warps)

    def body(count: str) -> None:
        stage, parity = writer.stage_of(count, writer.warps)
        base, full, empty = writer.place(stage), writer.object(stage, "%r5"), writer.object(stage, "%r6")
        past = writer.label()
        writer.put(f"@{writer.test(f'ne.u32 %r2, {stage}')} bra {past};")
        writer.wait(empty, writer.register(f"xor.b32 {parity}, 1"))
        if by_copy:
            writer.put(f"@!%p1 bra {past};")
            writer.load(base, full, writer.size, 1)
        else:
            place = writer.register(f"mad.lo.u32 %r3, 4, {base}")
            writer.put(*(f"st.shared.u32 [{place}+{128 * at}], {count};" for at in range(writer.warps)))
            writer.arrive(full)
        writer.put(f"{past}:")
        writer.wait(full, parity)
        writer.touch(base)
        writer.arrive(empty)

    writer.loop(body, trips)


def of_warps(writer: Writer) -> None:
    """Each warp has an object and a buffer of its own."""
    by_copy, has_two = writer.happens(0.6), writer.happens(0.5)
    mine, buffer = writer.object("%r2", "%r5"), writer.register("mad.lo.u32 %r2, 256, %r4")
    writer.put(f"@%p1 mbarrier.init.shared::cta.b64 [{mine}], {1 if by_copy else 32};", writer.one(ALL, WARP))
    parity = writer.register("mov.u32 0")

    def body(count: str) -> None:
        base = writer.place(writer.register(f"and.b32 {count}, 1"), buffer, 128) if has_two else buffer
        if by_copy:
            past = writer.label()
            writer.put(f"@!%p1 bra {past};")
            writer.load(base, mine, 128, writer.number_of(1, 2))
            writer.put(f"{past}:")
        else:
            writer.put(f"st.shared.u32 [{writer.register(f'mad.lo.u32 %r3, 4, {base}')}], {count};")
            writer.arrive(mine)
        writer.wait(mine, parity)
        lane = writer.register(f"xor.b32 %r3, {writer.number_of(0, 1, 16)}")
        writer.put(f"ld.shared.u32 %r9, [{writer.register(f'mad.lo.u32 {lane}, 4, {base}')}];")
        writer.put(f"xor.b32 {parity}, {parity}, 1;", WARP)

    writer.loop(body, writer.trips())


def matrices(writer: Writer) -> None:
    """Rows of matrices that one lane writes for another, and a copy of them to global memory."""
    stages, size = writer.number_of(1, 2), 4 * writer.size
    lead, stores = writer.test(f"eq.u32 %r0, {writer.number_of(0, 40)}"), writer.happens(0.6)
    row = writer.register(f"mad.lo.u32 %r2, 512, {writer.register('shl.b32 %r3, 4')}")
    other = row if writer.happens(0.5) else writer.register(f"xor.b32 {row}, {writer.number_of(512, 16, 64)}")

    def body(count: str) -> None:
        base = writer.place(writer.register(f"rem.u32 {count}, {stages}"), size=size)
        writer.put(
            f"stmatrix.sync.aligned.m8n8.x4.shared.b16 [{writer.register(f'add.u32 {row}, {base}')}], "
            "{%r9, %r9, %r9, %r9};"
        )
        writer.put(FENCE, ALL)
        place = writer.register(f"add.u32 {other}, {base}")
        writer.put(f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r9, %r10, %r11, %r12}}, [{place}];")
        if stores:
            writer.store(f"@{lead} ", base, size, stages - 1)
        writer.put(ALL)

    writer.loop(body, writer.trips())


KINDS = (refilled, refilled, in_place, in_place, portions, meetings, turns, of_warps, matrices)


def right(seed: int) -> Kernel:
    """The random kernel of a seed, without a mistake that is meant."""
    source = random.Random(f"async {seed}")
    kind = source.choice(KINDS)
    writer = Writer(source, source.choice((2, 2, 2, 3)))
    writer.put("mov.u32 %r9, 0;")
    kind(writer)
    text = HEAD.replace("s[4096]", "s[8192]") + "\n".join(writer.lines) + "\nret;\n}\n"
    return Kernel(seed, text, (writer.threads, 1, 1), frozenset({kind.__name__}))

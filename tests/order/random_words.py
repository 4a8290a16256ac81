"""Random small kernels whose warps load from shared memory what to do, right or with one mistake.

The first warp writes a command for each of the others, and all threads meet at a barrier of the block. A worker loads
its byte, does what it names, and comes back for the next one; the last command sends it home. What the first warp does
meanwhile is in order with what the named work touches, and with no other work.
"""

from __future__ import annotations

import random

from tests.ptx_oracle.races import Races

from .pipeline_judge import run
from .pipeline_pieces import Pipeline, with_mistake
from .random_kernels import Kernel

SHAPES = ((64, 1, 1), (64, 1, 1), (96, 1, 1), (128, 1, 1))
HOME = 7
"""The command that ends a worker."""
_PLACES = 3072
"""Where the commands are, behind the start of the array: a byte for each warp."""


class Commands:
    """One kernel: what the first warp tells the others in each round."""

    def __init__(self, pipeline: Pipeline, warps: int) -> None:
        self.pipeline, source = pipeline, pipeline.source
        self.rounds = [[source.choice((0, 1)) for _ in range(4)] for _ in range(source.randint(1, 3))]
        self.number = source.choice((0, 1, 1, 15))
        self.who = source.choice(("all", "all", "one", "first"))
        self.has_start = source.random() < 0.6
        self.is_counted = source.random() < 0.1
        self.is_switch = source.random() < 0.5
        # `bar.sync 0` is `__syncthreads()`, to which all threads come in one place.
        self.kind = source.choice(("barrier.sync", "bar.sync")) if self.number else "barrier.sync"
        self.warps = warps
        self.own = pipeline.register("mad.lo.u32 %r0, 4, %r4")
        self.lane = pipeline.register("mad.lo.u32 %r3, 4, %r4")

    @property
    def constructs(self) -> set[str]:
        return {f"{len(self.rounds)} rounds", f"stored by {self.who}", *({"start"} if self.has_start else ())}

    def meet(self, what: str) -> None:
        """A barrier of the block."""
        count = f", {32 * self.warps}" if self.is_counted else ""
        self.pipeline.do(what, f"{self.kind} {self.number}{count};")

    def write(self, commands: list[int], what: str) -> None:
        """The first warp writes the commands of a round."""
        pipeline = self.pipeline
        guard = {"all": "", "one": "@%p0 ", "first": "@%p1 "}[self.who]
        given = list(commands)
        given[1] = pipeline.number(f"the command of {what}", given[1], 1 - given[1] if given[1] < 2 else 0)
        word = sum(each << (8 * at) for at, each in enumerate(given))
        if pipeline.is_wrong(f"the commands of {what} differ from lane to lane"):
            word_of_lane = pipeline.register(f"xor.b32 {word}, %r3")
            pipeline.put(f"st.shared.u32 [%r4+{_PLACES}], {word_of_lane};")
            return
        if pipeline.source.random() < 0.2:
            # Lanes that store two values one after the other would race with each other.
            first = pipeline.source.choice((0, 1, word)) if guard else word
            pipeline.put(f"{guard}st.shared.u32 [%r4+{_PLACES}], {first};")
        if pipeline.source.random() < 0.2:
            halves = word & 0xFFFF, word >> 16
            pipeline.put(f"{guard}st.shared.v2.u16 [%r4+{_PLACES}], {{{halves[0]}, {halves[1]}}};")
        else:
            pipeline.put(f"{guard}st.shared.u32 [%r4+{_PLACES}], {word};")
        if pipeline.is_wrong(f"another write to the commands of {what}"):
            place = pipeline.register(f"add.u32 {self.lane}, {_PLACES - 64}")
            pipeline.put(f"st.shared.u32 [{place}], %r3;")

    def touch(self, region: int) -> None:
        """A word of a region, which the first warp and the others write and read."""
        place = f"{self.lane}+{region}"
        other = self.pipeline.register(f"xor.b32 {self.lane}, 4")
        self.pipeline.put(f"st.shared.u32 [{place}], %r0;" if self.pipeline.source.random() < 0.5 else "")
        self.pipeline.put(f"ld.shared.u32 %r9, [{place}];")
        self.pipeline.put(f"ld.shared.u32 %r10, [{other}+1024];")

    def first_warp(self) -> None:
        """What the first warp does."""
        pipeline = self.pipeline
        for at, commands in enumerate(self.rounds):
            if pipeline.source.random() < 0.3:
                self.touch(256 * pipeline.source.choice((0, 1)))
            is_late = pipeline.is_wrong(f"the commands of round {at} behind the barrier")
            if not is_late:
                self.write(commands, f"round {at}")
            self.meet(f"the barrier before round {at}")
            if is_late:
                self.write(commands, f"round {at}")
            if self.has_start:
                self.meet(f"the start of round {at}")
            done = {commands[warp] for warp in range(1, self.warps)}
            free = [each for each in (0, 1) if each not in done]
            if pipeline.is_wrong(f"the work of round {at} too"):
                free = [0, 1]
            for region in free:
                self.touch(256 * region)
            self.meet(f"the barrier behind round {at}")
        self.write([HOME] * 4, "the end")
        self.meet("the last barrier")

    def worker(self) -> None:
        """What the other warps do."""
        pipeline = self.pipeline
        head, end, done = pipeline.label(), pipeline.label(), pipeline.label()
        place = pipeline.register(f"add.u32 %r2, {_PLACES}")
        place = pipeline.register(f"add.u32 {place}, %r4")
        pipeline.put(f"{head}:")
        is_early = pipeline.is_wrong("the load before the barrier")
        command = pipeline.register(f"ld.shared.u8 [{place}]") if is_early else ""
        self.meet("the worker's first barrier")
        command = command or pipeline.register(f"ld.shared.u8 [{place}]")
        pipeline.put(f"@{pipeline.test(f'eq.u32 {command}, {HOME}')} bra {end};")
        if self.has_start:
            self.meet("the worker's start")
        works = [pipeline.label() for _ in range(2)]
        for number, label in enumerate(works):
            pipeline.put(f"@{pipeline.test(f'eq.u32 {command}, {number}')} bra {label};")
        pipeline.put(f"bra {done};")
        for number, label in enumerate(works):
            pipeline.put(f"{label}:")
            own = pipeline.register(f"mad.lo.u32 %r2, 512, {self.lane}")
            pipeline.put(f"st.shared.u32 [{own}+1024], %r0;" if pipeline.source.random() < 0.4 else "")
            if self.warps == 2 or pipeline.is_wrong(f"a store of several workers to region {number}"):
                pipeline.put(f"st.shared.u32 [{self.lane}+{256 * number}], %r0;")
            pipeline.put(f"ld.shared.u32 %r9, [{self.lane}+{256 * number}];")
            pipeline.put(f"bra {done};")
        pipeline.put(f"{done}:")
        self.meet("the worker's last barrier")
        pipeline.put(f"bra {head};", f"{end}:")


def drawn(seed: int, mistake: int) -> tuple[Pipeline, set[str], tuple[int, int, int]]:
    """The kernel of a seed with a mistake, by its place; -1 makes none."""
    source = random.Random(seed)
    block = source.choice(SHAPES)
    pipeline = Pipeline(source, mistake)
    commands = Commands(pipeline, block[0] // 32)
    pipeline.put("setp.eq.u32 %p3, %r2, 0;", "@!%p3 bra WORKER;")
    commands.first_warp()
    pipeline.put("bra OUT;", "WORKER:")
    commands.worker()
    pipeline.put("OUT:")
    return pipeline, commands.constructs, block


def commanded(seed: int) -> Kernel:
    """The random kernel of a seed."""
    return with_mistake(seed, drawn, lambda draw: draw < 0.6)


def runs_of(kernel: Kernel) -> tuple[Races, ...]:
    """The runs of a kernel, which does not read its parameter."""
    return tuple(run(kernel, 0, order) for order in (None, 1, 2))

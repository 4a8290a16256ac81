"""Random specs of pipelines with bulk copies, wgmma, elected threads, fences and named barriers, with mistakes."""

from __future__ import annotations

import random

from .yaml_values import Spec, Yaml

ROUNDS = 4
"""Iterations in which each mistake that is made here has shown itself."""
STAGE_BYTES = 256
SOME_BY: tuple[Yaml, ...] = ("tid == 32", "tid == 32 || tid == 64", "lane == 0", "tid == 33")


def pipeline_spec(source: random.Random) -> Spec:
    """A spec with one phase of a producer and a consumer, and a claim on it."""
    return _Pipeline(source).spec()


class _Pipeline:
    """The choices of one spec."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.stages = source.choice((1, 1, 2, 2, 3))
        self.wrong = source.random() < 0.55
        self.copies, self.products = source.random() < 0.65, source.random() < 0.6
        self.consumers = source.choice(((32,), (32,), (32, 33), (32, 64)))
        self.producers = (0,) if self.copies or source.random() < 0.6 else (0, 1)
        self.ahead = source.random() < 0.25

    def _maybe(self, right: Yaml, *others: Yaml) -> Yaml:
        return self.source.choice(others) if self.wrong and self.source.random() < 0.12 else right

    def _drops(self) -> bool:
        return self.wrong and self.source.random() < 0.1

    def _stage(self, shift: int = 0) -> Yaml:
        return f"(i + {shift}) % {self.stages}" if self.stages > 1 else 0

    def _bit(self, shift: int, first: int) -> Yaml:
        return f"((i + {shift}) / {self.stages} + {first}) % 2"

    def spec(self) -> Spec:
        """The whole of it."""
        shift, stages = int(self.ahead), self.stages
        who = [" || ".join(f"tid == {each}" for each in those) for those in (self.producers, self.consumers)]
        producer: dict[str, Yaml] = {"threads": who[0], "steps": self._fill(shift)}
        consumer: dict[str, Yaml] = {"threads": who[1], "steps": self._take(shift)}
        if self.ahead:
            producer["before"] = self._first(self._fill(0)[1:])
            consumer["before"] = self._first([each for each in self._take(0) if "arrive" not in str(each)])
            if self.source.random() < 0.8:
                last: list[Yaml] = [{"wgmma_wait": 0}] if self.products else []
                consumer["after"] = [*last, *self._release(0)]
        elif self.source.random() < 0.35:
            consumer["after"] = self._epilogue()
        place = f"% {stages} * {STAGE_BYTES} + tid % 32 * 4"
        common: dict[str, Yaml] = {"threads": 128, "for": {"i": "any"}}
        accesses: dict[str, Yaml] = {
            "fill": {"instruction": "st.shared.b32", "address": f"(i + {shift}) {place}", **common},
            "read": {"instruction": "ld.shared.b32", "address": f"(i + {shift}) {place} + {self._other()}", **common},
            "store": {"instruction": "st.shared.b32", "address": f"i {place}", **common},
            "first": {"instruction": "st.shared.b32", "address": f"i {place}", **common},
            "look": {"instruction": "ld.shared.b32", "address": f"i {place}", **common},
        }
        arriving = self.arriving if self.arriving is not None else len(self.consumers)
        barriers: dict[str, Yaml] = {
            "full": {"stages": stages, "arrivals": self._maybe(len(self.producers), len(self.producers) + 1)},
            "empty": {"stages": stages, "arrivals": self._maybe(arriving, arriving + 1, max(1, arriving - 1))},
        }
        rows: dict[str, Yaml] = {"start": f"s * {STAGE_BYTES}", "lbo": 128, "sbo": 256, "swizzle": "none"}
        operand: dict[str, Yaml] = {
            "instruction": "wgmma.m64n8k16.f32.bf16.bf16",
            "role": "B",
            "for": {"s": stages},
            "descriptor": rows,
            "reads": {"tile": "T", "at": [0, 0], "stage": "s"},
        }
        count: Yaml = self.source.choice(("any", "any", "any", 1, 3))
        roles: dict[str, Yaml] = {"producer": producer, "consumer": consumer}
        return {
            "swzverify": 1,
            "target": "sm_90a",
            "tiles": {"T": {"element": "bf16", "layout": "(8,(8,2)):(8,(1,64))", "base": 0, "stages": stages}},
            "operands": {"G": operand},
            "accesses": accesses,
            "phases": {"P": {"for": {"i": count}, "threads": 128, "barriers": barriers, "roles": roles}},
            "claims": [{"race_free": "P"}],
        }

    def _other(self) -> int:
        return self.source.choice((0, 0, 4)) if self.wrong else 0

    def _first(self, steps: list[Yaml]) -> list[Yaml]:
        """Steps before the loop: of stage 0, and of a phase that is the first one."""
        return [_of_stage_0(step) for step in steps]

    def _fill(self, shift: int) -> list[Yaml]:
        """What the producer does with a stage."""
        steps: list[Yaml] = [
            {
                "wait": "empty",
                "stage": self._stage(shift),
                "phase": self._maybe(self._bit(shift, 1), self._bit(shift, 0)),
            }
        ]
        arrive: dict[str, Yaml] = {"arrive": "full", "stage": self._stage(shift)}
        if self.copies:
            bytes_ = self._maybe(STAGE_BYTES, STAGE_BYTES // 2, 0)
            copy: Yaml = {
                "tma": "T",
                "stage": self._maybe(self._stage(shift), self._stage(shift + 1)),
                "barrier": "full",
            }
            steps += self._shuffled([{**arrive, "bytes": bytes_}, copy])
            if self.source.random() < 0.1:
                steps.insert(self.source.randint(1, len(steps)), "fill")
        else:
            steps.append("fill")
            if self.products and not self._drops():
                steps.append({"fence": "proxy"})
            steps.append(arrive)
        if self._drops():
            steps.pop(0)
        return steps

    def _shuffled(self, steps: list[Yaml]) -> list[Yaml]:
        if self.source.random() < 0.2:
            self.source.shuffle(steps)
        return steps

    arriving: int | None = None

    def _take(self, shift: int) -> list[Yaml]:
        """What the consumer does with a stage."""
        source = self.source
        steps: list[Yaml] = [
            {
                "wait": "full",
                "stage": self._stage(shift),
                "phase": self._maybe(self._bit(shift, 0), self._bit(shift, 1)),
            }
        ]
        if self.products:
            steps.append({"wgmma": "G", "at": {"s": self._maybe(self._stage(shift), self._stage(shift + 1))}})
            if source.random() < 0.1:
                steps.append({"wgmma": "G", "at": {"s": self._stage(shift)}})
            if not self._drops():
                steps.append({"wgmma_wait": self._maybe(int(self.ahead and shift == 1), 0, 1)})
        if not self.products or source.random() < 0.2:
            steps.insert(1, "read")
        if self._drops() and len(steps) > 1:
            steps.pop(source.randrange(len(steps)))
        steps += self._release(0)
        if self._drops() and len(steps) > 2:
            at = source.randrange(len(steps) - 1)
            steps[at], steps[at + 1] = steps[at + 1], steps[at]
        return steps

    def _release(self, shift: int) -> list[Yaml]:
        """How the consumer gives a stage back."""
        steps: list[Yaml] = []
        arrive: dict[str, Yaml] = {"arrive": "empty", "stage": self._stage(shift)}
        if self.arriving is None:
            self.elected = len(self.consumers) > 1 and self.source.random() < 0.6
            self.by = self.source.choice(SOME_BY)
            self.sync = self._maybe("syncwarp", "") if self.source.random() < 0.85 else {"bar_sync": 1, "threads": 2}
            chosen = [each for each in self.consumers if self._is_chosen(each)]
            self.elected = self.elected and bool(chosen)
            self.arriving = len(chosen) if self.elected else len(self.consumers)
        if self.elected:
            steps += [self.sync] if self.sync else []
            arrive["by"] = self.by
        return [*steps, arrive]

    def _is_chosen(self, thread: int) -> bool:
        return {
            "tid == 32": thread == 32,
            "tid == 32 || tid == 64": thread in (32, 64),
            "lane == 0": thread % 32 == 0,
            "tid == 33": thread == 33,
        }[str(self.by)]

    def _epilogue(self) -> list[Yaml]:
        """Steps behind the loop that use the stages again."""
        steps: list[Yaml] = []
        if len(self.consumers) > 1 and not self._drops():
            steps.append({"bar_sync": 2, "threads": len(self.consumers)})
        if self.source.random() < 0.3:
            steps.append({"wgmma_wait": 0})
        return [*steps, "store"]


def _of_stage_0(step: Yaml) -> Yaml:
    if not isinstance(step, dict):
        return {"fill": "first", "read": "look"}.get(str(step), step)
    found = {**step, **{key: 0 for key in ("stage", "phase") if key in step}}
    return {**found, "at": {"s": 0}} if "wgmma" in step else found

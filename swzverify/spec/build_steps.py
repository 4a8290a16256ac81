"""From the models of a phase's steps to the steps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from swzverify.errors import nearest
from swzverify.hardware import LANES, Target
from swzverify.ir.c_formula import CFormula
from swzverify.spec.names import Names
from swzverify.spec.phase_models import (
    ArrivePart,
    BarArrivePart,
    BarSyncPart,
    CopyPart,
    FencePart,
    PassPart,
    ProductPart,
    ProductWaitPart,
    RunPart,
    StepValue,
    WaitPart,
)
from swzverify.spec.values import Broken, Values
from swzverify.subjects.phase import MAX_PENDING, Bound, Proxy, Run, Step, Sync, WaitGroup, run_of
from swzverify.subjects.proxy_access import copied_tile, read_operand
from swzverify.subjects.role import (
    MAX_BYTES,
    MAX_NAMED,
    Arrive,
    Barrier,
    Chosen,
    Cycle,
    Named,
    ProxyFence,
    Role,
    Wait,
    WaitProducts,
)

THREAD_NAMES = ("tid", "warp", "lane")
"""What the condition of a role, or of a step of one, can read."""
_SYNCS = {sync.value: sync for sync in Sync}
_SUM = re.compile(r"\s*([A-Za-z_]\w*)\s*((?:[+-][\w\s+*/%()-]*)?)")
"""The phase's variable, and a number that is added to it."""


def threads_with(who: CFormula, threads: int, constants: Mapping[str, int]) -> list[int]:
    """The threads of a block that fulfil a condition."""
    places = [{**constants, "tid": at, "warp": at // LANES, "lane": at % LANES} for at in range(threads)]
    return [at for at, place in enumerate(places) if who.at(place)]


@dataclass
class Steps:
    """Reads steps; `is_broken` once an access of one is."""

    values: Values
    names: Names
    follows: str
    is_broken: bool = False

    def all(self, steps: Sequence[StepValue] | None, *path: str) -> tuple[Step, ...] | None:
        """The steps of a list; None if it is left out."""
        if steps is None:
            return None
        built: list[Step] = []
        for index, step in enumerate(steps):
            try:
                built.append(self.one(step, (*path, index)))
            except Broken:
                self.is_broken = True
        return tuple(built)

    def one(self, step: StepValue, path: tuple[str | int, ...]) -> Step:
        """A step: an access, or one of the words that order accesses."""
        values, names = self.values, self.names
        if isinstance(step, WaitPart):
            return WaitGroup(values.number(step.wait_group, *path, "wait_group", least=0, most=MAX_PENDING))
        if isinstance(step, RunPart):
            access = names.access(step.access, values.at(*path, "access"))
            bound = tuple(self._bound(loop, value, (*path, "at", loop)) for loop, value in step.at.items())
            others = {each.loop for each in bound}
            rest = (each for each in run_of(access, self.follows).bound if each.loop not in others)
            return Run(access, (*bound, *rest))
        if not isinstance(step, str):
            key = next(iter(step.model_fields_set & {*_ROLE_KEYS}))
            values.fail(
                "SWZ105",
                f"the step {{{key}: ...}} is no step of a phase without roles",
                values.at(*path),
                "state `roles:`",
            )
            raise Broken
        if step in _SYNCS:
            if step in names.accesses:
                hint = "give the access another name"
                values.fail("SWZ106", f"'{step}' is an access and a step", values.at(*path), hint)
            return _SYNCS[step]
        near = nearest(step, _SYNCS)
        if near and step not in names.accesses and ("accesses", step) not in names.broken:
            values.fail("SWZ106", f"unknown step '{step}'", values.at(*path), near)
            raise Broken
        return run_of(names.access(step, values.at(*path)), self.follows)

    def _bound(self, loop: str, value: int | str, path: tuple[str | int, ...]) -> Bound:
        """`k: i + 2`, or `k: 0`."""
        values, follows = self.values, self.follows
        stated = _SUM.fullmatch(value) if isinstance(value, str) else None
        if stated is None or not follows or stated[1] != follows:
            return Bound(loop, values.number(value, *path), follows=False, is_stated=True)
        number = values.number(f"0 {stated[2]}", *path) if stated[2].strip() else 0
        return Bound(loop, number, variable=follows, is_stated=True)


_ROLE_KEYS = ("wait", "arrive", "tma", "wgmma", "wgmma_wait", "fence", "bar_sync", "bar_arrive")


@dataclass
class RoleSteps(Steps):
    """Reads the steps of roles, over the barriers of the phase and the threads of the block."""

    target: Target = field(kw_only=True)
    barriers: Mapping[str, Barrier] = field(default_factory=dict[str, Barrier])
    threads: int = 0
    role: Role = field(default_factory=lambda: Role("", "", ()))

    def of(self, role: Role, steps: Sequence[StepValue], key: str) -> tuple[Step, ...]:
        """The steps of one list of a role."""
        self.role = role
        return self.all(steps, "roles", role.name, key) or ()

    def one(self, step: StepValue, path: tuple[str | int, ...]) -> Step:
        """A step of a role."""
        number = self.values.number
        match step:
            case PassPart():
                barrier, stage = self._object(step.wait, step.stage, (*path, "wait"))
                by = self._chosen(step.by, (*path, "by"))
                return Wait(barrier, stage, self._cycle(step.phase, 2, (*path, "phase")), by)
            case ArrivePart():
                barrier, stage = self._object(step.arrive, step.stage, (*path, "arrive"))
                expects = 0 if step.bytes is None else number(step.bytes, *path, "bytes", least=0, most=MAX_BYTES)
                return Arrive(barrier, stage, self._chosen(step.by, (*path, "by")), expects)
            case CopyPart():
                return self._copy(step, path)
            case ProductPart():
                return self._product(step, path)
            case ProductWaitPart():
                return WaitProducts(number(step.wgmma_wait, *path, "wgmma_wait", least=0, most=MAX_PENDING))
            case FencePart():
                return ProxyFence(self._chosen(step.by, (*path, "by")))
            case BarSyncPart() | BarArrivePart():
                waits = isinstance(step, BarSyncPart)
                key, which = (
                    ("bar_sync", step.bar_sync) if isinstance(step, BarSyncPart) else ("bar_arrive", step.bar_arrive)
                )
                at = number(which, *path, key, least=0, most=MAX_NAMED)
                return Named(at, number(step.threads, *path, "threads", least=1), waits)
            case _:
                return super().one(step, path)

    def _copy(self, step: CopyPart, path: tuple[str | int, ...]) -> Run:
        """A bulk copy into a tile, by one thread."""
        tile = self.names.tile(step.tma, self.values.at(*path, "tma"))
        barrier, stage = self._object(step.barrier, step.stage, (*path, "barrier"))
        by = self._chosen(step.by, (*path, "by"))
        threads = self.role.threads if by is None else sorted(by.threads)
        if len(threads) != 1:
            hint = "one thread starts a bulk copy, such as `by: tid == 0`"
            self.values.fail(
                "SWZ105", f"{len(threads)} threads copy into {step.tma}", self.values.at(*path, "tma"), hint
            )
            raise Broken
        if tile.stages > 1 and barrier.stages != tile.stages and len(stage.values) > 1:
            words = f"tile {tile.name} has {tile.stages} stages, and barrier {barrier.name} {barrier.stages}"
            self.values.fail("SWZ105", words, self.values.at(*path, "barrier"), "a copy has one stage of both")
            raise Broken
        text = f"tma {tile.name}" + (f"[{stage.text}]" if tile.stages > 1 else "")
        with self.values.noted(self.values.at(*path, "tma")):
            access = copied_tile(tile, stage, self.follows or "i", self.target)
            size = tile.size * tile.element_bits // 8
            return replace(
                run_of(access, self.follows), proxy=Proxy(text, tile, None, barrier, stage, size, threads[0])
            )
        raise Broken

    def _product(self, step: ProductPart, path: tuple[str | int, ...]) -> Run:
        """A `wgmma` that reads an operand."""
        operand = self.names.operand(step.wgmma, self.values.at(*path, "wgmma"))
        counts = {loop.name: loop.count or 0 for loop in operand.loops}
        at = dict[str, Cycle]()
        for name, value in step.at.items():
            if name not in counts:
                hint = nearest(name, counts) or f"its loops: {', '.join(counts) or 'none'}"
                where = self.values.at(*path, "at", name)
                self.values.fail("SWZ105", f"operand {operand.name} has no loop '{name}'", where, hint)
                raise Broken
            at[name] = self._cycle(value, counts[name], (*path, "at", name))
        given = ", ".join(f"{name}: {cycle.text}" for name, cycle in at.items())
        text = f"wgmma {operand.name}" + (f" at {{{given}}}" if given else "")
        with self.values.noted(self.values.at(*path, "wgmma")):
            access = read_operand(operand, tuple(at.items()), self.follows or "i", self.target)
            return replace(run_of(access, self.follows), proxy=Proxy(text, operand.tile, operand))
        raise Broken

    def _chosen(self, value: int | str | None, path: tuple[str | int, ...]) -> Chosen | None:
        """The threads of the role that do a step; None for all."""
        if value is None:
            return None
        who = self.values.expression(value, THREAD_NAMES, *path)
        self.values.require_sound()
        found = frozenset(threads_with(who, self.threads, self.values.constants)) & frozenset(self.role.threads)
        if not found:
            self.values.fail("SWZ105", f"no thread of {self.role.name} fulfils '{who.text}'", self.values.at(*path))
            raise Broken
        return Chosen(who.text, found)

    def _object(self, name: str, stage: int | str, path: tuple[str | int, ...]) -> tuple[Barrier, Cycle]:
        barrier = self.barriers.get(name)
        if barrier is None:
            hint = nearest(name, self.barriers) or "state it in `barriers:` of the phase"
            self.values.fail("SWZ106", f"unknown barrier '{name}'", self.values.at(*path), hint)
            raise Broken
        return barrier, self._cycle(stage, barrier.stages, (*path[:-1], "stage"))

    def _cycle(self, value: int | str, limit: int, path: tuple[str | int, ...]) -> Cycle:
        formula = self.values.expression(value, (self.follows,) if self.follows else (), *path)
        self.values.require_sound()
        with self.values.noted(self.values.at(*path)):
            return Cycle.of(formula, self.follows, limit, self.values.constants)
        raise Broken

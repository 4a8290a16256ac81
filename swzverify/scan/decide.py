"""From an access of a kernel to a verdict.

Where lanes' distances are plain numbers, all warps are priced, and `free` needs the SMT engine to
find no two lanes that meet. Elsewhere the SMT engine decides, and prices at some hundred values of
what is not known must not contradict it; a conflict needs such a price. Whatever does not fit
together, or is not decided within the budget, is `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import BANK_WORD_BYTES, Instruction, require
from swzverify.ir.expr import FALSE, TRUE, Expr, conjunction
from swzverify.kernel import KernelAccess, Kind, accesses
from swzverify.kernel.linear import Sum
from swzverify.kernel.special import BlockShape
from swzverify.obligations import Answer, Finding
from swzverify.prover import Options
from swzverify.prover.panel import Panel
from swzverify.ptx import Function, Location, Module
from swzverify.scan.collide import lane_runs, lanes_meet
from swzverify.scan.given import NOTHING_GIVEN, Given, facts_of
from swzverify.scan.price import Block, DisagreementError, Price, lane_rows, price
from swzverify.scan.reach import reachable_ways
from swzverify.scan.samples import Sampler
from swzverify.scan.spell import spell, spell_leaf
from swzverify.scan.split import Parts, is_shared, power_of, split
from swzverify.scan.verdict import Decision, LaneRow, Verdict, unknown

BUDGET = 4_000_000
"""Z3's budget for one question."""
_MOST_OPEN = 20
"""Questions of one function that may use up the budget; the later ones have a fortieth of it."""
_FAULT = "two engines disagree: this is a fault of swzverify, please send the kernel to the issue tracker"
_NO_BLOCK = "the shape of the block is not known: give --block"
_BUDGET = "not decided within the budget"
_SMT = "z3"
_COUNTING = "counting"
_SAMPLES = "samples"
_PARAMETERS_TRIED = 6


@dataclass(frozen=True, slots=True)
class ScannedAccess:
    """An access with its verdict. `address` is the byte address as people read it, `assumptions` are
    what was given of the parameters that it depends on, `block` is the shape that was judged.
    """

    kernel: str
    is_entry: bool
    line: int
    location: Location | None
    opcode: str
    instruction: str
    address: str
    decision: Decision
    assumptions: tuple[str, ...] = ()
    block: BlockShape | None = None


def scan_module(
    module: Module,
    block: BlockShape | None = None,
    kernel: str | None = None,
    target: str = "sm_90",
    given: Given = NOTHING_GIVEN,
) -> list[ScannedAccess]:
    """All accesses of all functions, in the order of the text; with `kernel`, of that one and of the
    functions that are no kernels. `given` says what is known of parameters.
    """
    found: list[ScannedAccess] = []
    for function in module.functions:
        if kernel is None or function.name == kernel or not function.is_entry:
            found += scan_function(module, function, block, target, given)
    return found


def scan_function(
    module: Module,
    function: Function,
    block: BlockShape | None = None,
    target: str = "sm_90",
    given: Given = NOTHING_GIVEN,
) -> list[ScannedAccess]:
    """All accesses of one function, in the order of the text; each has a verdict or a reason.

    >>> from swzverify.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .shared .b32 s[32]; .entry k() {"
    >>> text += ".reg .b32 %r<4>; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 3; mov.u32 %r2, s;"
    >>> text += "add.u32 %r2, %r2, %r1; ld.shared.u32 %r3, [%r2]; ret; }"
    >>> module = read_module(text, "k.ptx")
    >>> found, = scan_function(module, module.functions[0], (32, 1, 1))
    >>> found.decision.verdict.value, found.decision.ways
    ('conflict', 2)
    """
    # A kernel that requires a shape runs with no other.
    block = function.required_threads or block
    judge = _Judge(block, target)
    facts = facts_of(function, given)
    found: list[ScannedAccess] = []
    for access in accesses(module, function, block, facts.arguments):
        try:
            decision = judge.decide(facts.on(access))
        except DisagreementError:
            decision = unknown(_FAULT)
        except ValueError as error:
            decision = unknown(f"the address cannot be computed: {error}")
        address = "" if access.address is None else spell(access.address, access.leaves)
        text = " ".join(f"{access.opcode} {access.text}".split())
        found.append(
            ScannedAccess(
                function.name,
                function.is_entry,
                access.line,
                access.location,
                access.opcode,
                text,
                address,
                decision,
                facts.texts_on(access),
                block,
            )
        )
    return found


@lru_cache(maxsize=64)
def _block(shape: BlockShape) -> Block:
    return Block(shape)


def _counts(access: KernelAccess) -> bool:
    """Whether an atomic adds 1, which the chip does in one go for lanes of one word, if nobody reads
    the result.
    """
    return (
        access.row is not None and access.row.counts_equal_words and re.search(r",\s*-?1\s*$", access.text) is not None
    )


class _Judge:
    """Decides the accesses of one function."""

    def __init__(self, shape: BlockShape | None, target: str) -> None:
        self._shape, self._target = shape, target
        self._panel = Panel(Options(rlimit=BUDGET))
        self._small = Panel(Options(rlimit=BUDGET // 40))
        self._open = 0
        self._asked: dict[Expr, Finding] = {}

    def decide(self, access: KernelAccess) -> Decision:
        """The verdict on one access."""
        if access.reason:
            return unknown(access.reason)
        if access.row is None:
            return unknown(access.no_row or "the instruction is not in the table of costs")
        if access.address is None:
            return unknown("the address is not known")
        try:
            require(self._target, access.row)
        except SwzError as error:
            return unknown(error.message)
        parts = split(access, access.address)
        shape = self._shape
        if shape is None:
            # Lanes are the same in every block where nothing reads the thread's coordinates.
            if any(leaf.name.startswith(("tid.", "ntid.")) for leaf in access.leaves):
                return unknown(_NO_BLOCK)
            shape = (32, 1, 1)
        if access.row.width_bytes < BANK_WORD_BYTES and any(
            (factor & -factor) * power_of(term) < BANK_WORD_BYTES for term, factor in parts.shared.terms.items()
        ):
            parts = _all_mixed(parts)
        around = frozenset(loop.line for loop in access.loops)
        decided = self._decided(access.row, parts, shape, around)
        if decided.verdict is not Verdict.FREE and self._shape is None:
            return unknown(_NO_BLOCK)
        if decided.verdict in (Verdict.CONFLICT, Verdict.DEPENDS) and _counts(access):
            merged = self._decided(replace(access.row, counts_equal_words=False), parts, shape, around)
            if merged != decided:
                return unknown("what it costs depends on whether its result is used: +1 without one merges equal words")
        return decided

    def _decided(self, row: Instruction, parts: Parts, shape: BlockShape, around: frozenset[int]) -> Decision:
        one = _Access(row, parts, _block(shape), self._possible, around)
        if (never := one.never_made()) is not None:
            return never
        return one.octets() if row.by_octets else one.exact() if parts.is_exact else one.mixed()

    def _possible(self, condition: Expr) -> Finding:
        if condition is FALSE or condition is TRUE:
            return Finding("folding", Answer.EMPTY if condition is FALSE else Answer.HOLDS, {})
        if condition not in self._asked:
            panel = self._panel if self._open < _MOST_OPEN else self._small
            found = self._asked[condition] = panel.possible(condition)
            self._open += found.answer is Answer.UNDECIDED
        return self._asked[condition]


def _all_mixed(parts: Parts) -> Parts:
    """The same address with nothing set aside: of accesses to parts of words, what is shared counts
    modulo 4.
    """
    mixed = parts.shared.plus(Sum({parts.mixed: 1}, 0, 32)).expression()
    return replace(parts, shared=Sum({}, 0, 32), mixed=mixed)


Possible = Callable[[Expr], Finding]
Array = NDArray[np.int64]
Mask = NDArray[np.bool_]


class _Access:
    """One access, for one shape of the block."""

    def __init__(
        self, row: Instruction, parts: Parts, block: Block, possible: Possible, around: frozenset[int]
    ) -> None:
        self.row, self.parts, self.block, self.possible = row, parts, block, possible
        self.around = around

    def never_made(self) -> Decision | None:
        """Why nothing is said of an access that no lane makes, or perhaps none; None where some lane
        makes it. Without lanes it would be free of conflicts, and that says nothing.
        """
        found = self.possible(lane_runs(self.block.shape, self.parts))
        if found.answer is Answer.HOLDS:
            return None
        return unknown("no lane makes this access" if found.answer is Answer.EMPTY else _BUDGET)

    # ---- distances that are plain numbers

    def exact(self) -> Decision:
        """The verdict where lanes' distances are plain numbers."""
        row, parts, block = self.row, self.parts, self.block
        active = block.exists if row.warp_wide else block.exists & (block.values(parts.own_guard, {}) != 0)
        if not active.any():
            return unknown("no thread of the block makes this access")
        addresses = block.values(parts.own, {}) + parts.shared.number
        aligned = self._aligned(addresses, active)
        if aligned is None:
            return unknown("some lanes' addresses cannot be multiples of the width: such an access faults")
        found = price(row, aligned, active)
        if found is None:
            return unknown("no lane with an address makes this access")
        if found.is_free:
            # With fewer lanes, by the other parts of the guard, it is free too.
            return self._free(found, parts.own_guard)
        if parts.other_guard is TRUE or row.warp_wide:
            return self._conflict(found, aligned, active, found.ways)
        whole = conjunction((parts.own_guard, parts.other_guard))
        apart = self.possible(lanes_meet(row, block.shape, parts, whole))
        if apart.answer is Answer.EMPTY:
            return self._checked_by_samples(whole)
        if apart.answer is not Answer.HOLDS:
            return unknown(_BUDGET)
        ways = reachable_ways(row, block, parts, aligned, active, found.ways, self.possible)
        if ways is None:
            return unknown(_BUDGET)
        if ways <= 1:
            return unknown(_FAULT)
        return self._conflict(found, aligned, active, ways)

    def _aligned(self, addresses: Array, active: Mask) -> Array | None:
        """Addresses as multiples of the width; None where no shared part can make all of them so."""
        width = self.row.width_bytes
        rest = addresses[active] % width
        if (rest != rest[0]).any():
            return None
        if width < BANK_WORD_BYTES:
            return addresses if rest[0] == 0 else None
        return addresses - rest[0]

    def _free(self, found: Price, guard: Expr) -> Decision:
        asked = self.possible(lanes_meet(self.row, self.block.shape, self.parts, guard))
        if asked.answer is Answer.HOLDS:
            raise DisagreementError
        if asked.answer is not Answer.EMPTY:
            return unknown(_BUDGET)
        engines = (_SMT, _COUNTING)
        return Decision(Verdict.FREE, "", 1, found.wavefronts, found.minimum, engines=engines)

    def _conflict(self, found: Price, addresses: Array, active: Mask, ways: int, *, at_least: bool = False) -> Decision:
        warp = found.worst
        all_of_them = ways == found.ways
        return Decision(
            Verdict.CONFLICT,
            "",
            ways,
            found.wavefronts if all_of_them else None,
            found.minimum if all_of_them else None,
            at_least,
            engines=(_COUNTING,) if self.parts.other_guard is TRUE else (_COUNTING, _SMT),
            warp=warp % self.block.warps if all_of_them else None,
            lanes=self._rows(warp, addresses, active) if all_of_them else (),
        )

    def _rows(self, warp: int, addresses: Array, active: Mask) -> tuple[LaneRow, ...]:
        flat_addresses, flat_active = addresses.reshape(-1, 32), active.reshape(-1, 32)
        return lane_rows(self.row, self.block, warp % self.block.warps, flat_addresses[warp], flat_active[warp])

    # ---- the octet rule

    def octets(self) -> Decision:
        """The verdict by the octet rule: at every place that the shared part may give."""
        row, parts, block = self.row, self.parts, self.block
        if not parts.is_exact:
            return unknown("this instruction has a rule of its own, decided only where lanes' distances are numbers")
        if any(not is_shared(leaf) for leaf in parts.leaves_of(parts.other_guard)):
            return unknown("this instruction has a rule of its own, decided only where it is known which lanes make it")
        active = block.exists & (block.values(parts.own_guard, {}) != 0)
        if not active.any():
            return unknown("no thread of the block makes this access")
        step = 128
        for term, factor in parts.shared.terms.items():
            step = min(step, (factor & -factor) * power_of(term))
        own = block.values(parts.own, {}) + parts.shared.number
        prices: list[tuple[Price, Array]] = []
        for shift in range(0, 128, step):
            moved = own + shift
            if not (moved[active] % row.width_bytes).any():
                found = price(row, moved, active)
                if found is not None:
                    prices.append((found, moved))
        if not prices:
            return unknown("some lanes' addresses cannot be multiples of the width: such an access faults")
        if all(found.is_free for found, _ in prices):
            found = prices[0][0]
            return Decision(Verdict.FREE, "", 1, found.wavefronts, found.minimum, engines=(_COUNTING,))
        if any(found.is_free for found, _ in prices):
            return unknown("its cost depends on where the shared array begins")
        found, moved = min(prices, key=lambda each: each[0].ways)
        return self._conflict(found, moved, active, found.ways, at_least=len({each.ways for each, _ in prices}) > 1)

    # ---- distances that depend on more

    def mixed(self) -> Decision:
        """The verdict where lanes' distances depend on parameters, loops or data."""
        row, parts, shape = self.row, self.parts, self.block.shape
        whole = conjunction((parts.own_guard, parts.other_guard))
        asked = self.possible(lanes_meet(row, shape, parts, parts.own_guard))
        if asked.answer is not Answer.EMPTY and parts.other_guard is not TRUE and not row.warp_wide:
            asked = self.possible(lanes_meet(row, shape, parts, whole))
        if asked.answer is Answer.EMPTY:
            return self._checked_by_samples(whole)
        data = [leaf for leaf in parts.leaves_of(parts.mixed) if leaf.kind is Kind.OPAQUE and not is_shared(leaf)]
        if data:
            if asked.answer is Answer.HOLDS and (always := self._always(whole)) is not None:
                return always
            reasons = dict.fromkeys(f"{spell_leaf(leaf)} ({leaf.reason})" for leaf in data)
            return unknown(f"the address depends on values of each lane: {', '.join(reasons)}")
        if asked.answer is not Answer.HOLDS:
            return unknown(_BUDGET)
        return self._contended(asked, whole)

    def _checked_by_samples(self, guard: Expr) -> Decision:
        """Free, as the SMT engine says, unless some sample contradicts it."""
        found = Sampler(self.row, self.parts, self.block, guard).own_values()
        if found is not None and not found.price.is_free:
            raise DisagreementError
        wavefronts, minimum = (found.price.wavefronts, found.price.minimum) if found is not None else (None, None)
        return Decision(Verdict.FREE, "", 1, wavefronts, minimum, engines=(_SMT, _SAMPLES))

    def _always(self, guard: Expr) -> Decision | None:
        """A conflict whatever the lanes hold: two lanes that meet with all values."""
        sampler = Sampler(self.row, self.parts, self.block, guard)
        found = sampler.own_values()
        if found is None or found.least <= 1:
            return None
        for first, second in found.always:
            if self.possible(sampler.pair_apart(first, second)).answer is Answer.EMPTY:
                return Decision(Verdict.CONFLICT, "", found.least, at_least=True, engines=(_SMT, _SAMPLES))
        return None

    def _contended(self, asked: Finding, guard: Expr) -> Decision:
        """The verdict where two lanes can meet."""
        sampler = Sampler(self.row, self.parts, self.block, guard)
        found = sampler.shared_values(asked.point or {})
        blamed = sampler.blamed
        if found is None or found.price.is_free:
            return unknown("two lanes can meet, but no warp instruction was found in which they surely do")
        if any(
            leaf.kind is Kind.TRIPS and leaf.line not in self.around for leaf in self.parts.leaves_of(self.parts.mixed)
        ):
            return unknown("it conflicts for some number of trips of a loop before; whether it occurs is not known")
        if any(leaf.kind is Kind.CARRIED and not leaf.values for leaf in self.parts.leaves_of(self.parts.mixed)):
            return unknown("it conflicts for some values that a loop carries; whether they occur is not known")
        names = tuple(dict.fromkeys(map(spell_leaf, blamed)))
        worst = self._conflict(found.price, found.addresses, found.active, found.price.ways, at_least=True)
        if not blamed:
            return worst
        for values in found.free_values[:_PARAMETERS_TRIED]:
            fixed = sampler.fixed(values)
            if (
                self.possible(lanes_meet(self.row, self.block.shape, fixed, sampler.fixed_guard(values))).answer
                is Answer.EMPTY
            ):
                shown = ", ".join(f"{spell_leaf(leaf)} = {values[leaf.name]}" for leaf in blamed)
                reason = f"free for {shown}; not for all values"
                return replace(worst, verdict=Verdict.DEPENDS, reason=reason, parameters=names)
        if found.free_values:
            return unknown(f"it depends on {', '.join(names)}; no values were shown to be free")
        for first, second in found.always:
            if self.possible(sampler.pair_apart(first, second)).answer is Answer.EMPTY:
                return replace(worst, parameters=names)
        return unknown(f"it conflicts for some values of {', '.join(names)}; whether for all is not known")

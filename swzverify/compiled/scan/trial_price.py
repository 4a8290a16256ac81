"""What the warp instructions cost that a trial met.

PTX does not say where a variable lies in shared memory: where that counts, the place with the least cost is taken.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import chain

import numpy as np

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.ptx import Function
from swzverify.compiled.scan.price import (
    Array,
    Block,
    Mask,
    Price,
    are_coalesced,
    price,
    price_by_cache,
    price_of_copies,
    table_of,
)
from swzverify.compiled.scan.verdict import TRIAL, Decision, Verdict
from swzverify.compiled.trial import Launch, Seen
from swzverify.compiled.trial.kept import UNREAD
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, CHUNK_BYTES, LANES, Instruction, Kind


def words_of(launch: Launch, function: Function) -> str:
    """What is said of a conflict that a launch has; parameters lose the kernel's name."""
    given = f": {launch.words}".replace(f"{function.name}_", "") if launch.words else ""
    return f"a run with made-up data (trial {launch.number}) has this conflict{given}"


class Met:
    """The warp instructions of one access that a trial met; of copies, those of which the sources are known."""

    def __init__(self, row: Instruction, seen: Seen, starts: tuple[tuple[int, int], ...], function: Function) -> None:
        self._row, self._function = row, function
        self.is_copy = row.by_octets or row.kind is Kind.CP_ASYNC
        addresses = np.array(seen.addresses, dtype=np.int64).reshape(-1, LANES)
        active = np.array(seen.active, dtype=np.bool_).reshape(-1, LANES)
        variables = np.searchsorted(np.array([start for start, _ in starts], dtype=np.int64), addresses, side="right")
        inside = _of_one(variables, active)
        sources = np.array(seen.sources, dtype=np.int64).reshape(-1, LANES) if self.is_copy else addresses
        if row.by_octets:
            inside &= np.all((sources != UNREAD) | ~active, axis=1)
        self._addresses, self._active, self._sources = addresses[inside], active[inside], sources[inside]
        self._warps = np.array(seen.warps, dtype=np.int64)[inside]
        self._aligns = (1, *(align for _, align in starts))
        first = self._active.argmax(axis=1)[:, None]
        self._variables = np.take_along_axis(variables[inside], first, axis=1)[:, 0]

    @property
    def worst(self) -> Price | None:
        """The worst cost of the trials; None if none of them has a known cost.

        It is met wherever variables are.

        Raises:
            DisagreementError: Two counts differ.
        """
        return self._worst[0] if self._costs else None

    @property
    def dearest(self) -> Price:
        """The worst cost where a variable is at the place with the most."""
        return self._dearest[0]

    @property
    def _worst(self) -> tuple[Price, int]:
        return max((min(costs, key=_order) for costs in self._costs), key=_order)

    @property
    def _dearest(self) -> tuple[Price, int]:
        return max(chain.from_iterable(self._costs), key=_order)

    @cached_property
    def _costs(self) -> list[list[tuple[Price, int]]]:
        """The worst costs in each variable, and how far that is shifted there: no variable's place tells another's."""
        costs: list[list[tuple[Price, int]]] = []
        for variable in map(int, np.unique(self._variables)):
            rows = np.flatnonzero(self._variables == variable)
            shifts = _shifts(self._row, min(self._aligns[variable], BANK_PERIOD_BYTES))
            prices = [(self._price(self._addresses[rows] + by, rows), by) for by in shifts]
            known = [(replace(each, worst=int(rows[each.worst])), by) for each, by in prices if each is not None]
            costs += [known] if known else []
        return costs

    def _price(self, addresses: Array, rows: slice | Array) -> Price | None:
        active, sources = self._active[rows], self._sources[rows]
        if self._row.by_octets:
            return price_of_copies(self._row, addresses, active, sources // CHUNK_BYTES)
        if self.is_copy:
            return price_by_cache(self._row, addresses, active, sources, sources != UNREAD)
        return price(self._row, addresses, active)

    def decision(self, launch: Launch, access: KernelAccess) -> Decision:
        """The conflict, with the warp instruction that has it."""
        return self._conflict(*self._worst, launch, access)

    def dependent(self, otherwise: Decision, launch: Launch, access: KernelAccess) -> Decision:
        """The verdict that an access has if it is made, with the conflict that was met."""
        found = self._conflict(*self._dearest, launch, access)
        reason = f"{otherwise.reason}; {found.reason}"
        engines = (*otherwise.engines, *found.engines)
        return replace(
            found,
            verdict=otherwise.verdict,
            reason=reason,
            parameters=otherwise.parameters,
            engines=engines,
            assumes=otherwise.assumes,
        )

    def _conflict(self, worst: Price, shift: int, launch: Launch, access: KernelAccess) -> Decision:
        at, note = worst.worst, access.cost.note
        here = slice(at, at + 1)
        addresses, active = self._addresses[here] + shift, self._active[here]
        table = table_of(self._row, Block(launch.block), int(self._warps[at]), addresses[0], active[0])
        alike = self._price(addresses, here) or worst
        is_of_source = self.is_copy and not (
            self._row.by_octets and are_coalesced(self._sources[here] // CHUNK_BYTES, active)
        )
        if is_of_source:
            # The tables and pictures of lanes are those of octets that read one line each.
            table = replace(table, lanes=(), addresses=())
        words = words_of(launch, self._function)
        is_known = not note and alike.is_exact and (access.source is None or not access.source.fills_parts)
        return Decision(
            Verdict.CONFLICT,
            f"{words}; {note}" if note else words,
            alike.ways,
            alike.wavefronts if is_known else None,
            alike.minimum if is_known else None,
            at_least=True,
            is_for_some=True,
            launch=launch,
            engines=(TRIAL,),
            table=table,
            is_of_source=is_of_source,
        )


def _order(cost: tuple[Price, int]) -> tuple[int, int]:
    return cost[0].ways, cost[0].wavefronts


def _of_one(variables: Array, active: Mask) -> Mask:
    """Which warp instructions reach one variable alone: how far two lie apart is not known."""
    first = np.take_along_axis(variables, active.argmax(axis=1)[:, None], axis=1)
    return np.all((variables == first) | ~active, axis=1)


def _shifts(row: Instruction, align: int) -> tuple[int, ...]:
    """How far a variable may lie from where the trial has it, as far as a cost depends on it."""
    period = BANK_PERIOD_BYTES if row.by_octets else BANK_WORD_BYTES
    return tuple(range(0, period, max(row.width_bytes, align))) or (0,)

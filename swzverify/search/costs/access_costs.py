"""The cost of every warp instruction of an access, by the plain definition and no engine.

A warp instruction is one warp in one iteration. It runs at one stage and one base; where these are
not known it counts with the ones at which it takes most. Bases that differ by a multiple of what the
banks and the swizzle look at cost the same, so that only one of them is priced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from swzverify.claims.access_points import access_enough
from swzverify.claims.verdict import Measure, WarpMeasure
from swzverify.core.shown import Shown, html_facts, text_facts
from swzverify.core.words import binding_text
from swzverify.errors import SwzError
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, LANES, CostArrays, Evidence, cost_many, evidence
from swzverify.subjects import Access
from swzverify.subjects.loop import LANE, STAGE

MAX_LANES = 1 << 26
"""Lanes of all warp instructions, at all stages and bases; some ten seconds."""
_CHUNK_LANES = 1 << 20
_RANK = 1 << 20
"""More than any warp instruction takes."""
_Array = NDArray[np.int64]
_Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class AccessCosts(Shown):
    """What the warp instructions of an access take.

    `worst` has the two worst cases and where they are. `histogram` counts the warp instructions by
    the wavefronts that they take; those without an active lane are not there. `evidence` says how
    the rule is known for the instruction on the target.
    """

    worst: Measure
    histogram: Mapping[int, int]
    evidence: Evidence

    def __str__(self) -> str:
        """The worst cost, and what all warp instructions take together."""
        return text_facts(str(self.worst), self._facts)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return html_facts(str(self.worst), self._facts)

    @property
    def _facts(self) -> list[tuple[str, str]]:
        each = ", ".join(f"{count} take {wavefronts}" for wavefronts, count in self.histogram.items())
        return [
            ("warp instructions", str(self.instructions)),
            ("wavefronts", f"{self.total_wavefronts} in all; {each}"),
            ("worst at", binding_text(self.where)),
            ("evidence", str(self.evidence)),
        ]

    @property
    def wavefronts(self) -> int:
        """The most wavefronts that a warp instruction takes."""
        return self.worst.wavefronts

    @property
    def minimum(self) -> int:
        """What that warp instruction takes without conflicts."""
        return self.worst.minimum

    @property
    def where(self) -> Mapping[str, int]:
        """Where that warp instruction runs: warp, loop variables, stage and base."""
        return self.worst.where

    @property
    def bank_conflicts(self) -> int:
        """The most conflicts that a warp instruction has; 0 where `conflict_free` holds."""
        return self.worst.bank_conflicts

    @property
    def instructions(self) -> int:
        """The number of warp instructions with an active lane."""
        return sum(self.histogram.values())

    @property
    def total_wavefronts(self) -> int:
        """The wavefronts of all warp instructions, each at its worst stage and base."""
        return sum(wavefronts * count for wavefronts, count in self.histogram.items())


def cost(access: Access) -> AccessCosts:
    """The cost of every warp instruction of an access: all warps, iterations, stages and bases.

    Raises:
        SwzError: SWZ206 for a loop without a bound, values that each lane has of its own, or more than
            2^26 lanes to price; SWZ404 for a misaligned address; SWZ105 if there is no warp instruction
            with an active lane; SWZ409 for an access to global memory.

    >>> from swzverify import Layout, Tile
    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> tile = Tile("A", 32, Layout((32, 32), (32, 1)))
    >>> coord = (parse("lane"), parse("lane % 2"))
    >>> read = Access("read", find_instruction("ld.shared.b32"), find_target("sm_90"), (64,), tile=tile, coord=coord)
    >>> found = cost(read)
    >>> found.wavefronts, found.minimum, dict(found.histogram), dict(found.where)
    (16, 1, {16: 2}, {'warp': 0, 'base': 0})
    """
    if not isinstance(access, Access):  # pyright: ignore[reportUnnecessaryIsInstance]
        hint = "give the object itself, such as load_spec('a.swz.yaml').cases[0].accesses['read_A']"
        raise SwzError("SWZ105", f"cost of {access!r} ({type(access).__name__}): it is no access", hint=hint)
    access.require_banks()
    refuse_what_has_no_end(access)
    runs, places = _sizes(access)
    lanes = lanes_to_price(access)
    if lanes > MAX_LANES:
        raise SwzError(
            "SWZ206",
            f"access {access.name}: {lanes} lanes to price, over all warps, iterations, stages and bases; "
            f"at most {MAX_LANES} are priced",
            hint="claim `wavefronts` of it and prove that: engines need not look at every lane",
        )
    histogram: dict[int, int] = {}
    worst: Measure | None = None
    for rows, costs, point in _priced(access, runs, places):
        most = np.where(rows, costs.wavefronts.reshape(rows.shape), 0).max(axis=1)
        for wavefronts, count in zip(*(each.tolist() for each in np.unique(most, return_counts=True)), strict=True):
            if wavefronts:
                histogram[wavefronts] = histogram.get(wavefronts, 0) + count
        worst = _worse(worst, _worst(access, rows.reshape(-1), costs, point))
    if worst is None:
        raise SwzError(
            "SWZ105",
            f"access {access.name}: no warp instruction has an active lane, so that nothing has a cost",
            hint="look at `if:`, `assume:` and the loops' bounds",
        )
    return AccessCosts(worst, dict(sorted(histogram.items())), evidence(access.target, access.instruction))


def lanes_to_price(access: Access) -> int:
    r"""How many lanes `cost` would look at: over all warps, iterations, stages and bases.

    >>> from swzverify.spec import parse_spec
    >>> a = "{instruction: ld.shared.b32, threads: 64, for: {i: 4}, address: tid*4 + i*256}"
    >>> lanes_to_price(parse_spec(f"swzverify: 1\naccesses: {{a: {a}}}", path="a.yaml").cases[0].accesses["a"])
    256
    """
    runs, places = _sizes(access)
    return LANES * prod(runs.values()) * prod(places.values())


def _sizes(access: Access) -> tuple[dict[str, int], dict[str, int]]:
    """The number of values of each variable, in two maps.

    The first has the variables that number the warp instructions, the second the stage and the base.
    """
    sizes = {node.name: node.limit for node in access.free}
    enough = dict(access_enough(access, granule_bytes(access)))
    sizes |= {name: min(sizes[name], count) for name, count in enough.items() if name in sizes}
    places = {name: count for name, count in sizes.items() if name == STAGE or name in enough}
    return {name: count for name, count in sizes.items() if name not in places}, places


def granule_bytes(access: Access) -> int:
    """A shift of all addresses by a multiple of this changes the cost only through a swizzle."""
    granule = BANK_PERIOD_BYTES if access.instruction.by_octets else BANK_WORD_BYTES
    return max(granule, access.instruction.width_bytes)


def refuse_what_has_no_end(access: Access) -> None:
    """Refuse an access with an endless list of warp instructions.

    Raises:
        SwzError: SWZ206 for a loop without a bound, or values that each lane has of its own.
    """
    for loop in access.loops:
        if loop.is_unbounded:
            raise SwzError(
                "SWZ206",
                f"access {access.name}: loop '{loop.name}' has no bound, so that its iterations cannot be listed",
                hint="give it a bound, or claim `wavefronts` of the access and prove that",
            )
    if access.own:
        names = ", ".join(sorted(node.name for node in access.own))
        raise SwzError(
            "SWZ206",
            f"access {access.name}: lanes have values of their own ({names}), so that its addresses cannot be listed",
            hint="claim `wavefronts` of the access and prove that: it holds for every choice of the values",
        )


def _priced(
    access: Access, runs: Mapping[str, int], places: Mapping[str, int]
) -> Iterator[tuple[_Truths, CostArrays, Mapping[str, _Array]]]:
    """Price chunks of warp instructions: which rows count, their costs, and the variables' values.

    A row is one instruction at one place.
    """
    instructions, at = prod(runs.values()), prod(places.values())
    step = max(1, _CHUNK_LANES // (LANES * at))
    for first in range(0, instructions, step):
        count = min(step, instructions - first)
        row = np.arange(first * at, (first + count) * at, dtype=np.int64)
        point = run_digits(row, {**runs, **places})
        arrays = {name: values[:, None] for name, values in point.items()}
        shape = (row.size, LANES)
        lane = np.arange(LANES, dtype=np.int64)[None, :]
        assumed, on, where, _ = access.definition({**arrays, LANE: lane})
        active = np.broadcast_to(on, shape) & np.broadcast_to(assumed, shape)
        position = np.broadcast_to(where, shape)
        counts = np.asarray(active.any(axis=1))
        _refuse_misaligned(access, position, active, point)
        costs = _costs(access, position // (8 // access.unit_bits), active, counts)
        yield counts.reshape(count, at), costs, point


def run_digits(row: _Array, sizes: Mapping[str, int]) -> dict[str, _Array]:
    """The variables' values in each row, the last one fastest."""
    found: dict[str, _Array] = {}
    for name, size in reversed(tuple(sizes.items())):
        row, found[name] = np.divmod(row, size)
    return found


def _costs(access: Access, addresses: _Array, active: _Truths, counts: _Truths) -> CostArrays:
    """The costs of the rows that count; 0 in the others."""
    some = cost_many(access.instruction, addresses[counts], active[counts])
    wavefronts, minimum = np.zeros((2, counts.size), dtype=np.int64)
    wavefronts[counts], minimum[counts] = some.wavefronts, some.minimum
    return CostArrays(wavefronts, minimum)


def _refuse_misaligned(access: Access, position: _Array, active: _Truths, point: Mapping[str, _Array]) -> None:
    wrong = active & (position % access.width_units != 0)
    if not wrong.any():
        return
    row, lane = (int(each) for each in np.argwhere(wrong)[0])
    where = access.binding({name: int(values[row]) for name, values in point.items()})
    address = int(position[row, lane]) // (8 // access.unit_bits)
    raise SwzError(
        "SWZ404",
        f"access {access.name}: lane {lane} has address {address}, not a multiple of "
        f"{access.instruction.width_bytes} bytes, at {binding_text(where)}",
        hint="a misaligned access faults on the GPU: claim `aligned` of it to see the whole warp",
    )


def _worst(access: Access, counts: _Truths, costs: CostArrays, point: Mapping[str, _Array]) -> Measure | None:
    """The two worst cases of a chunk, among equals the one that is worse by the other measure."""
    if not counts.any():
        return None

    def largest(rank: _Array) -> WarpMeasure:
        best = int(np.argmax(np.where(counts, rank, -1)))
        at = {name: int(values[best]) for name, values in point.items()}
        at = {node.name: at[node.name] for node in access.free}
        return WarpMeasure(int(costs.wavefronts[best]), int(costs.minimum[best]), access.binding(at), at)

    conflicts = costs.bank_conflicts
    return Measure(largest(costs.wavefronts * _RANK + conflicts), largest(conflicts * _RANK + costs.wavefronts))


def _worse(one: Measure | None, other: Measure | None) -> Measure | None:
    """The worst cases of both, the first among equals."""
    if one is None or other is None:
        return one or other
    return Measure(
        max(one.most_wavefronts, other.most_wavefronts, key=attrgetter("wavefronts", "bank_conflicts")),
        max(one.most_conflicts, other.most_conflicts, key=attrgetter("bank_conflicts", "wavefronts")),
    )

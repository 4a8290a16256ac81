"""What is recorded of each shared-memory access: how often, which lanes, at which addresses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from .errors import UnsupportedError
from .rule import GROUP_LANES, Cost, cost

Array = np.ndarray
KEPT_PATTERNS = 20_000


@dataclass(frozen=True)
class Witness:
    """One execution by one warp; `occurrence` tells how often the warp had come here before."""

    block: tuple[int, int, int]
    warp: int
    occurrence: int
    mask: int
    addresses: tuple[int | None, ...]
    cost: Cost

    def as_json(self) -> dict[str, Any]:
        """The witness as plain data."""
        return {
            "block": list(self.block),
            "warp": self.warp,
            "occurrence": self.occurrence,
            "mask": f"{self.mask:08x}",
            "addresses": list(self.addresses),
            **self.cost._asdict(),
        }


@dataclass(eq=False)
class Violation:
    """Lanes of one execution whose addresses a GPU answers with a fault.

    `times` counts all such executions.
    """

    kind: str
    """`misaligned`: no multiple of the bytes of the access. `outside`: not in shared memory."""
    line: int
    text: str
    block: tuple[int, int, int]
    warp: int
    addresses: tuple[int | None, ...]
    """The addresses of these lanes; None of the others."""
    times: int = 0

    def as_json(self) -> dict[str, Any]:
        """The violation as plain data."""
        return {
            "kind": self.kind,
            "block": list(self.block),
            "warp": self.warp,
            "addresses": list(self.addresses),
            "times": self.times,
        }


@lru_cache(maxsize=200_000)
def cost_of(kind: str, width: int, mask: int, addresses: bytes) -> Cost:
    """The cost of lanes whose 32 addresses (as 32-bit numbers) are given as bytes."""
    at = np.frombuffer(addresses, np.uint32).tolist()
    return cost(kind, width, {lane: at[lane] for lane in range(32) if mask >> lane & 1})


@dataclass(eq=False)
class Access:
    """One PTX line that accesses shared memory, or may do so.

    `worst` is an execution with the most wavefronts and `worst_ways` one with the most words in one
    bank; `minimum` belongs to the first of the two. Counts of wavefronts and groups are sums over
    all executions.
    """

    line: int
    text: str
    function: str
    kind: str
    bytes: int
    generic: bool = False
    mixed: bool = False
    """Some generic access had lanes outside shared memory too."""
    elsewhere: int = 0
    """Executions of a generic access that met no shared memory at all."""
    executions: int = 0
    wavefronts: int = 0
    groups: int = 0
    worst: Witness | None = None
    worst_ways: Witness | None = None
    warps: Counter[tuple[tuple[int, int, int], int]] = field(default_factory=Counter)
    masks: Counter[int] = field(default_factory=Counter)
    patterns: dict[tuple[int, int, bytes], int] = field(default_factory=dict)
    """How often each (mask, base, addresses less base) occurred; the first 20,000 of them."""
    copies: set[tuple[tuple[int, int, int], ...]] = field(default_factory=set)
    """The different executions of a `cp.async`: each lane, where it writes, and where it reads; of those in which all
    lanes read as many bytes as they write.
    """
    blind: bool = False
    """The instruction has no addresses of lanes (mbarrier, bulk copies, matrix fragments)."""
    sem: str = ""
    """How strong the access is: relaxed, acquire, release or acq_rel; empty if it is weak."""
    is_placed: bool = False
    """Clocks know what a blind instruction touches."""
    violations: dict[str, Violation] = field(default_factory=dict)
    """The first violation of each kind."""

    @property
    def executed(self) -> bool:
        """Whether some warp executed it with an active lane in shared memory."""
        return self.executions > 0 or bool(self.violations)

    @property
    def worst_wavefronts(self) -> int:
        """The most wavefronts that one execution took."""
        return self.worst.cost.wavefronts if self.worst else 0

    @property
    def minimum(self) -> int:
        """The least that the lanes of the worst execution would have taken without conflicts."""
        return self.worst.cost.minimum if self.worst else 0

    @property
    def ways(self) -> int:
        """The most different words of one bank within one group of lanes, over all executions."""
        return self.worst_ways.cost.ways if self.worst_ways else 0

    def note(self, block: tuple[int, int, int], mask: Array, address: Array) -> None:
        """Write down an execution by the warps of a batch.

        `mask` and `address` have a place for each lane.
        """
        lanes = mask.reshape(-1, 32)
        where = address.reshape(-1, 32)
        base = np.where(lanes, where, np.uint64(1 << 40)).min(1) & ~np.uint64(127)
        rest = np.where(lanes, where - base[:, None], np.uint64(0)).astype(np.uint32)
        bits = np.packbits(mask, bitorder="little").view(np.uint32).tolist()
        for warp, active in enumerate(bits):
            if active:
                self._note_warp(block, warp, active, int(base[warp]), rest[warp].tobytes())

    def note_copies(self, mask: Array, into: Array, source: Array, is_whole: Array) -> None:
        """Write down where the lanes of copies write and read."""
        for warp in range(len(mask) // 32):
            here = slice(32 * warp, 32 * warp + 32)
            lanes = np.flatnonzero(mask[here])
            if lanes.size and is_whole[here][lanes].all():
                places = (lanes.tolist(), into[here][lanes].tolist(), source[here][lanes].tolist())
                self.copies.add(tuple(zip(*places, strict=True)))

    def violate(self, kind: str, block: tuple[int, int, int], bad: Array, address: Array) -> None:
        """Write down lanes with bad addresses; `bad` and `address` have a place for each lane."""
        for warp in np.flatnonzero(bad.reshape(-1, 32).any(1)).tolist():
            lanes = slice(32 * warp, 32 * warp + 32)
            if kind not in self.violations:
                pairs = zip(bad[lanes].tolist(), address[lanes].tolist(), strict=True)
                addresses = tuple(at if is_bad else None for is_bad, at in pairs)
                self.violations[kind] = Violation(kind, self.line, self.text, block, warp, addresses)
            self.violations[kind].times += 1

    def _note_warp(self, block: tuple[int, int, int], warp: int, active: int, base: int, rest: bytes) -> None:
        occurrence = self.warps[block, warp]
        self.warps[block, warp] += 1
        self.masks[active] += 1
        self.executions += 1
        pattern = (active, base, rest)
        if pattern in self.patterns or len(self.patterns) < KEPT_PATTERNS:
            self.patterns[pattern] = self.patterns.get(pattern, 0) + 1
        if self.blind:
            return
        found = self._cost(active, rest)
        self.wavefronts += found.wavefronts
        self.groups += found.minimum
        if found.wavefronts > self.worst_wavefronts or self.worst is None:
            self.worst = self._witness(block, warp, occurrence, pattern, found)
        if found.ways > self.ways or self.worst_ways is None:
            self.worst_ways = self._witness(block, warp, occurrence, pattern, found)

    def _cost(self, active: int, rest: bytes) -> Cost:
        if self.bytes not in GROUP_LANES:
            raise UnsupportedError(f"no rule for {self.kind} of {self.bytes} bytes", self.line)
        return cost_of(self.kind, self.bytes, active, rest)

    def _witness(
        self, block: tuple[int, int, int], warp: int, occurrence: int, pattern: tuple[int, int, bytes], found: Cost
    ) -> Witness:
        active, base, rest = pattern
        at = np.frombuffer(rest, np.uint32).tolist()
        addresses = tuple(base + at[lane] if active >> lane & 1 else None for lane in range(32))
        return Witness(block, warp, occurrence, active, addresses, found)

    def as_json(self) -> dict[str, Any]:
        """The access as plain data."""
        found: dict[str, Any] = {
            key: getattr(self, key)
            for key in ("line", "text", "function", "kind", "bytes", "generic", "executed", "executions")
        }
        found["violations"] = [violation.as_json() for violation in self.violations.values()]
        if self.generic:
            found |= {"mixed": self.mixed, "elsewhere": self.elsewhere}
        if self.executions and not self.blind:
            keys = ("ways", "worst_wavefronts", "minimum", "wavefronts", "groups")
            found |= {key: getattr(self, key) for key in keys}
            found["masks"] = {f"{mask:08x}": count for mask, count in sorted(self.masks.items())}
            found["witness"] = self.worst_ways.as_json() if self.worst_ways else None
            warps = sorted(self.warps.items())
            found["warps"] = [{"block": list(block), "warp": warp, "executions": n} for (block, warp), n in warps]
        return found

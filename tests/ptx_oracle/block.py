"""One thread block: its memories and registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .clocks import Clocks
from .fetch import Array
from .layout import Layout
from .mbarriers import Mbarrier, place_of
from .model import Instr
from .occurrences import Recorder
from .products import Products
from .program import Code
from .spaces import SHARED_BASE, SHARED_SPAN, PerLane, Shared
from .splits import Split

MASKS_KEPT = 4096


class Shape(NamedTuple):
    """What the blocks of a launch have in common."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    specials: dict[str, Array]
    parameters: bytes
    lenient: bool
    clocked: Callable[[Clocks], None] | None = None
    """Wants the clocks of each block: see `races`."""
    exits_order: bool = True
    shuffle: int | None = None
    """The seed of a random order of warps and of copies; without it the earliest code runs first."""
    recorder: Recorder | None = None
    """Writes down what registers get: see `occurrences`."""
    cluster: tuple[int, int, int] = (1, 1, 1)
    """The blocks of a cluster, which run together as one: their threads have numbers one behind the other, by rank."""
    products: Products | None = None
    """Writes down what the tensor core multiplies: see `products`."""
    has_maps: bool = False
    """Whether the launch says what its tensor maps are: see `tensors`."""

    @property
    def ranks(self) -> int:
        """Blocks of a cluster."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    @property
    def threads(self) -> int:
        """Threads of all blocks of a cluster."""
        return self.block[0] * self.block[1] * self.block[2] * self.ranks


class BlockState:
    """What the steps of a block read and change."""

    def __init__(self, index: tuple[int, int, int], shape: Shape, layout: Layout) -> None:
        self.index = index
        self.lanes = -(-shape.threads // 32) * 32
        self.layout = layout
        self.arena, self.const = layout.arena, layout.const
        self.ranks, self.of_block = shape.ranks, shape.threads // shape.ranks
        self.shared = Shared(layout.shared_end, "shared", lenient=shape.lenient, ranks=shape.ranks)
        self.local = PerLane(self.lanes, layout.local_stride, "local")
        self.params = PerLane(self.lanes, layout.param_stride, "param")
        given = np.frombuffer(shape.parameters, np.uint8)
        self.params.rows()[:, : len(given)] = given
        self.carry = np.zeros(self.lanes, bool)
        self.clock = 0
        self.recorder = shape.recorder
        if self.recorder is not None:
            self.recorder.begin(index, self.lanes)
        instrs = [instr for function in layout.functions for instr in function.instrs]
        bulk = [instr for instr in instrs if instr.op == "cp" and "bulk" in instr.mods]
        self.products, self.has_maps = shape.products, shape.has_maps
        self.counts_bytes = not any(
            ("tensor" in instr.mods and not shape.has_maps) or _stays(instr, shape.ranks) for instr in bulk
        )
        """Whether it is known how many bytes each bulk copy has; else those that are expected are there."""
        self.clocks: Clocks | None = None
        if shape.clocked is not None:
            proxies = bool(bulk) or any(instr.op == "wgmma" for instr in instrs)
            self.clocks = Clocks(self.lanes, shape.threads, SHARED_BASE, exits_order=shape.exits_order, proxies=proxies)
            self.clocks.of_block = self.of_block
            shape.clocked(self.clocks)
        self.woken = False
        self.on_arrive: Callable[[int, int, list[int], int], None] = lambda _number, _count, _masks, _line: None
        """What to do when lanes arrive at a barrier without waiting."""
        self.on_arrive_in_cluster: Callable[[list[int], int, bool], None] = lambda _masks, _line, _releases: None
        self.mbarriers: dict[int, Mbarrier] = {}
        self.flights: list[Callable[[], None]] | None = None if shape.shuffle is None else []
        """What bulk copies have to do when they complete; None if that is at once."""
        self.specials = dict(shape.specials)
        for at, part in enumerate((".x", ".y", ".z")):
            number = np.array([index[at]], np.uint64)
            self.specials[f"%clusterid{part}"] = number
            self.specials[f"%ctaid{part}"] = number
        if shape.ranks > 1:
            self._in_cluster(shape)
        self._files: dict[tuple[int, int], list[Array]] = {}
        self._masks: dict[tuple[tuple[int, int], ...], Array] = {}

    def _in_cluster(self, shape: Shape) -> None:
        """The registers that tell the blocks of a cluster apart; `index` is that of the cluster."""
        rank = np.arange(self.lanes, dtype=np.uint64) // np.uint64(self.of_block)
        self.specials = {
            name: np.tile(value, shape.ranks) if len(value) > 1 or name.startswith(("%tid", "%laneid")) else value
            for name, value in self.specials.items()
        }
        self.specials["%cluster_ctarank"] = rank
        self.specials["%cluster_nctarank"] = np.array([shape.ranks], np.uint64)
        before = 1
        for at, part in enumerate((".x", ".y", ".z")):
            extent = shape.cluster[at]
            place = rank // np.uint64(before) % np.uint64(extent)
            before *= extent
            self.specials[f"%cluster_ctaid{part}"] = place
            self.specials[f"%cluster_nctaid{part}"] = np.array([extent], np.uint64)
            self.specials[f"%ctaid{part}"] = np.uint64(self.index[at] * extent) + place
            self.specials[f"%nclusterid{part}"] = self.specials[f"%nctaid{part}"] // np.uint64(extent)

    def places(self, lanes: Array, address: Array) -> Array:
        """Where addresses of shared memory lie in the windows of the cluster: those of `mapa` name a rank."""
        if self.ranks == 1:
            return address
        span = np.uint64(SHARED_SPAN)
        named, own = address // span, lanes.astype(np.uint64) // np.uint64(self.of_block)
        rank = np.where(named > 0, named - np.uint64(1), own)
        if self.clocks is not None:
            for each in np.unique(rank[rank != own]).tolist():
                self.clocks.reach(int(each))
        return rank * span + address % span

    def place(self, lane: int, address: int) -> int:
        """The same for one lane, of a shared or a generic address."""
        if self.ranks == 1:
            return place_of(address)
        return int(self.places(np.array([lane]), np.array([address % (1 << 32)], np.uint64))[0])

    def registers(self, code: Code, depth: int) -> list[Array]:
        """The register file of a function at a depth of calls."""
        key = (code.order, depth)
        if key not in self._files:
            self._files[key] = code.registers(self.lanes)
        return self._files[key]

    def mask(self, splits: list[Split]) -> Array:
        """The lanes of splits of different warps, as an array of booleans."""
        key = tuple((split.warp, split.mask) for split in splits)
        found = self._masks.get(key)
        if found is None:
            bits = np.zeros(self.lanes // 32, np.uint32)
            for warp, mask in key:
                bits[warp] = mask
            found = np.unpackbits(bits.view(np.uint8), bitorder="little").astype(bool)
            if len(self._masks) < MASKS_KEPT:
                self._masks[key] = found
        return found

    def grow(self, depth: int) -> None:
        """Make room for the frames of a call."""
        self.local.grow((depth + 1) * self.layout.local_stride)
        self.params.grow((depth + 1) * self.layout.param_stride)


def _stays(instr: Instr, ranks: int) -> bool:
    """Whether a bulk copy goes from shared to shared memory, or to several blocks of which one is run."""
    spaces = [mod for mod in instr.mods if mod.startswith("shared")]
    return len(spaces) > 1 or (ranks == 1 and any(mod.startswith("multicast") for mod in instr.mods))


def words(mask: Array) -> list[int]:
    """The lanes of each warp as a number of 32 bits."""
    return np.packbits(mask, bitorder="little").view(np.uint32).tolist()

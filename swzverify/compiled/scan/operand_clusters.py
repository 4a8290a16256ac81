"""`delivers` where tensor copies write to several blocks of a cluster: it is judged for each block of the cluster.

The kernel is read as if all blocks of a cluster were one block, one behind the other along z. So values that all
threads of this block have in common are those that all blocks of the cluster have in common. Then the number along z
is the rank of a block: for each rank there are the operands that this block reads, and the copies of all blocks that
go to it.

Source: docs/semantics.md, section 9, "Copies to several blocks"; section 11, "Clusters of several blocks".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Final, TypeAlias

from swzverify.compiled.kernel import KernelAccess, KernelFill, LaneLeaf, Leaf, OpaqueLeaf
from swzverify.compiled.kernel.clusters import is_rank, stray_address
from swzverify.compiled.kernel.fills import Section
from swzverify.compiled.kernel.graph import closure
from swzverify.compiled.kernel.lanes import GROUP_THREADS, Threads
from swzverify.compiled.kernel.operands import OperandsRead
from swzverify.compiled.kernel.parts import Parts
from swzverify.compiled.kernel.special import BlockShape, is_place_of_cluster
from swzverify.compiled.ptx import Function
from swzverify.compiled.scan.claim import NEVER_MADE, Claim, ClaimVerdict, not_known
from swzverify.compiled.scan.delivers import Elements
from swzverify.compiled.scan.fill_leaves import Shared
from swzverify.compiled.scan.fill_whole import own_name
from swzverify.compiled.scan.operand_judge import OperandJudge
from swzverify.compiled.scan.operand_offsets import by_coordinates, in_threads
from swzverify.compiled.scan.operand_places import described_places
from swzverify.compiled.scan.operand_subject import OperandSubject
from swzverify.compiled.scan.stages import OperandRead
from swzverify.ir.expr import Const, Expr, Var, const, extract, substitute, var, variables

Delivered: TypeAlias = tuple[Claim, Elements | None]
NO_CLUSTER: Final = "line {} copies to several blocks of a cluster: --cluster X,Y says how many blocks a cluster has"
OTHER_TRIPS: Final = "the blocks of a cluster may make other trips of the loop at line {}, as their ranks decide"
_MASK_BITS: Final = 16


def several_blocks(fills: Sequence[KernelFill]) -> int | None:
    """The line of the first copy to several blocks; None if there is none."""
    return next((each.destination.site.line for each in fills if each.mask is not None), None)


def whole_cluster(function: Function, block: BlockShape, cluster: BlockShape) -> BlockShape | str:
    """The shape of a block that has the threads of all blocks of a cluster; in words why there is none."""
    across, down, deep = block
    if deep > 1:
        return "the blocks of a cluster have threads along z"
    if prod(block) % GROUP_THREADS:
        return f"the blocks of a cluster have parts of warp groups of {GROUP_THREADS} threads"
    if (stray := stray_address(function)) is not None:
        return f"line {stray.line} makes an address in another block of the cluster that is not followed"
    return across, down, prod(cluster)


class ClusterBlocks:
    """The blocks of a cluster, each with its operands and with what all blocks copy to it.

    `whole` is what was read of all of them together, `reads` are the operands whose bytes are known, else in words why
    not. `judge` judges one block, which has a `shape`.
    """

    def __init__(
        self,
        count: int,
        shape: BlockShape,
        judge: OperandJudge,
        whole: OperandsRead,
        reads: Sequence[OperandRead | str],
    ) -> None:
        self._count, self._shape, self._judge, self._whole, self._reads = count, shape, judge, whole, reads
        self._rank = var("tid.z", count)
        self._threads = Threads(shape)

    def delivered(self) -> list[Delivered]:
        """The verdicts on all operands, in all blocks."""
        if (line := self._parted()) is not None:
            return [(not_known(OTHER_TRIPS.format(line)), None) for _ in self._reads]
        found: list[list[tuple[int, Delivered]]] = [[] for _ in self._reads]
        for rank in range(self._count):
            parts = Parts()
            operands = [replace(each, access=self._put(each.access, rank)) for each in self._whole.operands]
            made = [at for at, each in enumerate(operands) if self._may_execute(each.access)]
            places = [
                read if isinstance(read, str) else described_places(self._in_block(read, rank), self._shape, parts)
                for read in map(self._reads.__getitem__, made)
            ]
            fills = self._in_sections([*self._fills(rank)])
            of_block = self._judge.delivered([operands[at] for at in made], places, fills, parts.assumes, is_entry=True)
            for at, each in zip(made, of_block, strict=True):
                found[at].append((rank, each))
        return [_of_all(each) for each in found]

    def _parted(self) -> int | None:
        """The line of a loop around a copy to several blocks whose trips depend on ranks in each launch.

        They may do so where the condition to go on reads the rank, but not the place of the cluster in the grid.
        """
        for access in (each.destination for each in self._whole.fills if each.mask is not None):
            for loop in access.who.loops:
                read = _read(loop.again.condition, access)
                is_placed = any(is_place_of_cluster(each.name) for each in read)
                if not is_placed and self._rank in read:
                    return loop.line
        return None

    def _in_block(self, read: OperandRead, rank: int) -> OperandRead:
        """An operand as the block of a rank reads it."""
        subject, start = read.subject, read.start
        access = self._judge.subject_of(self._put(subject.operand.access, rank)).access
        own = OperandSubject(access, self._shape, subject.asker, subject.smem, subject.operand)
        return replace(read, subject=own, start=replace(start, offset=substitute(start.offset, self._values(rank))))

    def _may_execute(self, access: KernelAccess) -> bool:
        """Whether a thread may execute an instruction, as far as coordinates and the place of the cluster decide it.

        A block finds its rank by remainders of `%ctaid`, too, which is the place of the cluster and the rank.
        """
        subject = self._judge.subject_of(access)
        runs, rest = by_coordinates(subject, access.who.guard, self._threads)
        reads_place = any(is_place_of_cluster(each.name) for each in variables(*rest))
        return bool(runs.any()) and not (reads_place and self._judge.is_never_made(subject))

    # ---- copies

    def _fills(self, rank: int) -> Iterator[tuple[int, KernelFill, KernelFill]]:
        """What may write to the memory of a block: its own writers, and copies and stores of other blocks.

        For each, the rank of the block that executes it, the instruction, and what that block makes of it.
        """
        for fill, masks in zip(self._whole.fills, self._masks, strict=True):
            reaches_others = _may_reach_others(fill)
            for maker, mask in enumerate(masks):
                is_target = bool(mask >> rank & 1) if mask is not None else maker == rank
                is_open = fill.mask is not None and mask is None
                if is_target or is_open or reaches_others:
                    made = self._made_by(fill, maker, is_other=maker != rank, is_open=is_open)
                    if self._may_execute(made.destination):
                        yield maker, fill, made

    def _in_sections(self, found: Sequence[tuple[int, KernelFill, KernelFill]]) -> list[KernelFill]:
        """The same, where copies stand in one section if no barrier parts them and they are made under one condition.

        So a copy that a branch leaves to some ranks stands in one section with those before the branch.
        """
        first: dict[object, Section] = {}
        one: dict[Section, Section] = {}
        for maker, fill, _ in (each for each in found if each[1].moved is not None):
            subject = self._judge.subject_of(self._put(fill.destination, maker))
            if (sure := subject.access.who.sure) is None:
                continue
            may, must = (by_coordinates(subject, each, self._threads) for each in (subject.access.who.guard, sure))
            conditions = tuple((runs.tobytes(), rest) for runs, rest in (may, must))
            headers = tuple(loop.header for loop in fill.destination.who.loops)
            root = first.setdefault((fill.begins, conditions, headers), fill.section)
            one.setdefault(fill.section, one.get(root, root))
        return [replace(made, section=one.get(made.section, made.section)) for _, _, made in found]

    @cached_property
    def _masks(self) -> list[list[int | None]]:
        """For each writer and each rank of the block that executes it, the ranks to which it copies, as bits.

        None if it is no copy to several blocks, or if that is not decided.
        """
        return [[self._mask(fill.mask, maker) for maker in range(self._count)] for fill in self._whole.fills]

    def _mask(self, access: KernelAccess | None, maker: int) -> int | None:
        if access is None or access.address is None:
            return None
        subject = self._judge.subject_of(self._put(access, maker))
        runs, _ = by_coordinates(subject, subject.access.who.guard, self._threads)
        bits = extract(substitute(access.address, self._values(maker)), 0, _MASK_BITS)
        value = in_threads(subject, bits, runs, self._threads)
        return value.value if isinstance(value, Const) and 0 < value.value < 1 << self._count else None

    def _made_by(self, fill: KernelFill, maker: int, *, is_other: bool, is_open: bool) -> KernelFill:
        """A writer as a block executes it."""
        around = {loop.header for loop in fill.destination.who.loops}
        shared = Shared()
        shared.one_in_block |= fill.of_block
        shared |= {leaf.name: leaf for each in fill.values for leaf in (*each.leaves, *each.around)}
        own = {
            name
            for name, leaf in shared.items()
            if is_other and not isinstance(leaf, LaneLeaf) and not shared.is_shared(leaf.variable, around)
        }

        def put(access: KernelAccess | None) -> KernelAccess | None:
            return None if access is None else self._put(access, maker, own)

        moved = fill.moved
        if moved is not None:
            moved = replace(moved, coordinates=tuple(self._put(each, maker, own) for each in moved.coordinates))
        return replace(
            fill,
            destination=self._put(fill.destination, maker, own),
            source=put(fill.source),
            read_bytes=put(fill.read_bytes),
            zeros=put(fill.zeros),
            mask=put(fill.mask) if is_open else None,
            moved=moved,
            of_other=maker if is_other else None,
        )

    def _put(self, access: KernelAccess, rank: int, own: Collection[str] = ()) -> KernelAccess:
        """What the block of a rank makes of an access; leaves of some names are its own, and no other block's."""
        values, new = self._values(rank), dict[str, Leaf]()
        for leaf in (*access.leaves, *access.around):
            if leaf.name in own:
                new[leaf.name] = replace(leaf, variable=var(own_name(leaf.name, rank), leaf.variable.limit))
                values[leaf.variable] = new[leaf.name].variable
        leaves, around = (tuple(new.get(leaf.name, leaf) for leaf in each) for each in (access.leaves, access.around))
        return replace(access.with_values(values), leaves=leaves, around=around)

    def _values(self, rank: int) -> dict[Var, Expr]:
        return {self._rank: const(rank, self._rank.width)}


def _may_reach_others(fill: KernelFill) -> bool:
    """Whether an instruction may write to the memory of another block: its address is from `mapa`, or not followed."""
    access = fill.destination
    leaves = {leaf.variable: leaf for leaf in (*access.leaves, *access.around)}
    read = [leaves[each] for each in variables(access.address)] if access.address is not None else []
    return any(is_rank(leaf) or isinstance(leaf, OpaqueLeaf) for leaf in read)


def _read(value: Expr, access: KernelAccess) -> Collection[Var]:
    """The leaves of which a value is made, and those on which these depend."""
    leaves = {leaf.name: leaf for leaf in (*access.leaves, *access.around)}

    def feeds(variable: Var) -> tuple[Var, ...]:
        leaf = leaves.get(variable.name)
        return variables(*leaf.feeds) if isinstance(leaf, OpaqueLeaf) else ()

    return closure(variables(value), feeds)


def _of_all(found: Sequence[tuple[int, Delivered]]) -> Delivered:
    """The verdict on an operand, from those in the blocks that may read it."""
    if not found:
        return not_known(NEVER_MADE), None
    claims = [claim for _, (claim, _) in found]
    (first, elements), verdicts = found[0][1], {each.verdict for each in claims}
    if verdicts in ({ClaimVerdict.PROVED}, {ClaimVerdict.REFUTED}):
        told = dict.fromkeys(text for each in claims for text in each.assumptions)
        return replace(first, assumptions=tuple(told)), elements
    left = [each for each in claims if each.verdict is not ClaimVerdict.PROVED]
    rank = next(rank for rank, (claim, _) in found if claim.verdict is not ClaimVerdict.PROVED)
    needs = [each.needs for each in left if each.needs is not None]
    words = f"in block {rank} of the cluster: {left[0].reason}"
    return not_known(words, max(needs) if len(needs) == len(left) else None), None

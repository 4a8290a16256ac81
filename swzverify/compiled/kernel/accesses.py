"""Every access of a kernel to shared memory: its address and which lanes make it, as expressions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from swzverify.compiled.kernel.access import ANY_SPACE, CopySource, Executions, KernelAccess, LoopAround, Site, blank
from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments
from swzverify.compiled.kernel.arithmetic import widened
from swzverify.compiled.kernel.atomics import is_read, merging
from swzverify.compiled.kernel.boxes import bytes_of
from swzverify.compiled.kernel.calls import Inlined, inlined
from swzverify.compiled.kernel.copies import may_fill_parts, size_of_source
from swzverify.compiled.kernel.counts import Counts
from swzverify.compiled.kernel.divisions import Divisions, with_results
from swzverify.compiled.kernel.ended import without_ended
from swzverify.compiled.kernel.evaluate import evaluate
from swzverify.compiled.kernel.flow import FlowError, Loop
from swzverify.compiled.kernel.forwarded import take_apart
from swzverify.compiled.kernel.generic import if_shared, in_aligned_shared
from swzverify.compiled.kernel.in_step import in_step
from swzverify.compiled.kernel.induction import Forms, by_trip, find_forms, in_one_trip, trips_of
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.leaves import CarriedLeaf, Leaf, LoopLeaf, OpaqueLeaf, Open, TripsLeaf
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.listing import Touch, Use, uses_of
from swzverify.compiled.kernel.partings import Partings
from swzverify.compiled.kernel.paths import PathCondition, Paths
from swzverify.compiled.kernel.reachable import Reachable
from swzverify.compiled.kernel.remainders import with_remainders
from swzverify.compiled.kernel.repeats import Repeats
from swzverify.compiled.kernel.sequences import MOST_VALUES, sequence_of
from swzverify.compiled.kernel.slices import Evaluate, Slices
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.uniform import Uniformity
from swzverify.compiled.kernel.values import address_of, long_of, piece_address, word_of
from swzverify.compiled.ptx import Address, Function, Instruction, Module, Operand, PtxError
from swzverify.hardware import Kind as RowKind
from swzverify.ir.bounded import Bounded
from swzverify.ir.expr import FALSE, TRUE, Const, Expr, Var, conjunction, const, substitute, variables

_MOST_STARTS: Final = 8
"""Nested loops that are followed where each begins with what the outer one carries."""


def accesses(
    module: Module,
    function: Function,
    block: BlockShape | None = None,
    arguments: Arguments = NO_ARGUMENTS,
    capability: int | None = None,
) -> list[KernelAccess]:
    """All accesses to shared memory of a function and of its callees, in the order in which they run.

    Instructions that touch shared memory in other ways are included, with a reason. `block` is the number
    of threads along x, y and z. Without it, it is `.reqntid`; without that too, it is unknown.
    `arguments` are values of the function's parameters. A wmma instruction is the machine instructions
    that ptxas makes of it for a target of this capability; without one it is not looked at. In the
    example, a lane reads the word of its number.

    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .shared .b32 s[32]; .entry k() {"
    >>> text += ".reg .b32 %r<4>; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, s;"
    >>> text += "add.u32 %r2, %r2, %r1; ld.shared.u32 %r3, [%r2]; ret; }"
    >>> module = read_module(text, "k.ptx")
    >>> found, = accesses(module, module.functions[0], (32, 1, 1))
    >>> found.cost.row.name, [(leaf.name, leaf.uniform) for leaf in found.leaves]
    ('ld.shared.b32', [('shared s', True), ('tid.x', False)])
    """
    if function.problem is not None:
        problem = function.problem
        return [KernelAccess(Site(problem.line), reason=problem.message)]
    block = block or function.required_threads
    whole = inlined(module, function)
    try:
        uses = [(each, use) for each in whole.function.instructions for use in uses_of(each, capability)]
    except PtxError as error:
        return [KernelAccess(Site(error.line), reason=str(error))]
    if not uses:
        return []
    try:
        return Reader(module, whole, block, arguments).read(uses)
    except FlowError as error:
        reason = f"line {error.line}: {error}"
        return [blank(each, use, reason, whole.calls[each.index]) for each, use in uses]


@dataclass(frozen=True, slots=True)
class _Raw:
    """An access before loops and shared values are known.

    Attributes:
        access: What is known of it already.
        address: Its address, if it is known.
        path: The path condition of its block.
        own: Its guard.
        block: The index of its block.
        index: The index of its instruction.
        operands: What the cost reads beside the address: of a copy its source and its size if it has one,
            of an atomic its last operand.
        is_value: Whether the address is the value of an operand.
    """

    access: KernelAccess
    address: Expr | None
    path: PathCondition
    own: Expr
    block: int
    index: int
    operands: tuple[Expr, ...] = ()
    is_value: bool = False


class Reader:
    """Reads the accesses of one function; `meaning` gives the values of instructions."""

    def __init__(
        self,
        module: Module,
        whole: Inlined,
        block: BlockShape | None,
        arguments: Arguments,
        meaning: Evaluate = evaluate,
    ) -> None:
        self.calls = whole.calls
        self.slices = Slices(module, whole.function, block, meaning, arguments)
        self.threads = Threads(block) if block else None
        self.paths = Paths(self.slices)
        self.repeats = Repeats(self.slices, self.paths)
        self._bounded = Bounded()
        self._behind: dict[Var, Expr | None] = {}
        """What leaves of loops are behind them."""
        self._leaves_told: dict[tuple[object, ...], Leaf] = {}

    def read(self, uses: list[tuple[Instruction, Use]]) -> list[KernelAccess]:
        """All accesses, in order."""
        return self._all([self._raw(*each) for each in uses])

    def read_values(self, uses: list[tuple[Instruction, Use, Operand]], together: int = 0) -> list[KernelAccess]:
        """For each use of an operand, the access with its 64 bits as address; so many have states `together`."""
        raw: list[_Raw] = []
        for instruction, use, operand in uses:
            found = self._raw(instruction, use)
            if self.slices.flow.is_reachable(found.block):
                value = self.slices.run(long_of(self.slices, operand, instruction))
                found = replace(found, access=replace(found.access, reason=""), address=value, is_value=True)
            raw.append(found)
        return self._all(raw, together)

    def _all(self, raw: list[_Raw], together: int = 0) -> list[KernelAccess]:
        slices, flow = self.slices, self.slices.flow
        ends = [each.index for each in flow.blocks if each.is_choice and flow.is_reachable(each.index)]
        choices = {each: slices.choice_values(each) for each in ends}
        forms = find_forms(slices)
        # It reads guards that nothing else may read: their loads have to be known to `take_apart`.
        partings = Partings(flow, self.calls, lambda each: forms.resolve(slices.run(slices.guard(each))))
        self.divisions = known = with_results(slices, forms)
        places = [each.address for each in raw if each.address is not None and each.access.touch is Touch.SHARED]
        conditions = [*chain.from_iterable(choices.values()), *(each.own for each in raw), *places]
        conditions += (guard for guard, _, _ in partings.guarded)
        take_apart(slices, forms, conditions if raw else None)
        for each in raw:
            for loop in flow.around(each.block):
                trips_of(slices, loop)
        choices = {at: tuple(by_trip(slices, forms.resolve(each)) for each in of) for at, of in choices.items()}
        read = variables(*(forms.resolve(each.address) for each in raw[:together] if each.address is not None))
        self.forms, self.choices, self.reachable = forms, choices, Reachable(slices, forms, choices, read)
        self.counts = counts = Counts(flow, slices.leaves, choices, self.threads)
        of_choices = flow, slices.leaves, slices.carried, choices, self.threads, counts
        if self.threads is not None:
            # Values behind loops may read coordinates that the kernel does not: lanes do not share these.
            self.threads.coordinates(slices.leaves)
        shared = in_launches = in_step(Uniformity(*of_choices, partings=partings))
        if known:
            in_launches = in_step(Uniformity(*of_choices, never_read=known, partings=partings))
        return [self._finished(each, forms, (shared, in_launches), known) for each in raw]

    def _raw(self, instruction: Instruction, use: Use) -> _Raw:
        flow = self.slices.flow
        access = blank(instruction, use, calls=self.calls[instruction.index])
        block = flow.block_of[instruction.index]
        if not flow.is_reachable(block):
            access = replace(access, reason="no path leads here")
            return _Raw(access, None, PathCondition((FALSE,), (FALSE,)), TRUE, block, instruction.index)
        path = self.paths.to(block)
        own = self.slices.run(self.slices.guard(instruction))
        self.repeats.ask(block)
        address: Expr | None = None
        if use.touch in (Touch.SHARED, Touch.GENERIC):
            access, address = self._address(access, instruction, use)
        operands = self._operands(access, instruction, use)
        return _Raw(access, address, path, own, block, instruction.index, operands)

    def _operands(self, access: KernelAccess, instruction: Instruction, use: Use) -> tuple[Expr, ...]:
        """What the cost of an access reads beside its address."""
        row, slices = access.cost.row, self.slices
        if use.bulk is not None:
            found = bytes_of(slices, use.bulk, instruction)
            return () if found is None else (found,)
        if row is None or row.kind not in (RowKind.CP_ASYNC, RowKind.ATOMIC):
            return ()
        if row.kind is RowKind.ATOMIC:
            return (slices.run(word_of(slices, instruction.operands[-1], instruction)),)
        source = [each for each in instruction.operands if isinstance(each, Address)][1:]
        size = size_of_source(instruction)
        places = [slices.run(address_of(slices, each, instruction)) for each in source[:1]]
        return (*places, *(slices.run(word_of(slices, each, instruction)) for each in size if places))

    def _address(self, access: KernelAccess, instruction: Instruction, use: Use) -> tuple[KernelAccess, Expr | None]:
        first = 0 if use.bulk is None else use.bulk.operand
        operand = next((each for each in instruction.operands[first:] if isinstance(each, Address)), None)
        if operand is None:
            return replace(access, reason="it has no address in brackets"), None
        place = self.slices.run(address_of(self.slices, operand, instruction))
        if use.piece is not None:
            place = piece_address(self.slices, place, use.piece, instruction)
        if use.touch is Touch.SHARED:
            return access, widened(place, 32)
        return access, place

    def _finished(
        self, raw: _Raw, forms: Forms, shared: tuple[Uniformity, Uniformity], known: dict[Var, Open]
    ) -> KernelAccess:
        """The access, with the readings of it in which divisions have a result.

        `shared` has the values that lanes share in every launch, and in launches in which all divisions have
        a result.
        """
        everywhere, in_launches = shared
        access = self._read(raw, forms, everywhere)
        if raw.address is None or not known:
            return access
        wider: KernelAccess | None = None
        inside = frozenset(loop.header for loop in self.slices.flow.around(raw.block))
        more = inside & (in_launches.left_together - everywhere.left_together)
        if more or any(not leaf.uniform and in_launches.leaf(leaf.variable, inside) for leaf in access.leaves):
            divisions = Divisions(self.slices, forms, raw.index, known)
            wider = self._read(raw, forms, in_launches, divisions, divisions.launches())
            wider = replace(wider, assumes=divisions.texts(all_known=True))
        divisions = Divisions(self.slices, forms, raw.index, known)
        if not divisions.are_in(forms.resolve(raw.address)):
            return replace(access, defined=wider)
        return replace(access, defined=replace(self._read(raw, forms, everywhere, divisions), defined=wider))

    def _read(
        self, raw: _Raw, forms: Forms, shared: Uniformity, divisions: Divisions | None = None, launches: Expr = TRUE
    ) -> KernelAccess:
        loops_around = self.slices.flow.around(raw.block)
        inside = {loop.header for loop in loops_around}

        def resolved(value: Expr) -> Expr:
            value = forms.resolve(value)
            defined = value if divisions is None else divisions.defined(value)
            return self._bounded.of(self._behind_loops(defined, inside))

        access, address = raw.access, None if raw.address is None else normal(resolved(raw.address))
        has_states = raw.is_value or access.extent is not None  # what proofs alone read
        if has_states and address is not None:
            address = with_remainders(address)
        # What decides for a thread that is in the block: its own guard, and the space of its address.
        there = [resolved(raw.own)]
        whole = address
        if address is not None and access.touch is Touch.GENERIC:
            found = in_aligned_shared(self.slices, address)
            if found is None or found.holds is FALSE:
                found = if_shared(self.slices, address)
                access = replace(access, reason=ANY_SPACE)
            access = replace(access, is_window_aligned=found.is_aligned)
            address, whole = normal(found.address), normal(found.whole)
            there.append(found.holds)
        sure: Expr | None = None
        access = self._with_operands(raw, access, tuple(normal(resolved(each)) for each in raw.operands))
        if divisions is not None:
            there += [self._bounded.of(self._behind_loops(each, inside)) for each in divisions.conditions()]
        if raw.path.must is not None:
            sure = conjunction(dict.fromkeys((*map(resolved, raw.path.must), *there)))
        guard = conjunction(dict.fromkeys((*map(resolved, raw.path.may), *there)))
        source = access.source
        origin = None if source is None else source.address
        roots = (address, whole, origin, sure, guard, launches)
        known, places = in_one_trip(self.slices, variables(*(each for each in roots if each is not None)), self._last)
        if has_states and address is not None:
            states, more = self.reachable.values(each for each in variables(address) if each not in known)
            known |= states
            places += more
        shared.add(places)

        def put(value: Expr | None) -> Expr | None:
            return None if value is None else normal(substitute(value, known))

        if known:
            address, whole = put(address), put(whole)
            origin = put(origin)
            sure = None if sure is None else substitute(sure, known)
            guard, launches = substitute(guard, known), substitute(launches, known)
        loops = tuple(self._around(loop, forms, shared) for loop in loops_around)
        of_loops = [each for loop in loops for each in (loop.again.condition, loop.trips) if each is not None]
        asked = (launches, *of_loops)
        guard = without_ended(guard, (address, whole, origin), sure, asked, self.slices.leaves.__getitem__, inside)
        read = variables(*(each for each in (address, origin, guard, launches) if each is not None))
        leaves = tuple(self._told(self.slices.leaves[each], forms, shared, inside) for each in read)
        more = variables(*(() if whole is None else (whole,)), *of_loops)
        around = tuple(self._told(self.slices.leaves[each], forms, shared, inside) for each in more if each not in read)
        return replace(
            access,
            who=Executions(
                guard, sure, loops, launches, shared.meet(raw.block, raw.index), shared.is_apart(raw.block, raw.index)
            ),
            address=address,
            whole=whole,
            source=None if source is None or origin is None else replace(source, address=origin),
            leaves=leaves,
            around=around,
            assumes=() if divisions is None else divisions.texts(),
        )

    def _with_operands(self, raw: _Raw, access: KernelAccess, operands: tuple[Expr, ...]) -> KernelAccess:
        if operands and access.extent is not None:
            size = operands[0]
            if isinstance(size, Const) and size.value:
                return replace(access, extent=replace(access.extent, size_bytes=size.value))
            return access
        if access.cost.row is None or not operands:
            return access
        if access.cost.row.kind is RowKind.CP_ASYNC:
            return replace(access, source=CopySource(operands[0], may_fill_parts(operands[1:])))
        function = self.slices.flow.function
        instruction = function.instructions[raw.index]
        is_used = is_read(instruction, function)
        of_atomic = merging(instruction, operands[0], is_used=is_used)
        return replace(access, cost=replace(access.cost, merging=of_atomic))

    def _around(self, loop: Loop, forms: Forms, shared: Uniformity) -> LoopAround:
        line = self.slices.line_of(loop.header)
        inside = {each.header for latch in loop.latches for each in self.slices.flow.around(latch)}
        again = self.repeats.again(
            loop, lambda value: self._behind_loops(by_trip(self.slices, forms.resolve(value)), inside)
        )
        return LoopAround(line, loop.header in shared.left_together, trips_of(self.slices, loop), again, loop.header)

    def _behind_loops(self, value: Expr, inside: set[int]) -> Expr:
        """A value after loops: the last trip of such a loop, and its registers then, are substituted.

        This is done if the thread's coordinates alone decide it.
        """
        known: dict[Var, Expr] = {}
        for each in variables(value):
            if each not in self._behind:
                self._behind[each] = self._in_last_trip(self.slices.leaves[each])
            found = self._behind[each]
            if found is not None and self.slices.leaves[each].block not in inside:
                known[each] = found
        return substitute(value, known) if known else value

    def _in_last_trip(self, leaf: Leaf) -> Expr | None:
        """The value of a leaf of a loop in the last trip of each thread.

        None if that is not known, or if it is no leaf of a loop.
        """
        if not isinstance(leaf, LoopLeaf) or self.threads is None:
            return None
        count = self.counts.of_loop(self.slices.flow.loop_at[leaf.block])
        if count is None or not count.is_only_way:
            return None
        values: list[int] = count.last.tolist()
        if isinstance(leaf, CarriedLeaf):
            sequence = sequence_of(self.slices.carried[leaf.variable])
            if sequence is None:
                return None
            values = [sequence.in_trip(trip) for trip in values]
        return self.threads.function(values, leaf.variable.width, self.slices.leaves)

    def _told(self, leaf: Leaf, forms: Forms, shared: Uniformity, around: set[int]) -> Leaf:
        """A leaf with what the analysis found out about it."""
        new: dict[str, Any] = {"uniform": shared.leaf(leaf.variable, frozenset(around))}
        if isinstance(leaf, OpaqueLeaf):
            new["feeds"] = tuple(map(forms.resolve, leaf.feeds))
        if isinstance(leaf, TripsLeaf):
            new["most"] = most = self._last(self.slices.flow.loop_at[leaf.block])
            new["values"] = tuple(range(most + 1)) if most is not None and most < MOST_VALUES else None
        if isinstance(leaf, LoopLeaf):
            new["first"] = self._first(leaf, around)
        # One object for all accesses of which the same is known: questions about them are equal.
        return self._leaves_told.setdefault((leaf, *new.values()), replace(leaf, **new))

    def _last(self, loop: Loop) -> int | None:
        """The last trip that any thread makes of a loop; None if it is not counted."""
        count = self.counts.of_loop(loop)
        return None if count is None else count.most

    def _first(self, leaf: Leaf, around: set[int]) -> int | None:
        """The value of a leaf in the first trip of the loops around an access; None if it is no number."""
        value: Expr = leaf.variable
        for _ in range(_MOST_STARTS):
            new: dict[Var, Expr] = {}
            for each in variables(value):
                known, carried = self.slices.leaves[each], self.slices.carried.get(each)
                if not isinstance(known, LoopLeaf) or known.block not in around:
                    return None
                if not isinstance(known, TripsLeaf) and carried is None:
                    return None
                new[each] = const(0, each.width) if carried is None else carried.before
            value = substitute(value, new)
            if isinstance(value, Const):
                return value.value
        return None

"""`tcgen05.mma`: to which sums in tensor memory it adds, and which predicates elect one lane for it.

Source: PTX ISA 8.7, 9.7.16.10.9: tcgen05.mma; 9.7.13.14: elect.sync; docs/semantics.md, section 9.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from swzverify.compiled.kernel.access import KernelAccess
from swzverify.compiled.kernel.induction import Forms
from swzverify.compiled.kernel.lanes import ALL_LANES
from swzverify.compiled.kernel.leaves import Leaf
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.slices import Slices, Steps
from swzverify.compiled.kernel.sums import Sums
from swzverify.compiled.kernel.tensor_products import product_operands
from swzverify.compiled.kernel.values import bit_of, word_of
from swzverify.compiled.ptx import Immediate, Instruction
from swzverify.ir.expr import Const, Expr, Var

_WRITES: Final = re.compile(r"(?:tcgen05\.(?:mma|st|cp|shift)|call)\b.*")
"""Instructions that may write tensor memory."""
_WAITS: Final = re.compile(r"(?:bar|barrier|mbarrier)\b.*")
"""Instructions within a basic block that may wait for what other threads do."""
_ELECTED: Final = re.compile(r"elect\.sync at line \d+: (\d+)\.1\.1$")
"""The name of the predicate that an `elect.sync` makes."""


def elected_of(slices: Slices, forms: Forms, access: KernelAccess) -> frozenset[Var]:
    """The predicates read by an access that are true in one lane of each warp at most: whole warps elect it."""
    found: set[Var] = set()
    for leaf in access.leaves:
        made = _ELECTED.search(leaf.name)
        if made is not None and leaf.variable.width == 1 and _is_of_whole_warps(slices, forms, int(made[1])):
            found.add(leaf.variable)
    return frozenset(found)


def _is_of_whole_warps(slices: Slices, forms: Forms, index: int) -> bool:
    instruction = slices.function.instructions[index]
    if instruction.guard is not None or len(instruction.operands) != 2:
        return False
    value = forms.resolve(slices.run(word_of(slices, instruction.operands[1], instruction)))
    return isinstance(value, Const) and value.value == ALL_LANES


class TensorSums:
    """To which sums the products of a function add, by the addresses of D."""

    def __init__(self, slices: Slices, forms: Forms, places: Mapping[int, KernelAccess]) -> None:
        """`places` has for each `tcgen05.mma` with known operands, by its place, the address of D as a value."""
        self._slices, self._forms, self._places = slices, forms, places
        instructions = slices.function.instructions
        self._adds = {index: self._adds_to(instructions[index]) for index in places}
        self._others = [each for each in instructions if _WRITES.fullmatch(each.opcode) and each.index not in places]
        self._of: dict[int, tuple[str, bool]] = dict(self._classes())
        """For each product, the name of its sums, and whether all products of this name surely add to the same ones."""

    def of(self, index: int) -> Sums:
        """The sums of a product."""
        flow, (name, is_one) = self._slices.flow, self._of[index]
        block = flow.block_of[index]
        members = [each for each in self._places if self._of[each] == (name, is_one)]
        before = [each for each in members if flow.block_of[each] == block and each <= index]
        around = flow.around(block)
        kept, carried = set[int](), set[int]()
        for loop in around:
            adds = [self._adds[each] for each in members if flow.block_of[each] in loop.blocks]
            is_fixed = is_one and not any(each.block in loop.blocks for each in self._leaves(index))
            if not is_one or False not in adds:
                kept.add(loop.header)
            is_alone = not any(flow.block_of[each.index] in loop.blocks for each in self._others)
            if self._may_write_elsewhere(members, loop.blocks):
                is_alone = is_alone and not self._waits(range(len(self._slices.function.instructions)), loop.blocks)
            if is_fixed and all(adds) and is_alone:
                carried.add(loop.header)
        adds = [self._adds[each] for each in before]
        others = sum(flow.block_of[each.index] == block and each.index < index for each in self._others)
        if self._may_write_elsewhere(members, {block}):
            # Threads for which this one waits may write the sums meanwhile.
            others += self._waits(range(index), {block})
        # Where the sums may be others, no two products are alike, and none surely starts the sums of another one anew.
        resets = adds.count(False) if is_one else 0
        writes = len(adds) - adds.count(True) + others if is_one else index
        return Sums(name, (), resets, writes, frozenset(carried), frozenset(kept))

    def _may_write_elsewhere(self, members: Sequence[int], blocks: Collection[int]) -> bool:
        """Whether code outside of some blocks may write sums, and does not only add to them."""
        block_of = self._slices.flow.block_of
        return any(block_of[each.index] not in blocks for each in self._others) or any(
            block_of[each] not in blocks and not self._adds[each] for each in members
        )

    def _waits(self, indices: Iterable[int], blocks: Collection[int]) -> int:
        """How many of some instructions stand in some blocks and may wait for other threads."""
        flow, instructions = self._slices.flow, self._slices.function.instructions
        places = (each for each in indices if flow.block_of[each] in blocks)
        return sum(_WAITS.fullmatch(instructions[each].opcode) is not None for each in places)

    def _leaves(self, index: int) -> Iterable[Leaf]:
        return self._places[index].leaves

    def _classes(self) -> Iterable[tuple[int, tuple[str, bool]]]:
        """The name of the sums of each product, and whether all of this name are surely the same ones."""
        in_loops = frozenset[int]().union(*(loop.blocks for loop in self._slices.flow.loops))
        values = {index: access.address for index, access in self._places.items()}
        parts = {index: None if value is None else sum_of(value) for index, value in values.items()}
        bases = {None if each is None else frozenset(each.terms.items()) for each in parts.values()}
        is_fixed = not any(leaf.block in in_loops for index in values for leaf in self._leaves(index))
        if len(bases) == 1 and None not in bases and is_fixed:
            for index, part in parts.items():
                yield index, (f"tensor memory + {0 if part is None else part.number}", True)
            return
        is_one = len({*values.values()}) == 1 and None not in values.values()
        for index in values:
            yield index, ("tensor memory", is_one)

    def _adds_to(self, instruction: Instruction) -> bool | None:
        """Whether a product surely adds to its sums, or starts them anew; None if neither is known."""
        given = product_operands(instruction)
        if given is None or given.is_scaled or instruction.guard is not None:
            return None
        if any(self._number(word_of(self._slices, each, instruction)) != 0 for each in given.left_out):
            return None
        if isinstance(given.enable, Immediate):
            return bool(given.enable.value)
        number = self._number(bit_of(self._slices, given.enable, instruction))
        return None if number is None else bool(number)

    def _number(self, steps: Steps) -> int | None:
        value: Expr = self._forms.resolve(self._slices.run(steps))
        return value.value if isinstance(value, Const) else None

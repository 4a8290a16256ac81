"""The most that a copy of a box out of shared memory may read, where nothing else says what its tensor map has.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import product
from typing import Final

from swzverify.compiled.kernel.boxes import moves_one_box
from swzverify.compiled.kernel.bulk import FROM_SHARED
from swzverify.compiled.kernel.clusters import RANK_BITS
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.leaves import ArrayLeaf, UniformLeaf
from swzverify.compiled.kernel.linear import Sum, sum_of
from swzverify.compiled.kernel.whole import BOX_IS_OPEN, Kernel
from swzverify.compiled.order.events import Act
from swzverify.compiled.order.roles import Role
from swzverify.compiled.order.step import BlockThreads
from swzverify.hardware.targets import MOST_SHARED_BYTES
from swzverify.ir.expr import Expr, const, variables

LEAST_BYTES: Final = 16
"""A row of a box has at least so many bytes.

Source: CUDA driver API, cuTensorMapEncodeTiled: boxDim and the size of an element multiply to a multiple of 16.
"""
AT_MOST: Final = "the box of the tensor map at line {} has at most {} bytes"


def changes_maps(kernel: Kernel) -> bool:
    """Whether an instruction of the kernel may change a tensor map."""
    return any("tensormap" in each.opcode and base_name(each) != "prefetch" for each in kernel.function.instructions)


def most_of_stores(kernel: Kernel, roles: Sequence[Role], known: Collection[int]) -> dict[int, int]:
    """The bytes up to the next barrier object, or to the end of the array, for each copy whose box is not known.

    A copy from where no tile is that another copy fills does not reach the next such tile, either. One instruction has
    one tensor map: the least room of all its places counts. Nothing is said of a copy that has
    places of which the offset in an array is not known, or that have room for no box.
    """
    places = {deed.key for role in roles for node in role.walk.nodes for deed, _ in node.deeds}
    objects = [sum_of(each) for each in places if isinstance(each, Expr)]
    filled = list(dict.fromkeys(_filled(roles)))
    found: dict[int, int] = {}
    for index, address in kernel.maps.items() if not changes_maps(kernel) else ():
        copy = kernel.function.instructions[index]
        is_open = index not in known and any(each.reason == BOX_IS_OPEN for each in kernel.parts[index])
        is_fixed = all(isinstance(kernel.leaves[each], UniformLeaf) for each in variables(address))
        if is_open and is_fixed and FROM_SHARED.fullmatch(copy.opcode) and moves_one_box(copy):
            rooms = {_room(kernel, each, objects, filled) for each in _places(kernel, roles, index)}
            if rooms and min(rooms) >= LEAST_BYTES:
                found[index] = min(rooms)
    return found


def _places(kernel: Kernel, roles: Sequence[Role], index: int) -> Iterator[Sum]:
    """The places from which the threads of a block copy."""
    threads = BlockThreads(kernel.block)
    count = len(threads.first_of_warp)
    for role in roles:
        running = {each.values for node in role.walk.nodes for each in node.running if each.index == index}
        for values, part in product(running, kernel.parts[index]):
            lanes = [each for each in variables(part.address) if each.name in threads.point]
            points = {tuple(int(threads.point[each.name][at % count]) for each in lanes) for at in role.threads}
            for point in points:
                there = {each: const(number, each.width) for each, number in zip(lanes, point, strict=True)}
                yield sum_of(role.walk.place_of(part.address, values, there))


def _filled(roles: Sequence[Role]) -> Iterator[tuple[frozenset[tuple[Expr, int]], int, int]]:
    """The tiles that copies into shared memory fill: the terms of each address, its number, and the bytes."""
    for role in roles:
        for deed in (deed for node in role.walk.nodes for deed, _ in node.deeds if deed.act is Act.COPY):
            place = sum_of(role.walk.destination(deed))
            yield frozenset(place.terms.items()), place.number % (1 << RANK_BITS), deed.bytes


def _room(
    kernel: Kernel,
    place: Sum,
    objects: Sequence[Sum],
    filled: Sequence[tuple[frozenset[tuple[Expr, int]], int, int]],
) -> int:
    """The bytes from a place to what ends its room; 0 if the place is not known."""
    read = [kernel.leaves.of(each) for each in place.terms]
    arrays = [each.symbol for leaves in read for each in leaves if isinstance(each, ArrayLeaf)]
    if not (len(read) == len(arrays) == 1 and len(read[0]) == 1):
        return 0
    size = MOST_SHARED_BYTES if arrays[0].size_bytes is None else arrays[0].size_bytes
    begin = place.number % (1 << RANK_BITS)
    above = [each.number % (1 << RANK_BITS) for each in objects if each.terms == place.terms]
    tiles = [(number, bytes_) for terms, number, bytes_ in filled if terms == frozenset(place.terms.items())]
    if len(tiles) == len(filled) and not any(number <= begin < number + bytes_ for number, bytes_ in tiles):
        above += [number for number, _ in tiles]
    return min(size, *(each for each in above if each > begin), size) - begin

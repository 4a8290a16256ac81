"""The claim that an access is aligned: each lane's address is a multiple of the bytes it touches.

PTX says of an array only that it begins at a multiple of its alignment. Where that is not enough,
the verdict says what would be.

Source: PTX ISA, Addresses as Operands; Data Movement and Conversion Instructions: ld, st.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swzverify.claims.places import Places
from swzverify.claims.stated import multiple
from swzverify.compiled.kernel import ArrayLeaf
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.compiled.scan.claim import Claim, ClaimVerdict, Property, Values, WitnessLane, not_known
from swzverify.compiled.scan.claimed import claimed
from swzverify.compiled.scan.subject import Subject
from swzverify.ir.expr import Expr, extract, negation, variables
from swzverify.ir.integers import Integer


def aligned(subject: Subject) -> Claim:
    """The verdict on the alignment of one access.

    >>> from swzverify.compiled.ptx import read_module
    >>> from swzverify.compiled.scan import scan_function
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .shared .align 4 .b8 s[256]; .entry k() {"
    >>> text += ".reg .b32 %r<4>; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 3; mov.u32 %r2, s;"
    >>> text += "add.u32 %r2, %r2, %r1; ld.shared.v2.u32 {%r1, %r3}, [%r2]; ret; }"
    >>> module = read_module(text, "k.ptx")
    >>> found, = scan_function(module, module.functions[0], (32, 1, 1))
    >>> found.aligned.verdict.value, found.aligned.reason
    ('unknown', 'the start of s has to be a multiple of 8 bytes; it is aligned to 4')
    """
    address, width = subject.access.address, subject.multiple
    if address is None:
        return not_known("the address is not known")
    if width == 1:
        return Claim(ClaimVerdict.PROVED, engines=("width",))
    # Accesses of unrolled code differ in a number, of which only the rest counts.
    total = sum_of(address)
    key = ("aligned", width, total.number % width, *total.terms.items(), *subject.key)
    known = subject.asker.claims.get(key)
    if known is None:
        known = _aligned(subject, address, width)
        if known.verdict is ClaimVerdict.PROVED:
            subject.asker.claims[key] = known
    return known


def _aligned(subject: Subject, address: Expr, width: int) -> Claim:
    bits = width.bit_length() - 1
    low = normal(extract(address, 0, bits))
    bad = negation(multiple(Integer(low, 0, width - 1), width))
    read = [subject.leaves[each.name] for each in variables(low)]
    bases = tuple(leaf for leaf in read if isinstance(leaf, ArrayLeaf))

    def place(values: Values) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        rest = values(address) % np.uint64(width)
        return rest, Places(rest.view(np.int64), width).misaligned

    def words(lane: WitnessLane) -> str:
        what = "the offset in the array" if bases else "the address"
        return f"{what} is {lane.at} modulo {width} in lane {lane.lane} of warp {lane.warp}"

    return claimed(subject, Property(address, bad, place, bases, width, words))

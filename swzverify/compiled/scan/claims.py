"""The claims on one access beside its cost: those of the registry `compiled/kinds.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Final

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.kernel.linear import Sum, sum_of
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kinds import SCAN_CLAIMS, ScanClaim
from swzverify.compiled.ptx import size_of_type
from swzverify.compiled.scan.asker import Asker
from swzverify.compiled.scan.assuming import ELSEWHERE, in_one_launch
from swzverify.compiled.scan.bounds import PLACE_OF_BOUNDS
from swzverify.compiled.scan.claim import Claim, ClaimVerdict, not_known
from swzverify.compiled.scan.given import Facts
from swzverify.compiled.scan.one_dimension import MOST_THREADS, ONE_DIMENSION, of_first_threads, reads_shape
from swzverify.compiled.scan.price import block_of
from swzverify.compiled.scan.subject import Subject
from swzverify.compiled.scan.verdict import NO_BLOCK, NoVerdictError
from swzverify.hardware import LANES, MOST_SHARED_BYTES, TARGETS
from swzverify.ir.expr import to_signed

_FEW: Final = 2
"""Accesses that are alike and asked about one by one."""
_NO_WIDTH: Final = "the number of bytes that a lane touches is not known"
_OTHER_BLOCK: Final = (
    "the address leaves the array; with .shared::cluster it may belong to another block of the cluster"
)
_ELEMENTS: Final = re.compile(r"(?:ldu?|st|atom|red)\..*?(?:\.v([248]))?\.([busf]\d+|bf16|f16x2|bf16x2)")


def all_claims(
    read: Sequence[KernelAccess],
    facts: Facts,
    shape: BlockShape | None,
    asker: Asker,
    smem: int | None,
    target: str,
    *,
    is_line: bool = False,
) -> list[tuple[Claim, ...]]:
    """The verdicts on each access, in the order of the registry `compiled/kinds.py`.

    If the shape is not known and `is_line`, what is proved holds for every block of one dimension.
    """
    if is_line:
        return [
            _for_every_length(each, facts, asker, smem, target) if reads_shape(each) else found
            for each, found in zip(read, all_claims(read, facts, None, asker, smem, target), strict=True)
        ]
    alike: dict[tuple[object, ...], set[int]] = {}
    keys: list[tuple[object, ...]] = []
    for each in read:
        total = Sum({}, 0, 1) if each.whole is None else sum_of(each.whole)
        keys.append((width_of(each), each.who.guard, *total.terms.items()))
        alike.setdefault(keys[-1], set()).add(to_signed(total.number, total.width))
    numbers = {key: (min(found), max(found)) for key, found in alike.items() if len(found) > _FEW}
    return [
        _claims_on(each, facts, shape, asker, smem, target, numbers.get(key))
        for each, key in zip(read, keys, strict=True)
    ]


def _for_every_length(
    access: KernelAccess, facts: Facts, asker: Asker, smem: int | None, target: str
) -> tuple[Claim, ...]:
    """The claims that are proved of the first N of 1,024 threads, whatever N is."""
    return tuple(
        replace(each, assumptions=(*each.assumptions, ONE_DIMENSION))
        if each.verdict is ClaimVerdict.PROVED
        else not_known(NO_BLOCK)
        for each in _claims_on(of_first_threads(access), facts, MOST_THREADS, asker, smem, target, None)
    )


def _claims_on(
    access: KernelAccess,
    facts: Facts,
    shape: BlockShape | None,
    asker: Asker,
    smem: int | None,
    target: str,
    numbers: tuple[int, int] | None,
) -> tuple[Claim, ...]:
    """The verdicts on one access."""
    most = TARGETS[target].shared_bytes_per_block if target in TARGETS else MOST_SHARED_BYTES
    found = _claims(access, facts, shape, asker, smem, most, numbers)
    strict = in_one_launch(access) if any(each.is_broken for each in found) else None
    if strict is None:
        return found
    there = _claims(strict, facts, shape, asker, smem, most)
    return tuple(_sure(*each) for each in zip(found, there, strict=True))


def _sure(claim: Claim, strict: Claim) -> Claim:
    """A claim; one that is broken has to be broken in the stricter reading too."""
    if not claim.is_broken:
        return claim
    return strict if strict.is_broken else not_known(ELSEWHERE)


def _claims(
    access: KernelAccess,
    facts: Facts,
    shape: BlockShape | None,
    asker: Asker,
    smem: int | None,
    most: int,
    numbers: tuple[int, int] | None = None,
) -> tuple[Claim, ...]:
    if access.reason:
        return _none_known(access.reason)
    width, extent = width_of(access), access.extent
    if width is None and extent is None:
        return _none_known(_NO_WIDTH)
    multiple = width or 1 if extent is None else extent.align_bytes
    whole = facts.on(replace(access, leaves=(*access.leaves, *access.around)) if access.around else access)
    no_shape = shape is None
    if no_shape and any(leaf.name.startswith(("tid.", "ntid.")) for leaf in whole.leaves):
        return _none_known(NO_BLOCK)
    lanes = LANES if access.cost.row is None else access.cost.row.address_lanes
    subject = Subject(whole, width or 1, multiple, lanes, block_of(shape or (LANES, 1, 1)), asker, smem, most, numbers)
    texts = facts.texts_on(whole)
    found = tuple(
        not_known(_NO_WIDTH) if width is None and number == PLACE_OF_BOUNDS else _judge_claim(each, subject)
        for number, each in enumerate(SCAN_CLAIMS)
    )
    if found[PLACE_OF_BOUNDS].is_broken and "shared::cluster" in access.site.opcode.split("."):
        # The address may be that of another block of the cluster, which has arrays of its own.
        found = tuple(
            not_known(_OTHER_BLOCK) if number == PLACE_OF_BOUNDS else each for number, each in enumerate(found)
        )
    if no_shape:
        # A block may have fewer lanes, and none of those that break a claim.
        found = tuple(not_known(NO_BLOCK) if each.is_broken else each for each in found)
    return tuple(
        each if each.verdict is ClaimVerdict.UNKNOWN or not texts else replace(each, assumptions=texts)
        for each in found
    )


def _none_known(reason: str) -> tuple[Claim, ...]:
    return (not_known(reason),) * len(SCAN_CLAIMS)


def _judge_claim(claim: ScanClaim, subject: Subject) -> Claim:
    module, function = claim.judge
    judge: Callable[[Subject], Claim] = getattr(import_module(f"swzverify.compiled.scan.{module}"), function)
    try:
        return judge(subject)
    except NoVerdictError as error:
        return not_known(str(error))
    except ValueError as error:
        return not_known(f"the address cannot be computed: {error}")


def width_of(access: KernelAccess) -> int | None:
    """The bytes that each lane touches, for a matrix instruction those of a row; None if not known.

    Of a bulk copy they are those of the lane that starts it.
    """
    if access.extent is not None:
        return access.extent.size_bytes
    if access.cost.row is not None:
        return access.cost.row.width_bytes
    found = _ELEMENTS.fullmatch(access.site.opcode)
    size = None if found is None else size_of_type(found[2])
    return None if found is None or size is None else size * int(found[1] or 1)

"""The claims on one access: aligned, and in bounds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import size_of_type
from swzverify.compiled.scan.aligned import aligned
from swzverify.compiled.scan.asker import OutOfClockError, Possible
from swzverify.compiled.scan.assuming import ELSEWHERE, in_one_launch
from swzverify.compiled.scan.bounds import in_bounds
from swzverify.compiled.scan.claim import Claim, ClaimVerdict, not_known
from swzverify.compiled.scan.given import Facts
from swzverify.compiled.scan.price import DisagreementError, block_of
from swzverify.compiled.scan.subject import Subject
from swzverify.compiled.scan.verdict import FAULT, NO_BLOCK
from swzverify.hardware import LANES, MOST_SHARED_BYTES, TARGETS

_ELEMENTS: Final = re.compile(r"(?:ldu?|st|atom|red)\..*?(?:\.v([248]))?\.([busf]\d+|bf16|f16x2|bf16x2)")


def claims_on(
    access: KernelAccess, facts: Facts, shape: BlockShape | None, possible: Possible, smem: int | None, target: str
) -> tuple[Claim, Claim]:
    """The verdicts on alignment and bounds of one access."""
    most = TARGETS[target].shared_bytes_per_block if target in TARGETS else MOST_SHARED_BYTES
    found = _claims(access, facts, shape, possible, smem, most)
    strict = in_one_launch(access) if any(each.is_broken for each in found) else None
    if strict is None:
        return found
    there = _claims(strict, facts, shape, possible, smem, most)
    one, two = (_sure(*each) for each in zip(found, there, strict=True))
    return one, two


def _sure(claim: Claim, strict: Claim) -> Claim:
    """A claim; one that is broken has to be broken in the stricter reading too."""
    if not claim.is_broken:
        return claim
    return strict if strict.is_broken else not_known(ELSEWHERE)


def _claims(
    access: KernelAccess, facts: Facts, shape: BlockShape | None, possible: Possible, smem: int | None, most: int
) -> tuple[Claim, Claim]:
    if access.reason:
        return not_known(access.reason), not_known(access.reason)
    width = width_of(access)
    if width is None:
        reason = "how many bytes a lane touches is not known"
        return not_known(reason), not_known(reason)
    whole = facts.on(replace(access, leaves=(*access.leaves, *access.around)) if access.around else access)
    no_shape = shape is None
    if no_shape and any(leaf.name.startswith(("tid.", "ntid.")) for leaf in whole.leaves):
        return not_known(NO_BLOCK), not_known(NO_BLOCK)
    lanes = LANES if access.row is None else access.row.address_lanes
    subject = Subject(whole, width, lanes, block_of(shape or (LANES, 1, 1)), possible)
    texts = facts.texts_on(whole)
    found = (_said(lambda: aligned(subject)), _said(lambda: in_bounds(subject, smem, most)))
    if no_shape:
        # A block may have fewer lanes, and none of those that break a claim.
        found = tuple(not_known(NO_BLOCK) if each.is_broken else each for each in found)
    first, second = (
        each if each.verdict is ClaimVerdict.UNKNOWN or not texts else replace(each, assumptions=texts)
        for each in found
    )
    return first, second


def _said(claim: Callable[[], Claim]) -> Claim:
    try:
        return claim()
    except DisagreementError:
        return not_known(FAULT)
    except OutOfClockError as error:
        return not_known(str(error))
    except ValueError as error:
        return not_known(f"the address cannot be computed: {error}")


def width_of(access: KernelAccess) -> int | None:
    """The bytes that each lane touches: of a matrix instruction a row; None where they are not
    known.
    """
    if access.row is not None:
        return access.row.width_bytes
    found = _ELEMENTS.fullmatch(access.opcode)
    size = None if found is None else size_of_type(found[2])
    return None if found is None or size is None else size * int(found[1] or 1)

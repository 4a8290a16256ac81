"""Operands that `mma.sync` reads from registers, with the loads of shared memory that fill these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import KernelFragment, read_fragments
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kinds import DELIVERS, ScanClaim
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.scan.claim import NEVER_MADE, not_known
from swzverify.compiled.scan.delivers import Elements
from swzverify.compiled.scan.fragment_places import FragmentPlaces, Fragments
from swzverify.compiled.scan.given import Facts, Given, module_and_facts
from swzverify.compiled.scan.launch import block_of_launch
from swzverify.compiled.scan.operand_judge import OperandJudge
from swzverify.compiled.scan.operand_runs import refuted_by_run
from swzverify.compiled.scan.operand_subject import ValueSubject
from swzverify.compiled.scan.operands import ScannedOperand
from swzverify.compiled.scan.scanned import Scanned, place_of
from swzverify.compiled.scan.verdict import NO_BLOCK, NoVerdictError
from swzverify.layout.swizzle import Swizzle

_MOST_STARTS: Final = 8


@dataclass(frozen=True, slots=True)
class FragmentFields:
    """Where the elements of a fragment lie in shared memory; None where that is not known.

    Element (r, k) lies at a start address + r * `row` + k * `column`, and the swizzle is applied to that.

    Attributes:
        role: A or B.
        start: The array and the offsets of element (0, 0), in all warps and states, such as `tile + {0, 2048}`.
        row: The bytes from a row to the next one.
        column: The bytes from an element along K to the next one.
        swizzle: The XOR, as CuTe writes it, that maps offsets in the array; None if there is none.
        unknown: Why the map is not known; it has the key `start` or `row`.
    """

    role: str
    start: str | None = None
    row: int | None = None
    column: int | None = None
    swizzle: str | None = None
    unknown: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedFragment(Scanned):
    """An operand of `mma.sync`, with its verdict.

    Attributes:
        fields: Where its elements lie in shared memory.
        elements: Where they come from; None if that is not known.
    """

    kinds: ClassVar[tuple[ScanClaim, ...]] = (DELIVERS,)
    fields: FragmentFields
    elements: Elements | None = None


AnyOperand: TypeAlias = ScannedOperand | ScannedFragment
"""An operand of the tensor core."""


def scan_fragments(
    module: Module,
    function: Function,
    block: BlockShape | None,
    given: Given,
    smem: int | None,
    *,
    assumed: str = "",
) -> list[ScannedFragment]:
    """The operands A and B of all `mma.sync`, in the order of the text.

    The arguments are those of `scan_function`.
    """
    block = block_of_launch(function, block)
    module, facts = module_and_facts(module, function, given)
    whole = read_fragments(module, function, block, facts.arguments)
    judge = _Judge(facts, block, smem)
    subjects = {place: judge.subject_of(load.access) for place, load in whole.loads.items()}
    fragments = None if block is None else Fragments(whole.loads, Threads(block))
    places = [judge.places(each, fragments, subjects) for each in whole.fragments]
    # A product of which one operand is computed says nothing of where the other one begins along K.
    known = [at for at, each in enumerate(whole.fragments) if not each.is_computed]
    delivered = judge.delivered(
        [whole.fragments[at] for at in known],
        [places[at] for at in known],
        whole.fills,
        () if fragments is None else fragments.assumes,
        is_entry=function.is_entry,
    )
    lines = [whole.fragments[at].access.site.line for at in known]
    delivered = refuted_by_run(module, function, block, facts, smem, lines, delivered)
    verdicts = dict(zip(known, delivered, strict=True))
    described: dict[int, FragmentFields] = {}
    found: list[ScannedFragment] = []
    for at, (each, place) in enumerate(zip(whole.fragments, places, strict=True)):
        access = each.access
        claim, elements = verdicts.get(at, (not_known(each.reason), None))
        if isinstance(place, str):
            fields = FragmentFields(each.role.value, unknown={"start": place})
        else:
            if id(place) not in described:
                described[id(place)] = describe(each.role.value, place)
            fields = described[id(place)]
        assumptions = (*([assumed] if assumed else []), *facts.texts_on(access))
        found.append(
            ScannedFragment(
                **place_of(function, access, block, assumed),
                instruction=f"{access.site.opcode}, operand {fields.role}",
                address=fields.start or "",
                assumptions=assumptions,
                claims=(replace(claim, assumptions=tuple(dict.fromkeys((*assumptions, *claim.assumptions)))),),
                fields=fields,
                elements=elements,
            )
        )
    return found


class _Judge(OperandJudge):
    """Judges the fragments of one function."""

    def __init__(self, facts: Facts, shape: BlockShape | None, smem: int | None) -> None:
        super().__init__(facts, shape, smem)
        self._owners: dict[int, ValueSubject] = {}

    def places(
        self, each: KernelFragment, fragments: Fragments | None, subjects: Mapping[int, ValueSubject]
    ) -> FragmentPlaces | str:
        """Where the elements of an operand lie; in words why that is not known."""
        if each.reason:
            return each.reason
        if fragments is None:
            return NO_BLOCK
        # Products with one guard in one basic block are one question.
        key = id(each.access.who)
        if key not in self._owners:
            self._owners[key] = self.subject_of(each.access)
        own = self._owners[key]
        try:
            if each.access.reason or not self.is_made(own):
                return each.access.reason or NEVER_MADE
            return fragments.places(each, own, subjects)
        except NoVerdictError as error:
            return str(error)
        except ValueError as error:
            return f"its address cannot be computed: {error}"


def describe(role: str, places: FragmentPlaces) -> FragmentFields:
    """Where elements lie, if that is one affine map in all warps and states, or one after an XOR swizzle."""
    own = np.stack(places.places)
    for swizzle in _swizzles():
        plain = own if swizzle is None else _applied(swizzle, own)
        row, column = int(plain[0, 1, 0] - plain[0, 0, 0]), int(plain[0, 0, 1] - plain[0, 0, 0])
        rows, columns = (np.arange(count, dtype=np.int64) for count in own.shape[1:])
        if bool((plain == plain[:, :1, :1] + rows[:, None] * row + columns * column).all()):
            starts = _listed(sorted(set(map(int, plain[:, 0, 0]))))
            text = None if swizzle is None else f"Swizzle<{swizzle.bits},{swizzle.base},{swizzle.shift}>"
            return FragmentFields(role, f"{places.array} + {starts}", row, column, text)
    starts = _listed(sorted(set(map(int, own[:, 0, 0]))))
    reason = "its elements have no affine places, and none after an XOR swizzle"
    return FragmentFields(role, f"{places.array} + {starts}", unknown={"row": reason})


def _applied(swizzle: Swizzle, places: NDArray[np.int64]) -> NDArray[np.int64]:
    return places ^ ((places >> swizzle.shift) & (((1 << swizzle.bits) - 1) << swizzle.base))


def _swizzles() -> Iterator[Swizzle | None]:
    """No swizzle, and then those that kernels use, of 16 bytes first."""
    yield None
    for base in (4, 3, 2):
        for shift in range(1, 8):
            for bits in range(1, min(shift, 4) + 1):
                yield Swizzle(bits, base, shift)


def _listed(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return str(numbers[0])
    words = ", ".join(map(str, numbers[:_MOST_STARTS]))
    return f"{{{words}, ... {numbers[-1]}}}" if len(numbers) > _MOST_STARTS else f"{{{words}}}"

"""Operands that the tensor core reads from shared memory through matrix descriptors, with their verdicts.

The shape of a `tcgen05.mma` is a value of the kernel, too: its instruction descriptor. An operand of `wgmma` has no
verdict on bank conflicts: on an H100 the counters of `wgmma` count none, whatever the layout (tests/data/README.md,
h100_wgmma.csv).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar, Final

from swzverify.compiled.kernel import KernelOperand, read_operands
from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.clusters import OF_SHAPE
from swzverify.compiled.kernel.descriptors import is_window
from swzverify.compiled.kernel.parts import Parts
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.symbols import WINDOW_ALIGNED
from swzverify.compiled.kinds import OPERAND_CLAIMS, ScanClaim
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.scan.claim import NEVER_MADE, Claim, ClaimVerdict, not_known
from swzverify.compiled.scan.delivers import Elements
from swzverify.compiled.scan.given import Facts, Given, module_and_facts
from swzverify.compiled.scan.launch import block_of_launch
from swzverify.compiled.scan.operand_claims import ENCODED, bytes_in_bounds, reserved_bits
from swzverify.compiled.scan.operand_clusters import (
    NO_CLUSTER,
    ClusterBlocks,
    Delivered,
    several_blocks,
    whole_cluster,
)
from swzverify.compiled.scan.operand_fields import NAMES, OperandFields, fields_of, number_in
from swzverify.compiled.scan.operand_judge import OperandJudge
from swzverify.compiled.scan.operand_offsets import is_issued_once, whoever_is_elected
from swzverify.compiled.scan.operand_places import Places, described_places
from swzverify.compiled.scan.operand_runs import refuted_by_run
from swzverify.compiled.scan.operand_subject import OperandSubject, ValueSubject
from swzverify.compiled.scan.scanned import Scanned, place_of
from swzverify.compiled.scan.stages import OperandRead, ScannedStage, scan_stages
from swzverify.compiled.scan.verdict import NO_BLOCK, NoVerdictError
from swzverify.errors import SwzError
from swzverify.hardware.instruction_descriptors import kind_of, read_instruction_descriptor
from swzverify.hardware.tensor_cores import Family
from swzverify.ir.expr import FALSE, variables
from swzverify.subjects.descriptor import Descriptor

DOCUMENTED: Final = f"what {Family.TCGEN05.value} reads is {Family.TCGEN05.evidence.value}, not measured"
ONE_ADDRESS: Final = "the address of tensor memory is one value in all threads"
_BASIS: Final = ((), (DOCUMENTED,), (), (DOCUMENTED, ONE_ADDRESS))
"""What verdicts on operands of `tcgen05.mma` rest on, in the order of `OPERAND_CLAIMS`."""
SEVERAL: Final = "several threads may execute it, each for itself"
_SHAPE_BITS: Final = 32

UNKNOWN_FIELD: Final = "a field of the descriptor is not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedOperand(Scanned):
    """An operand in shared memory of a tensor-core instruction, with its verdicts.

    Attributes:
        fields: The fields of its descriptor.
        elements: Where its elements come from; None if that is not known.
    """

    kinds: ClassVar[tuple[ScanClaim, ...]] = OPERAND_CLAIMS
    fields: OperandFields
    elements: Elements | None = None


def scan_operands_and_stages(
    module: Module,
    function: Function,
    block: BlockShape | None,
    given: Given,
    smem: int | None,
    *,
    assumed: str = "",
) -> tuple[list[ScannedOperand], list[ScannedStage]]:
    """The operands that `wgmma.mma_async` and `tcgen05.mma` read from shared memory, in the order of the text.

    The second list has the balance of the stages that barrier objects count. The arguments are those of
    `scan_function`.
    """
    block = block_of_launch(function, block)
    module, facts = module_and_facts(module, function, given)
    judge, found = _Judge(facts, block, smem), list[ScannedOperand]()
    whole = read_operands(module, function, block, facts.arguments)
    shaped = [judge.shaped(each) for each in whole.operands]
    judged = [judge.safely(each, reason) for each, reason in shaped]
    places = judge.places([claims[1].reason for _, claims in judged])
    known = [each for each, _ in shaped]
    if function.is_entry and (line := several_blocks(whole.fills)) is not None:
        cluster = function.tuning.cluster or given.cluster
        delivered = _in_cluster(module, function, block, facts, smem, cluster, line, len(places))
    else:
        parts = judge.parts.assumes
        delivered = judge.delivered(known, places, whole.fills, parts, is_entry=function.is_entry)
    lines = [each.access.site.line for each in whole.operands]
    delivered = refuted_by_run(module, function, block, facts, smem, lines, delivered)
    for each, (fields, claims), (last, elements) in zip(known, judged, delivered, strict=True):
        access = each.access
        assumptions = [*([assumed] if assumed else []), *facts.texts_on(access)]
        if access.address is not None and any(map(is_window, variables(access.address))):
            assumptions.append(WINDOW_ALIGNED)
        found.append(
            ScannedOperand(
                **place_of(function, access, block, assumed),
                instruction=f"{access.site.opcode}, operand {fields.role}",
                address=fields.start or "",
                assumptions=tuple(assumptions),
                claims=tuple(
                    replace(claim, assumptions=tuple(dict.fromkeys((*assumptions, *claim.assumptions))))
                    for claim in _with_basis(each.family, (*claims, last))
                ),
                fields=fields,
                elements=elements,
            )
        )
    return found, scan_stages(function.name, whole.transfers, judge.read, judge.subject_of)


def _in_cluster(
    module: Module,
    function: Function,
    block: BlockShape | None,
    facts: Facts,
    smem: int | None,
    cluster: BlockShape | None,
    line: int,
    count: int,
) -> list[Delivered]:
    """What is delivered to so many operands in each block of a cluster; the copy of a line goes to several blocks."""
    if block is None or cluster is None:
        return [(not_known(NO_BLOCK if block is None else NO_CLUSTER.format(line)), None)] * count
    shape = whole_cluster(inlined(module, function).function, block, cluster)
    if isinstance(shape, str):
        return [(not_known(shape), None)] * count
    whole = read_operands(module, function, shape, replace(facts.arguments, cluster=cluster))
    judge = _Judge(facts, shape, smem)
    reads = [judge.read_of(each) for each in whole.operands]
    found = ClusterBlocks(prod(cluster), block, OperandJudge(facts, block, smem), whole, reads).delivered()
    if function.tuning.cluster is not None:
        return found
    told = OF_SHAPE.format(",".join(map(str, cluster)))
    return [
        (replace(claim, assumptions=(told, *claim.assumptions)) if claim.engines else claim, elements)
        for claim, elements in found
    ]


class _Judge(OperandJudge):
    """Judges the operands of one function."""

    def __init__(self, facts: Facts, shape: BlockShape | None, smem: int | None) -> None:
        super().__init__(facts, shape, smem)
        self.read: list[OperandRead | None] = []
        """For each operand, the bytes that it reads, if they are known."""
        self.parts = Parts()
        """The parts of start addresses that have few numbers."""

    def shaped(self, operand: KernelOperand) -> tuple[KernelOperand, str]:
        """The operand with what its instruction descriptor says, if it has one; in words why that is not known."""
        if operand.shape is None:
            return operand, ""
        subject = self.subject_of(operand.shape)
        value = subject.access.address
        try:
            if reason := self._reason(subject) if value is not None else "it is not read":
                return operand, reason
            number = number_in(subject, value or FALSE, (0, _SHAPE_BITS))
            if isinstance(number, str):
                return operand, f"the instruction descriptor is not known: {number}"
            shape = read_instruction_descriptor(kind_of(operand.access.site.opcode) or "", number)
            row = shape.instruction(operand.role)
        except (NoVerdictError, SwzError) as error:
            return operand, error.message if isinstance(error, SwzError) else str(error)
        sums = None if operand.sums is None else replace(operand.sums, signs=shape.signs)
        return replace(operand, instruction=row, major=shape.majors[operand.role], sums=sums), ""

    def safely(self, operand: KernelOperand, shapeless: str) -> tuple[OperandFields, tuple[Claim, ...]]:
        """The fields, and all verdicts but the last one, in the order of `OPERAND_CLAIMS`.

        `shapeless` says why the shape is not known.
        """
        subject = self._subject(operand)
        self.read.append(None)
        try:
            reason = self._reason(subject)
            if not reason:
                return self._judged(subject, shapeless)
        except NoVerdictError as error:
            reason = str(error)
        except ValueError as error:
            reason = f"the descriptor cannot be computed: {error}"
        fields = OperandFields(operand.role.value, unknown=dict.fromkeys(NAMES, reason))
        return fields, tuple(not_known(reason) for _ in OPERAND_CLAIMS[:-1])

    def read_of(self, operand: KernelOperand) -> OperandRead | str:
        """The bytes that an operand reads; in words why they are not known."""
        subject = self._subject(operand)
        try:
            if (reason := self._reason(subject)) or subject.access.address is None or operand.major is None:
                return reason or UNKNOWN_FIELD
            fields, start = fields_of(subject, subject.access.address)
        except (NoVerdictError, ValueError) as error:
            return str(error)
        if start is None or fields.descriptor is None:
            return UNKNOWN_FIELD
        return OperandRead(subject, start, fields.descriptor, operand.major)

    def _subject(self, operand: KernelOperand) -> OperandSubject:
        plain = self.subject_of(operand.access)
        return OperandSubject(plain.access, self._shape, self._asker, self._smem, operand)

    def places(self, reasons: Sequence[str]) -> list[Places | str]:
        """Where each operand lies; one of `reasons`, of which each operand has one, if that is not known."""
        shape = self._shape
        found: list[Places | str] = []
        for read, reason in zip(self.read, reasons, strict=True):
            if read is None or shape is None:
                found.append(NO_BLOCK if read is not None else reason)
                continue
            subject = read.subject
            is_several = subject.is_of_one_thread and not is_issued_once(subject, subject.operand.elected)
            found.append(SEVERAL if is_several else described_places(read, shape, self.parts))
        return found

    def _reason(self, subject: ValueSubject) -> str:
        """Why nothing can be said of an operand; empty if something can."""
        access = subject.access
        if access.reason or access.address is None:
            return access.reason or "the descriptor is not known"
        if self._shape is None and any(leaf.name.startswith(("tid.", "ntid.")) for leaf in access.leaves):
            return NO_BLOCK
        return "" if self.is_made(subject) else NEVER_MADE

    def _judged(self, subject: OperandSubject, shapeless: str) -> tuple[OperandFields, tuple[Claim, ...]]:
        value, major = subject.access.address, subject.operand.major
        if value is None:
            raise ValueError("no descriptor")
        fields, start = fields_of(subject, value, shapeless)
        inside = not_known(shapeless or UNKNOWN_FIELD)
        reserved = _or_broken(subject, lambda each: reserved_bits(each, value))
        if start is not None and major is not None and (descriptor := fields.descriptor) is not None:
            if reason := _without_rule(subject.operand, descriptor, reserved):
                inside = not_known(reason)
            else:
                inside = _or_broken(subject, lambda each: bytes_in_bounds(each, start, descriptor, major))
                self.read[-1] = OperandRead(subject, start, descriptor, major)
        claims = (ENCODED, inside, reserved)
        if self._shape is None:
            # A block may have fewer lanes, and none of those that break a claim.
            claims = tuple(not_known(NO_BLOCK) if each.is_broken else each for each in claims)
        return fields, claims


def _or_broken(subject: OperandSubject, judge: Callable[[OperandSubject], Claim]) -> Claim:
    """The verdict on a claim. It is broken, too, if it is broken for every lane that may be elected."""
    found = judge(subject)
    if found.verdict is not ClaimVerdict.UNKNOWN or (elected := whoever_is_elected(subject)) is None:
        return found
    other = judge(elected)
    return other if other.is_broken else found


def _without_rule(operand: KernelOperand, descriptor: Descriptor, reserved: Claim) -> str:
    """Why the rule does not say what `tcgen05.mma` reads through a descriptor; empty if it does."""
    if operand.family is not Family.TCGEN05:
        return ""
    if reserved.verdict is not ClaimVerdict.PROVED:
        return "the bits outside of the descriptor's fields are not proved to be right"
    if descriptor.base_offset and not operand.family.base_offset_is_known:
        return f"a base offset of {descriptor.base_offset} has no rule"
    return ""


def _with_basis(family: Family, claims: Sequence[Claim]) -> Iterator[Claim]:
    """The verdicts in the order of `OPERAND_CLAIMS`, with what those rest on that need the rule of `tcgen05.mma`."""
    for basis, claim in zip(_BASIS, claims, strict=True):
        is_open = family is not Family.TCGEN05 or claim.verdict is ClaimVerdict.UNKNOWN
        yield claim if is_open else replace(claim, assumptions=(*claim.assumptions, *basis))

"""Operands that the tensor core reads from shared memory through matrix descriptors, with their verdicts.

An operand of `wgmma` has no verdict on bank conflicts: on an H100 the counters of `wgmma` count none, whatever
the layout (tests/data/README.md, h100_wgmma.csv).
"""

from __future__ import annotations

from collections.abc import Sequence
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
from swzverify.compiled.scan.claim import NEVER_MADE, Claim, not_known
from swzverify.compiled.scan.delivers import Elements
from swzverify.compiled.scan.given import Facts, Given, facts_of, with_alignment
from swzverify.compiled.scan.launch import block_of_launch
from swzverify.compiled.scan.operand_claims import ENCODED, bytes_in_bounds, reserved_bits
from swzverify.compiled.scan.operand_clusters import (
    NO_CLUSTER,
    ClusterBlocks,
    Delivered,
    several_blocks,
    whole_cluster,
)
from swzverify.compiled.scan.operand_fields import NAMES, OperandFields, fields_of
from swzverify.compiled.scan.operand_judge import OperandJudge
from swzverify.compiled.scan.operand_places import Places, described_places
from swzverify.compiled.scan.operand_runs import refuted_by_run
from swzverify.compiled.scan.operand_subject import OperandSubject
from swzverify.compiled.scan.scanned import Scanned, place_of
from swzverify.compiled.scan.stages import OperandRead, ScannedStage, scan_stages
from swzverify.compiled.scan.verdict import NO_BLOCK, NoVerdictError
from swzverify.ir.expr import variables

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


def scan_operands(
    module: Module,
    function: Function,
    block: BlockShape | None,
    given: Given,
    smem: int | None,
    *,
    assumed: str = "",
) -> list[ScannedOperand]:
    """The operands that `wgmma.mma_async` reads from shared memory, in the order of the text.

    The arguments are those of `scan_function`.
    """
    return scan_operands_and_stages(module, function, block, given, smem, assumed=assumed)[0]


def scan_operands_and_stages(
    module: Module,
    function: Function,
    block: BlockShape | None,
    given: Given,
    smem: int | None,
    *,
    assumed: str = "",
) -> tuple[list[ScannedOperand], list[ScannedStage]]:
    """The operands, and the balance of the stages that barrier objects count."""
    block = block_of_launch(function, block)
    module, aligned = with_alignment(module, given)
    facts = replace(facts_of(function, given), aligned=aligned)
    judge, found = _Judge(facts, block, smem), list[ScannedOperand]()
    whole = read_operands(module, function, block, facts.arguments)
    judged = [judge.safely(each) for each in whole.operands]
    places = judge.places([claims[1].reason for _, claims in judged])
    if function.is_entry and (line := several_blocks(whole.fills)) is not None:
        cluster = function.tuning.cluster or given.cluster
        delivered = _in_cluster(module, function, block, facts, smem, cluster, line, len(places))
    else:
        parts = judge.parts.assumes
        delivered = judge.delivered(whole.operands, places, whole.fills, parts, is_entry=function.is_entry)
    lines = [each.access.site.line for each in whole.operands]
    delivered = refuted_by_run(module, function, block, facts, smem, lines, delivered)
    for each, (fields, claims), (last, elements) in zip(whole.operands, judged, delivered, strict=True):
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
                    for claim in (*claims, last)
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

    def safely(self, operand: KernelOperand) -> tuple[OperandFields, tuple[Claim, ...]]:
        """The fields, and all verdicts but the last one, in the order of `OPERAND_CLAIMS`."""
        subject = self._subject(operand)
        self.read.append(None)
        try:
            reason = self._reason(subject)
            if not reason:
                return self._judged(subject)
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
        found: list[Places | str] = [
            reason if read is None else NO_BLOCK if shape is None else described_places(read, shape, self.parts)
            for read, reason in zip(self.read, reasons, strict=True)
        ]
        return found

    def _reason(self, subject: OperandSubject) -> str:
        """Why nothing can be said of an operand; empty if something can."""
        access = subject.access
        if access.reason or access.address is None:
            return access.reason or "the descriptor is not known"
        if self._shape is None and any(leaf.name.startswith(("tid.", "ntid.")) for leaf in access.leaves):
            return NO_BLOCK
        return "" if self.is_made(subject) else NEVER_MADE

    def _judged(self, subject: OperandSubject) -> tuple[OperandFields, tuple[Claim, ...]]:
        value, major = subject.access.address, subject.operand.major
        if value is None:
            raise ValueError("no descriptor")
        fields, start = fields_of(subject, value)
        inside = not_known(UNKNOWN_FIELD)
        if start is not None and major is not None and (descriptor := fields.descriptor) is not None:
            inside = bytes_in_bounds(subject, start, descriptor, major)
            self.read[-1] = OperandRead(subject, start, descriptor, major)
        claims = (ENCODED, inside, reserved_bits(subject, value))
        if self._shape is None:
            # A block may have fewer lanes, and none of those that break a claim.
            claims = tuple(not_known(NO_BLOCK) if each.is_broken else each for each in claims)
        return fields, claims

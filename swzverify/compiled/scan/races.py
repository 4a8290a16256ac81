"""Whether a kernel's shared-memory accesses race."""

from __future__ import annotations

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.order.verdict import KernelRaces, RaceVerdict
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.scan.given import Given


def races_of(
    module: Module,  # noqa: ARG001
    function: Function,  # noqa: ARG001
    given: Given,  # noqa: ARG001
    *,
    lockstep: bool = False,
    block: BlockShape | None = None,  # noqa: ARG001
    target: str = "sm_90",  # noqa: ARG001
) -> KernelRaces:
    """The verdict on the races of a kernel."""
    return KernelRaces(RaceVerdict.UNKNOWN, "the order of accesses is not decided", is_lockstep=lockstep)

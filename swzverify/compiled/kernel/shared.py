"""An access to shared memory as one thread makes it: what questions about two threads read of it."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.compiled.kernel.access import EVERYONE, Executions
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.stored import Stored
from swzverify.compiled.ptx import Instruction
from swzverify.hardware import LANES
from swzverify.hardware.tensor_cores import OperandRole
from swzverify.ir.expr import FALSE, Expr


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """One instruction that touches shared memory, as one thread runs it.

    Attributes:
        instruction: The instruction.
        calls: The lines of the inlined calls that lead to it.
        is_write: Whether it may write.
        is_atomic: Whether it is one atomic operation.
        is_strong: Whether it is a load or store that the memory model orders by itself.
        is_copy: Whether it is a copy that runs on after the instruction.
        is_bulk: Whether it is made through the async proxy; its start is not a multiple of its bytes.
        operand: Which operand of `wgmma` it is; then `address` is its descriptor, of 64 bits.
        is_object: Whether it is an operation on a barrier object.
        is_collective: Whether the lanes of a warp access each other's addresses.
        width_bytes: The bytes from the address on.
        lanes: The lanes of a warp that give addresses.
        address: The byte address in the shared window, of 32 bits.
        who: Which threads make it; the loops around it are those of the kernel.
        stored: What it writes; None if nothing is known of that, or if it is no store.
        reason: Why the access is not modelled; then nothing else is known of it.
        divisions: What is assumed of divisions, in words.
    """

    instruction: Instruction
    calls: tuple[int, ...]
    is_write: bool = True
    is_atomic: bool = False
    is_strong: bool = False
    is_copy: bool = False
    is_bulk: bool = False
    operand: OperandRole | None = None
    is_object: bool = False
    is_collective: bool = False
    width_bytes: int = 0
    lanes: int = LANES
    address: Expr = FALSE
    who: Executions = EVERYONE
    stored: Stored | None = None
    reason: str = ""
    divisions: tuple[str, ...] = ()

    @property
    def index(self) -> int:
        """The index of its instruction."""
        return self.instruction.index

    @property
    def is_plain_write(self) -> bool:
        """Whether it writes a value and does nothing else, so that another write of this value does no harm."""
        # An instruction that replaces a field of a tensor map reads the map.
        is_field = base_name(self.instruction) == "tensormap"
        return self.is_write and not (self.is_atomic or self.is_strong or self.is_object or is_field)

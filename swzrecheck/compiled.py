"""What a certificate says of machine code and of compiled kernels, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction of a listing.

    `work` is its class in section 8 of docs/semantics.md. `reads` has the register, the slot (0: not
    known) and the reuse mark of each source.
    """

    work: str
    reads: tuple[tuple[int, int, bool], ...] = ()
    writes: tuple[int, ...] = ()
    predicated: bool = False
    joined: bool = False
    yields: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Machine code for a target, as far as claims on register banks read it."""

    name: str
    target: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class OpenValue:
    """An unknown value: `name` in the program, `words` for people.

    With `own`, each lane has a value of its own; otherwise the lanes of a warp share it.
    """

    name: str
    words: str
    own: bool


@dataclass(frozen=True, slots=True)
class KernelAccess:
    """An access of a compiled kernel, as the reader of PTX found it.

    Attributes:
        name: The name, from the kernel and the line.
        kernel: The kernel or device function, as the PTX calls it.
        line: The line of the PTX.
        text: The instruction as it stands there.
        instruction: The row of the cost rule.
        block: The shape of the block.
        given: What was given of the parameters, and what the verdict assumes.
        values: The values that are open.
        program: An expression program over these and `tid.x`, `tid.y`, `tid.z`, `laneid`.
        address: The line of the byte address, less a number that all lanes of a warp share.
        guard: The line that is 1 for each lane that may make the access.
        facts: The line that is 1 for all values that occur.
    """

    name: str
    kernel: str
    line: int
    text: str
    instruction: str
    block: tuple[int, ...]
    given: tuple[str, ...]
    values: tuple[OpenValue, ...]
    program: tuple[str, ...]
    address: int
    guard: int
    facts: int

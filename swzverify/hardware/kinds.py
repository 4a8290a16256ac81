"""The kinds of shared-memory instructions, each with the facts that hold of all its rows.

Source: PTX ISA 8.7, "Target ISA Notes" of each instruction, with which ptxas 12.9.86 agrees; the
machine instructions are those that nvdisasm 13 prints.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What an instruction does.

    - `machine`: the machine instruction that it becomes in shared memory.
    - `first_target`: the first target here that has it.
    - `loads`: lanes' registers get what memory holds.
    - `stores`: memory gets what lanes' registers hold; a copy and an atomic do neither of the two.
    - `moves_matrices`: the lanes' addresses are those of rows of 8x8 matrices.

    >>> Kind("ldmatrix").machine, Kind.STMATRIX.first_target
    ('LDSM', 'sm_90')
    """

    machine: str
    first_target: str
    loads: bool
    stores: bool
    moves_matrices: bool

    def __new__(
        cls,
        value: str,
        machine: str,
        first_target: str,
        loads: bool = False,
        stores: bool = False,
        moves_matrices: bool = False,
    ) -> Kind:
        """A member; its value is its name in PTX, or what it does."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.machine = machine
        kind.first_target = first_target
        kind.loads = loads
        kind.stores = stores
        kind.moves_matrices = moves_matrices
        return kind

    LOAD = "load", "LDS", "sm_70", True
    STORE = "store", "STS", "sm_70", False, True
    LDMATRIX = "ldmatrix", "LDSM", "sm_75", True, False, True
    STMATRIX = "stmatrix", "STSM", "sm_90", False, True, True
    CP_ASYNC = "cp.async", "LDGSTS", "sm_80"
    ATOMIC = "atomic", "ATOMS", "sm_70"


MATRIX_OPCODES = tuple(kind.value for kind in Kind if kind.moves_matrices)
"""The opcodes of PTX whose lanes give rows of matrices."""
BY_MACHINE = {kind.machine: kind for kind in Kind}
"""The kinds by their machine instructions."""

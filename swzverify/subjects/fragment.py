"""What a load should put into the registers of `mma.sync`: a part of a tile, as operand A or B."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.hardware.fragments import Mma
from swzverify.hardware.tensor_cores import OperandRole
from swzverify.ir.c_formula import CFormula
from swzverify.subjects.tile import Tile

REGISTER = "register"
"""The name, in the expressions of a fragment, of the register of the load, counted from 0."""


@dataclass(frozen=True, eq=False)
class Fragment:
    """The fragment that an access loads.

    Attributes:
        mma: The instruction that multiplies.
        role: Operand A or B.
        at: The tile's coordinate of the operand's element (0, 0): one expression for each mode. They read
            the warp, loops, constants and `register`.
        register: Which register of the fragment a register of the load is; an expression of the same names.
        modes: Which of the operand's dimensions each mode of the tile is.
        tile: The tile that is meant, if the access has an address; None if the access has a tile.
        stage: The stage of that tile; None if it has one. It reads the same names but `register`.

    Raises:
        SwzError: SWZ105 for modes that are not MN and K, or not two expressions.
    """

    mma: Mma
    role: OperandRole
    at: tuple[CFormula, ...]
    register: CFormula
    modes: tuple[str, ...] = ("MN", "K")
    tile: Tile | None = None
    stage: CFormula | None = None

    def __post_init__(self) -> None:
        """Refuse what has not two dimensions."""
        if sorted(self.modes) != ["K", "MN"]:
            raise SwzError("SWZ105", f"modes {list(self.modes)} of a fragment", hint="[MN, K] or [K, MN]")
        if len(self.at) != 2:
            raise SwzError("SWZ105", f"a fragment has two coordinates, not {len(self.at)}")

    @property
    def rows(self) -> int:
        """Rows of A, or columns of B."""
        return self.mma.rows(self.role)

    @property
    def span(self) -> tuple[int, int]:
        """How many elements of each of the tile's modes it takes."""
        along = {"MN": self.rows, "K": self.mma.k}
        return along[self.modes[0]], along[self.modes[1]]

    @property
    def expressions(self) -> tuple[CFormula, ...]:
        """Every expression of it."""
        return (*self.at, self.register, *(() if self.stage is None else (self.stage,)))

    def described(self) -> str:
        """The fragment in words."""
        return f"{self.role} of mma.sync {self.mma.name}"

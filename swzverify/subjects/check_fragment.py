"""The checks of an access's fragment: what the load can fill, and what the tile has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware.fragments import loaded_registers
from swzverify.hardware.instructions import LANES
from swzverify.ir.c_formula import CFormula
from swzverify.subjects import access_names as names
from swzverify.subjects.fragment import REGISTER, Fragment
from swzverify.subjects.iterations import Iterations
from swzverify.subjects.loop import WARP
from swzverify.subjects.stated_access import StatedAccess
from swzverify.subjects.tile import Tile

Array = NDArray[np.int64]


class Reach(NamedTuple):
    """The least and the greatest value of an expression."""

    low: int
    high: int


def joint_values(access: StatedAccess, limits: tuple[int, ...], read: frozenset[str]) -> dict[str, Array] | None:
    """Every joint value of some names of a fragment's expressions; None if there are too many."""
    found = names.joint_values(access, read - {REGISTER}, limits)
    if found is None or REGISTER not in read:
        return found
    count = loaded_registers(access.instruction)
    size = max((array.size for array in found.values()), default=1)
    every = {name: np.repeat(np.broadcast_to(array, (size,)), count) for name, array in found.items()}
    return every | {REGISTER: np.tile(np.arange(count, dtype=np.int64), size)}


def reach(access: StatedAccess, limits: tuple[int, ...], value: CFormula) -> Reach:
    """The bounds of an expression of the fragment, over all iterations, warps and registers.

    Raises:
        SwzError: SWZ206 if there are too many to try each one.
    """
    arrays = joint_values(access, limits, value.names & frozenset((WARP, REGISTER, *(x.name for x in access.loops))))
    if arrays is None:
        raise SwzError(
            "SWZ206", f"access {access.name}: its fragment's '{value}' has too many values to try: not modelled"
        )
    found = np.asarray(value.at_many(arrays))
    return Reach(int(found.min()), int(found.max()))


def _tile(access: StatedAccess, fragment: Fragment) -> Tile:
    """The tile that is meant: that of the access, or of an address that of the fragment."""
    owner = f"access {access.name}"
    if access.tile is not None:
        if fragment.tile is not None or fragment.stage is not None:
            hint = "leave it out of `fragment`: the access says its tile and stage"
            raise SwzError("SWZ105", f"{owner} has a tile of its own, and its fragment another one", hint=hint)
        return access.tile
    if fragment.tile is None:
        hint = "`fragment: {tile: A, ...}` says which tile the address should be in"
        raise SwzError("SWZ104", f"{owner} has an address, and its fragment no tile", hint=hint)
    if fragment.stage is None and fragment.tile.stages > 1:
        message = f"{owner}: tile {fragment.tile.name} has {fragment.tile.stages} stages"
        raise SwzError("SWZ104", message, hint="`stage:` of `fragment` says which one is meant")
    if fragment.stage is not None and REGISTER in fragment.stage.names:
        raise SwzError("SWZ301", f"{owner}: the stage of a fragment is the same for all of its registers")
    return fragment.tile


def check_fragment(access: StatedAccess, fragment: Fragment, iterations: Iterations) -> None:
    """Refuse a fragment that the access cannot fill, or that the tile does not have.

    Raises:
        SwzError: SWZ104 without a tile, SWZ105 for what does not fit together, SWZ206 for a loop without a
            bound or too many iterations, SWZ301 for a name that the lanes do not share, SWZ306 for a register or for
            elements that do not exist, SWZ411 for a load whose registers are not modelled.
    """
    owner, tile, mma = f"access {access.name}", _tile(access, fragment), fragment.mma
    loads = loaded_registers(access.instruction)
    if len(tile.extents) != 2:
        raise SwzError("SWZ105", f"{owner}: a fragment is a part of a tile of two modes", hint="rows and K")
    if tile.element_bits != 8 * mma.element_bytes:
        raise SwzError(
            "SWZ105",
            f"{owner}: {mma.name} multiplies elements of {8 * mma.element_bytes} bits, and tile {tile.name} has "
            f"elements of {tile.element_bits}",
        )
    if access.predicate is not None or access.threads % LANES:
        raise SwzError("SWZ105", f"{owner}: mma.sync needs all 32 lanes of a warp", hint="whole warps and no `if:`")
    if access.unknowns or access.is_unbounded:
        raise SwzError(
            "SWZ206",
            f"{owner}: a fragment of lanes with values of their own, or in a loop without a bound, is not modelled",
        )
    taken = [each for each in (*(loop.name for loop in access.loops), *access.constants) if each == REGISTER]
    if taken:
        raise SwzError("SWZ105", f"{owner}: '{REGISTER}' is the register of the load", hint="use another name")
    shared = {WARP, REGISTER, *(loop.name for loop in access.loops), *access.constants}
    for value in fragment.expressions:
        for name in sorted(value.names - shared):
            raise SwzError(
                "SWZ301",
                f"{owner}: the fragment reads '{name}', and all lanes have one fragment",
                hint=f"it may read warp, {REGISTER}, loops and constants",
                text=value.text,
                span=(0, len(value.text)),
            )
    if 0 in iterations.limits:
        return
    bounds = [(value, extent - span, f"coordinate of a fragment of {span} elements, in a mode of {extent},")
              for value, extent, span in zip(fragment.at, tile.extents, fragment.span, strict=True)]  # fmt: skip
    if fragment.stage is not None:
        bounds.append(
            (fragment.stage, tile.stages - 1, f"stage of tile {tile.name}, whose last one is {tile.stages - 1},")
        )
    last = mma.registers(fragment.role) - 1
    bounds.append((fragment.register, last, f"register of a fragment with the registers 0 to {last}"))
    for value, most, what in bounds:
        low, high = reach(access, iterations.limits, value)
        if low < 0 or high > most:
            hint = f"the load has {loads} registers: `register:` says which register of the fragment each is"
            raise SwzError(
                "SWZ306",
                f"{owner}: the {what} '{value}' goes from {low} to {high}",
                hint=hint if value is fragment.register else "",
                text=value.text,
                span=(0, len(value.text)),
            )

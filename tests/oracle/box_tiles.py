"""Tiles by expression (docs/semantics.md, section 3): a box whose elements lie where an expression
of the coordinate says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from . import c_expr
from .c_expr import Expr
from .layout import Layout
from .lets import Trees, put_in
from .oracle_errors import OracleError
from .yaml_values import Yaml, as_list

NAMES = "ijklmnop"
NOT_A_MODE = {"stage", "base", "min", "max", "any", "threadIdx", "blockDim", "blockIdx", "gridDim"}
MOST_BITS = 1 << 40


@dataclass(frozen=True)
class Box(Layout):
    """Modes of one leaf each, whose strides mean nothing: the tree says where an element lies."""

    names: tuple[str, ...] = ()
    tree: Expr = field(default_factory=lambda: c_expr.Literal(0))
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    in_bytes: bool = False

    @cached_property
    def extents(self) -> list[int]:
        return [extent for ((extent, _),) in self.modes]

    @property
    def mode_offsets(self) -> list[list[int]]:
        raise AssertionError("a box has no offsets mode by mode")

    @cached_property
    def offsets(self) -> list[int]:
        """The values at all coordinates, the first mode running fastest."""
        points = prod(self.extents)
        columns = {name: [number] * points for name, number in self.constants.items()}
        step = 1
        for name, extent in zip(self.names, self.extents, strict=True):
            columns[name] = [point // step % extent for point in range(points)]
            step *= extent
        return [*c_expr.evaluate(self.tree, columns, points)]

    @property
    def cosize(self) -> int:
        return 1 + max(self.offsets)

    def contiguous_runs(self) -> tuple[int, int]:
        """Nothing says which elements follow one another, so no instruction is too wide."""
        return MOST_BITS, MOST_BITS

    def at(self, coordinates: tuple[Expr, ...]) -> Expr:
        """The tree at a coordinate, whose parts are put in all at once."""
        return put_in(self.tree, dict(zip(self.names, coordinates, strict=True)))


def read_box(name: str, tile: dict[str, Yaml], bits: int, constants: Mapping[str, int], lets: Trees) -> tuple[Box, int]:
    """The box of a tile, and its allocation in bytes."""
    if not {"layout", "swizzle", "tma"}.isdisjoint(tile) or ("offset" in tile) == ("address" in tile):
        raise OracleError(f"tile {name}: one expression, and no layout beside it", "SWZ105")
    in_bytes = "address" in tile
    shape = tile["shape"]
    if isinstance(shape, dict):
        extents = {mode: c_expr.constant(extent, constants) for mode, extent in shape.items()}
    else:
        listed = zip(NAMES, as_list(shape), strict=False)
        extents = {mode: c_expr.constant(extent, constants) for mode, extent in listed}
    for mode in extents:
        if mode in constants or mode in lets or mode in NOT_A_MODE:
            raise OracleError(f"tile {name}: the mode {mode} has another meaning already", "SWZ105")
    tree = put_in(c_expr.parse(tile["address" if in_bytes else "offset"]), lets)
    if not c_expr.names_in(tree) <= {*extents, *constants}:
        raise OracleError(f"tile {name}: unknown name", "SWZ301")
    modes = tuple(((extent, 0),) for extent in extents.values())
    box = Box(modes, tuple(extents), tree, dict(constants), in_bytes)
    if min(box.offsets) < 0:
        raise OracleError(f"tile {name}: a negative {'address' if in_bytes else 'offset'}", "SWZ306")
    if in_bytes and bits % 8:
        raise OracleError(f"tile {name}: an address needs whole bytes", "SWZ212")
    last = max(box.offsets)
    return box, last + bits // 8 if in_bytes else -(-(last + 1) * bits // 8)

"""The columns of a sweep's results, with their types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from swzverify.errors import SwzError
from swzverify.spec.sweep_axes import Sweep

Cell: TypeAlias = int | str | None
Kind: TypeAlias = Literal["int64", "int32", "string"]

STATUSES = ("free", "conflicts", "torn", "outside", "overlaps", "refused")
"""What can be said of a case; docs/sweep.md explains each."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the results. A missing text is empty; a missing number is null."""

    name: str
    kind: Kind


def case_columns(sweep: Sweep, accesses: tuple[str, ...], *, proves: bool) -> tuple[Column, ...]:
    """The columns in their order.

    Raises:
        SwzError: SWZ572 for an axis or an access whose name another column has.

    >>> from swzverify.spec.sweep_axes import Axis
    >>> sweep = Sweep((Axis("PAD", (0, 8), (0, 8), (), True),), ())
    >>> [column.name for column in case_columns(sweep, ("read_A",), proves=False)][:4]
    ['case', 'PAD', 'status', 'code']
    """
    found = [Column("case", "int64")]
    for axis in sweep.axes:
        are_integers = all(isinstance(value, int) for value in axis.values)
        found.append(Column(axis.name, "int64" if are_integers else "string"))
    found += [Column("status", "string"), Column("code", "string"), Column("message", "string")]
    found += [Column("bytes", "int64"), Column("wavefronts", "int64"), Column("conflicts", "int64")]
    for name in accesses:
        found += [Column(f"{name}_wavefronts", "int32"), Column(f"{name}_conflicts", "int32")]
        found.append(Column(f"{name}_evidence", "string"))
    if proves:
        found += [Column("claims", "string"), Column("claims_proved", "int32")]
    found += [Column("spec_sha256", "string"), Column("swzverify", "string")]
    names = [column.name.lower() for column in found]  # as DuckDB and others compare them
    twice = next((column.name for column in found if names.count(column.name.lower()) > 1), None)
    if twice is not None:
        raise SwzError(
            "SWZ572", f"two columns of the results would be called '{twice}'", hint="give the axis another name"
        )
    return tuple(found)

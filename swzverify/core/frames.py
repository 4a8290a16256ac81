"""Rows as a data frame of pandas or polars, with the same columns and types for any number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal, TypeAlias, get_args

from swzverify.core.extras import extra
from swzverify.errors import SwzError

Library: TypeAlias = Literal["pandas", "polars"]
Columns: TypeAlias = Mapping[str, type[int] | type[str] | type[bool]]
"""The type of each column, by its name; any value may be missing."""

LIBRARIES: Final[tuple[Library, ...]] = get_args(Library)
_OF_PANDAS: Final = {int: "Int64", str: "string", bool: "boolean"}
_OF_POLARS: Final = {int: "Int64", str: "String", bool: "Boolean"}


def data_frame(rows: Sequence[Mapping[str, object]], columns: Columns, library: str | None = None) -> Any:
    """The rows as a `DataFrame`; None in a row, or no value, is a missing value.

    Args:
        rows: A mapping for each row.
        columns: The columns in their order; keys of rows that are none of them are left out.
        library: `pandas` or `polars`; None takes pandas if it is installed, else polars.

    Raises:
        SwzError: SWZ105 for another library, SWZ611 if the library is not installed.

    >>> data_frame([], {"line": int}, "numpy")
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ105: library='numpy' makes no data frames
      give 'pandas' or 'polars'
    """
    name = _chosen(library)
    values = {column: [row.get(column) for row in rows] for column in columns}
    with extra(name, name, "a data frame"):
        made = import_module(name)
    if name == "pandas":
        return made.DataFrame({key: made.array(of, dtype=_OF_PANDAS[columns[key]]) for key, of in values.items()})
    return made.DataFrame(values, schema={key: getattr(made, _OF_POLARS[of]) for key, of in columns.items()})


def _chosen(library: str | None) -> Library:
    for each in LIBRARIES:
        if library == each or (library is None and find_spec(each) is not None):
            return each
    if library is None:
        return LIBRARIES[0]
    hint = f"give {' or '.join(map(repr, LIBRARIES))}"
    raise SwzError("SWZ105", f"library={library!r} makes no data frames", hint=hint)

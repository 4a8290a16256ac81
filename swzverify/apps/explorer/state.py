"""What people can change on the page, with its bounds, and the query string that keeps it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import parse_qsl, urlencode

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from swzverify.errors import SwzError, graphic, nearest
from swzverify.hardware import INSTRUCTIONS, MOST_BLOCK_THREADS, TARGETS
from swzverify.spec.elements import ELEMENT_BITS

MOST_EXTENT = 256
"""Rows and columns of a tile."""
MOST_QUERY = 4096
"""Characters of a query string."""
_MOST_FIELDS = 64
_DIGITS = re.compile(r"-?[0-9]{1,4}")


def _whole(value: object) -> object:
    """A number as a form sends it; anything else is left to be refused."""
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value.strip()) else value


def _line(value: object) -> object:
    """A line without blanks around it."""
    if isinstance(value, str) and not (value.isascii() and graphic(value) == value):
        raise ValueError("ASCII, on one line")
    return value.strip() if isinstance(value, str) else value


_WHOLE = BeforeValidator(_whole)
Line = Annotated[str, StringConstraints(max_length=200), BeforeValidator(_line)]
Order = Literal["row", "column", "layout"]
MapName = Literal["rows", "columns", "matrix", "own"]


class State(BaseModel):
    """All that the page keeps. Defaults are what it opens with.

    With `order` `layout`, the CuTe notation in `layout` gives the shape too. `map` names a thread
    map; `own` takes the expressions of `coord` and the loops of `loops`. `at` names the warp
    instruction that is drawn; empty is the worst one. `bank` and `group` filter the pictures, -1
    for all; nothing is computed from them.

    >>> State(rows=32).to_query()
    'rows=32'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    rows: Annotated[int, Field(ge=1, le=MOST_EXTENT), _WHOLE] = 64
    columns: Annotated[int, Field(ge=1, le=MOST_EXTENT), _WHOLE] = 64
    element: Line = "f16"
    order: Order = "row"
    layout: Line = "(64,64):(64,1)"
    pad: Annotated[int, Field(ge=0, le=MOST_EXTENT), _WHOLE] = 0
    swizzle: Literal["none", "offset", "address"] = "none"
    bits: Annotated[int, Field(ge=0, le=16), _WHOLE] = 3
    base: Annotated[int, Field(ge=0, le=16), _WHOLE] = 3
    shift: Annotated[int, Field(ge=-16, le=16), _WHOLE] = 3
    instruction: Line = "ldmatrix.x4"
    threads: Annotated[int, Field(ge=1, le=MOST_BLOCK_THREADS), _WHOLE] = 128
    map: MapName = "matrix"
    coord: Line = "lane, 0"
    loops: Line = ""
    target: Line = "sm_90"
    at: Line = ""
    view: Literal["logical", "physical"] = "logical"
    bank: Annotated[int, Field(ge=-1, le=31), _WHOLE] = -1
    group: Annotated[int, Field(ge=-1, le=31), _WHOLE] = -1

    def to_query(self) -> str:
        """The query string: what differs from the defaults."""
        own = self.model_dump()
        return urlencode({name: value for name, value in own.items() if value != _DEFAULTS[name]})

    @staticmethod
    def from_query(query: str) -> State:
        """The state of a query string.

        Raises:
            WrongStateError: The query string stands for no state.

        >>> State.from_query("rows=32&swizzle=offset").rows
        32
        """
        fields = fields_of(query)
        try:
            found = State.model_validate(fields)
        except ValidationError as error:
            raise WrongStateError(*(_field_error(each) for each in error.errors())) from error
        unknown = _unknown(found)
        if unknown:
            raise WrongStateError(*unknown)
        return found


_DEFAULTS: Mapping[str, object] = {name: field.default for name, field in State.model_fields.items()}


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong, and with which field; an empty name stands for the state as a whole."""

    field: str
    code: str
    message: str
    hint: str = ""


class WrongStateError(SwzError):
    """A state that cannot be; `errors` are all that is wrong.

    The exception's own message is that of the `first` error.
    """

    def __init__(self, first: FieldError, *others: FieldError) -> None:
        super().__init__(first.code, first.message, hint=first.hint)
        self.errors = (first, *others)


def fields_of(query: str) -> dict[str, str]:
    """The names and values of a query string, not yet checked.

    Raises:
        WrongStateError: The string is too long, or has a name twice.
    """
    try:
        if len(query) > MOST_QUERY:
            raise ValueError(f"it has {len(query)} characters, at most {MOST_QUERY} are allowed")
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("it gives a field twice")
    except ValueError as error:
        message = f"the link cannot be read: {error}"
        raise WrongStateError(FieldError("", "SWZ596", message, "copy the whole link")) from error
    return found


def _unknown(state: State) -> list[FieldError]:
    """Errors of names that no table has, each with the nearest name."""
    tables = (("element", ELEMENT_BITS), ("instruction", INSTRUCTIONS), ("target", TARGETS))
    return [
        FieldError(name, "SWZ596", f"unknown {name} '{getattr(state, name)}'", nearest(getattr(state, name), table))
        for name, table in tables
        if getattr(state, name) not in table
    ]


def _field_error(detail: ErrorDetails) -> FieldError:
    """An error of pydantic, in our words."""
    name = str(detail["loc"][0]) if detail["loc"] else ""
    if name not in State.model_fields:
        return FieldError("", "SWZ596", f"a state has no '{graphic(name[:60])}'", nearest(name, State.model_fields))
    return FieldError(name, "SWZ596", f"{name} is {graphic(str(detail['input'])[:60])}", f"allowed: {allowed(name)}")


def allowed(name: str) -> str:
    """The values of a field, in words.

    >>> allowed("rows"), allowed("order"), allowed("coord")
    ('1 to 256', 'row, column, layout', 'a line of ASCII, up to 200 characters')
    """
    schema = State.model_json_schema()["properties"][name]
    if "enum" in schema:
        return ", ".join(schema["enum"])
    if schema["type"] == "integer":
        return f"{schema['minimum']} to {schema['maximum']}"
    return f"a line of ASCII, up to {schema['maxLength']} characters"


def of_error(field: str, error: SwzError) -> FieldError:
    """An error of the package, at a field."""
    message = error.message if error.text is None else f"{error.message}, in '{error.text}'"
    return FieldError(field, error.code, message, error.hint)

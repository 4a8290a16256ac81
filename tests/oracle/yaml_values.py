"""Typed look-ups in the plain values that a YAML file gives."""

from __future__ import annotations

from typing import TypeAlias

from .oracle_errors import OracleError

Yaml: TypeAlias = "bool | int | str | list[Yaml] | dict[str, Yaml] | None"
Spec: TypeAlias = dict[str, Yaml]


def as_dict(value: Yaml) -> dict[str, Yaml]:
    """The mapping that `value` must be; an absent one is empty."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise OracleError(f"a mapping is wanted, not {value!r}")
    return value


def as_list(value: Yaml) -> list[Yaml]:
    """The list that `value` is; an absent one is empty and a single value is a list of itself."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def as_int(value: Yaml) -> int:
    """The integer that `value` must be."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise OracleError(f"an integer is wanted, not {value!r}")
    return value


def as_str(value: Yaml) -> str:
    """The text that `value` must be."""
    if not isinstance(value, str):
        raise OracleError(f"text is wanted, not {value!r}")
    return value

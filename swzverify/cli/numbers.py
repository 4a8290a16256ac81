"""Values that a command line gives by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

_VALUE = re.compile(r"([A-Za-z_]\w*)=(-?[0-9]{1,12})")


def named_values(given: Sequence[str], option: str, such_as: str) -> dict[str, int]:
    """The values of NAME=N, each name once; a usage error otherwise.

    >>> named_values(["warp=1", "k=16"], "--at", "such as warp=1")
    {'warp': 1, 'k': 16}
    """
    found: dict[str, int] = {}
    for each in given:
        parts = _VALUE.fullmatch(each)
        if parts is None:
            raise click.BadParameter(f"{each!r}: {such_as}", param_hint=option)
        if parts[1] in found:
            raise click.BadParameter(f"{parts[1]!r} is given twice", param_hint=option)
        found[parts[1]] = int(parts[2])
    return found

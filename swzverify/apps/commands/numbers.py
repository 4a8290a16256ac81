"""Values that a command line gives by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from swzverify.apps.run.coordinate import loop_in

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


def loops_of(given: tuple[str, ...]) -> dict[str, range]:
    """The loops of `--for`. Error: `click.BadParameter`."""
    found: dict[str, range] = {}
    for each in given:
        loop = loop_in(each)
        if loop is None:
            raise click.BadParameter(f"{each!r}: such as k=4 or k=0:64:16", param_hint="--for")
        name, values = loop
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="--for")
        found[name] = values
    return found

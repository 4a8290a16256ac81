"""Coordinates and loops as people write them in one line, beside a layout."""

from __future__ import annotations

import re

_LOOP = re.compile(r"([A-Za-z_]\w*)=(?:([0-9]{1,9}):)?([0-9]{1,9})(?::([0-9]{1,9}))?", re.ASCII)


def coordinate_parts(text: str) -> tuple[str, ...]:
    """The expressions of a coordinate, split at commas outside of parentheses.

    >>> coordinate_parts("lane % 8, max(k, 1)")
    ('lane % 8', 'max(k, 1)')
    """
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return tuple(part.strip() for part in parts)


def loop_in(text: str) -> tuple[str, range] | None:
    """A loop's name and values; None where the text is no loop.

    >>> loop_in("k=4"), loop_in("k=0:64:16"), loop_in("k=0:64:0")
    (('k', range(0, 4)), ('k', range(0, 64, 16)), None)
    """
    found = _LOOP.fullmatch(text)
    if found is None or found[4] == "0":
        return None
    return found[1], range(int(found[2] or 0), int(found[3]), int(found[4] or 1))

"""The text of an instruction with other reuse marks, or other registers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_REGISTER = re.compile(r"(?<![A-Za-z0-9_.])R(\d{1,3})((?:\.[A-Za-z0-9_]+)*)(?![A-Za-z0-9_])")


def rewritten(text: str, numbers: Mapping[int, int], marks: Sequence[bool], results: int) -> str:
    """The text of an arithmetic instruction, with registers renumbered.

    `marks` says of each source register in turn whether it is marked, after `results` registers that are
    written.

    >>> rewritten("FFMA R0, -R4.reuse, R5, R0", {0: 2}, [False, True, False], 1)
    'FFMA R2, -R4, R5.reuse, R2'
    """
    seen = -results

    def other(found: re.Match[str]) -> str:
        nonlocal seen
        number = numbers.get(int(found[1]), int(found[1]))
        suffixes = [each for each in found[2].split(".")[1:] if each != "reuse"]
        if 0 <= seen < len(marks) and marks[seen]:
            suffixes.insert(0, "reuse")
        seen += 1
        return ".".join((f"R{number}", *suffixes))

    return _REGISTER.sub(other, text)

"""The launches of a report, from the raw page of Nsight Compute as CSV."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import Final

_SHAPE: Final = re.compile(r"\((\d{1,4}), (\d{1,4}), (\d{1,4})\)")
_DEVICE: Final = "device__attribute_display_name"


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel that was profiled, the shape of its block, and the GPU, empty if not known."""

    kernel: str
    block: tuple[int, int, int]
    device: str = ""


def launches(text: str) -> tuple[Launch, ...]:
    r"""The launches of a raw page; none if the page is not understood.

    They only decide what is not compared.

    >>> launches('"ID","Kernel Name","Block Size"\n"","",""\n"0","k","(32, 8, 1)"\n')
    (Launch(kernel='k', block=(32, 8, 1), device=''),)
    """
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error:
        return ()
    at = next((number for number, row in enumerate(rows) if {"Kernel Name", "Block Size"} <= set(row)), None)
    if at is None:
        return ()
    titles = rows[at]
    found: list[Launch] = []
    for row in rows[at + 1 :]:
        if len(row) == len(titles) and (shape := _SHAPE.fullmatch(row[titles.index("Block Size")])):
            x, y, z = (int(each) for each in shape.groups())
            device = row[titles.index(_DEVICE)] if _DEVICE in titles else ""
            found.append(Launch(row[titles.index("Kernel Name")], (x, y, z), device))
    return tuple(found)

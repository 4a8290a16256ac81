"""An export of Nsight Compute 2025.3 from an H200, with the code that was profiled: tests/data/profiler."""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path

from swzverify.compiled.sass import Listing, read_listing

DATA = Path(__file__).parents[1] / "data" / "profiler"
ROWS, PADDED, MIXED = "_Z7columnsILi0EEvPfPKf", "_Z7columnsILi1EEvPfPKf", "mixed"


@cache
def source_page() -> str:
    """The source page, with mangled names."""
    return gzip.decompress((DATA / "source.csv.gz").read_bytes()).decode("utf-8")


def with_source_names() -> str:
    """The page as ncu writes it unless told otherwise."""
    return re.sub(r"_Z7columnsILi([01])EEvPfPKf", r"void columns<(int)\1>(float *, const float *)", source_page())


@cache
def listing() -> str:
    """What nvdisasm prints of the cubin."""
    return gzip.decompress((DATA / "checked.lst.gz").read_bytes()).decode("utf-8")


@cache
def code() -> Listing:
    """The machine code."""
    return read_listing(listing())


def cubin() -> bytes:
    """The cubin that was profiled."""
    return gzip.decompress((DATA / "checked.cubin.gz").read_bytes())


def with_counts(offset_bytes: int, kernel: str, change: dict[str, str]) -> str:
    """The page with other values in the rows of one instruction, by the columns' titles."""
    lines: list[str] = []
    name, titles, first = "", list[str](), 0
    for row in source_page().splitlines():
        line = row
        values = line.strip('"').split('","')
        if values[0] == "Kernel Name":
            name, first = values[1].rstrip('",'), 0
        elif values[0] == "Address":
            titles = values
        else:
            place = int(values[0], 16)
            first = first or place
            if name == kernel and place - first == offset_bytes:
                for title, value in change.items():
                    values[titles.index(title)] = value
                line = '"' + '","'.join(values) + '"'
        lines.append(line)
    return "\n".join(lines) + "\n"

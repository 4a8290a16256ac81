"""Atheris target: exports of Nsight Compute, and listings of nvdisasm.

An input that begins with a tab is a listing, any other one an export. The readers may raise nothing
but their own errors, whose texts a terminal can show; what they read is whole: places that are
multiples of 16 bytes below the size of the code, in order, and counts that are no less than 0.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["swzverify"]):  # pyright: ignore
    from swzverify.compiled.profiler import fitted
    from swzverify.compiled.profiler.export import exported
    from swzverify.compiled.profiler.ncu import launches
    from swzverify.compiled.sass import ListingError, read_listing
    from swzverify.errors import SwzError

LONGEST_MESSAGE = 1000
STEP_BYTES = 16


class FindingError(Exception):
    """A reader did something that it may not do."""


def check_places(places: list[int], size_bytes: int) -> None:
    """Places in the code, in order."""
    if places != sorted(set(places)) or any(each % STEP_BYTES or not 0 <= each < size_bytes for each in places):
        raise FindingError("places that are none")


def check_message(text: str) -> None:
    """An error can be shown."""
    if len(text) > LONGEST_MESSAGE or not text.replace("\n", " ").isprintable():
        raise FindingError("an error that cannot be shown")


def read_as_listing(text: str) -> None:
    """Read a listing."""
    try:
        found = read_listing(text)
    except ListingError as error:
        check_message(str(error))
        return
    for section in found.sections:
        check_places([each.offset_bytes for each in section.instructions], section.size_bytes)


def one_input(data: bytes) -> None:
    """Read one input."""
    text = data.decode("utf-8", "replace")
    if text.startswith("\t"):
        read_as_listing(text)
        return
    launches(text)
    try:
        found = exported(data, "c.csv")
    except SwzError as error:
        check_message(error.message)
        return
    for each in found.profiles:
        check_places(list(each.instructions), each.size_bytes)
        if any(counts and min(counts.executed, counts.wavefronts) < 0 for _, counts in each.instructions.values()):
            raise FindingError("a count below 0")
        fitted(each, [])


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()

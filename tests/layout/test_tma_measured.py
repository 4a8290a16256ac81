"""Every TMA load that was measured on an H100 against `tma_layout` and the mode's swizzle on the
absolute address.

A row of the data: mode, inner box bytes, rows, destination offset (from a 1024-byte-aligned base),
driver status, then the source word found at shared word 0, 1, 2, ... up to the last one written; -1
for a word not written.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from swzverify.errors import SwzError
from swzverify.layout import TmaMode, check_tma_base, parse_tma_mode, tma_allocation_bytes, tma_layout

DATA = Path(__file__).resolve().parent.parent / "data" / "h100_tma.csv.gz"
WORD_BYTES = 4


class Load(NamedTuple):
    mode: str
    inner_bytes: int
    rows: int
    destination: int
    status: int
    words: list[int]


def read_loads():
    with gzip.open(DATA, "rt", newline="") as file:
        return [Load(row[0], *map(int, row[1:5]), [int(word) for word in row[5:]]) for row in csv.reader(file)]


LOADS = read_loads()
ACCEPTED = [load for load in LOADS if load.status == 0]
REFUSED = [load for load in LOADS if load.status != 0]


def case_id(load):
    return f"{load.mode}-{load.inner_bytes}B-{load.rows}rows-at{load.destination}"


def predicted_words(mode, load, element_bits):
    """The source word at every shared word, from byte addresses of elements of that width."""
    element_bytes = element_bits // 8
    inner = load.inner_bytes // element_bytes
    layout = tma_layout(mode, load.rows, inner, element_bits)
    row, column = np.divmod(np.arange(load.rows * inner), inner)
    address = load.destination + layout(row, column) * element_bytes
    if mode.swizzle is not None:
        address = mode.swizzle(address)
    source = np.arange(load.rows * inner) * element_bytes
    found = np.full(address.max() // WORD_BYTES + 1, -1)
    found[address // WORD_BYTES] = source // WORD_BYTES
    # An element below the word's size must keep its place inside the word; a larger one must fill
    # its words.
    assert (address % WORD_BYTES == source % WORD_BYTES).all()
    for word in range(1, element_bytes // WORD_BYTES):
        found = np.pad(found, (0, max(0, address.max() // WORD_BYTES + word + 1 - found.size)), constant_values=-1)
        found[address // WORD_BYTES + word] = source // WORD_BYTES + word
    return found.tolist()


def test_the_data_is_all_there():
    assert (len(LOADS), len(ACCEPTED), len(REFUSED)) == (392, 182, 210)
    assert {load.mode for load in ACCEPTED} == {mode.value for mode in TmaMode}


@pytest.mark.parametrize("load", ACCEPTED, ids=case_id)
def test_accepted_loads_land_where_predicted(load):
    mode = parse_tma_mode(load.mode)
    check_tma_base(load.destination)
    for element_bits in (8, 16, 32, 64, 128):
        assert predicted_words(mode, load, element_bits) == load.words
    end = load.destination + tma_allocation_bytes(mode, load.rows, load.inner_bytes, 8)
    assert len(load.words) * WORD_BYTES <= end


@pytest.mark.parametrize("load", REFUSED, ids=case_id)
def test_loads_that_the_driver_refuses_are_refused(load):
    with pytest.raises(SwzError) as caught:
        tma_layout(parse_tma_mode(load.mode), load.rows, load.inner_bytes, 8)
    assert caught.value.code == ("SWZ223" if "ATOM" in load.mode else "SWZ221")


@pytest.mark.parametrize("mode", [mode for mode in TmaMode if mode.swizzle])
def test_the_data_tells_the_modes_apart(mode):
    """The check can fail: another mode's swizzle, or one on offsets instead of addresses,
    contradicts the data.
    """
    loads = [load for load in ACCEPTED if load.mode == mode and load.destination % 1024 == 128]
    assert loads
    for load in loads:
        shifted = predicted_words(mode, load._replace(destination=0), 32)
        position_independent = [-1] * (load.destination // WORD_BYTES) + shifted
        assert position_independent != load.words

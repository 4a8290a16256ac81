"""A chunk of a sweep: consecutive case numbers, measured by one process, as bytes of a Parquet file."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING

from swzverify.spec.sweep.arrow import parquet_bytes
from swzverify.spec.sweep.bench import Bench, Question

if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK_SECONDS = 2.0
"""What a chunk should take: a process that dies loses no more, and its start takes much less."""
MAX_CHUNK_CASES = 1 << 16
_ONE_AT_A_TIME = threading.Lock()
"""Several threads may call a process; Z3 and the reader of specs allow one at a time."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The cases from number `first` to below `end`."""

    index: int
    first: int
    end: int


@lru_cache(maxsize=2)
def bench_of(question: Question) -> Bench:
    """The bench for a question; a process makes it once."""
    return Bench(question)


def measured(chunk: Chunk, question: Question) -> bytes:
    """The rows of a chunk, as a Parquet file.

    Errors are those of `Bench`.
    """
    with _ONE_AT_A_TIME:
        bench = bench_of(question)
        constant = {"spec_sha256": question.spec_sha256, "swzverify": question.version}
        rows = [{**row, **constant} for row in bench.rows(chunk.first, chunk.end)]
        return parquet_bytes(rows, bench.columns)


def chunk_cases(bench: Bench, *, seconds: float = CHUNK_SECONDS) -> int:
    """The number of cases in a chunk that takes about `seconds`, measured on some cases.

    A chunk has whole groups of the cases that are measured together. Errors are those of `Bench`.
    """
    total, group = len(bench.cases), bench.cases.group
    count = group
    while True:
        some = min(count, total)
        # From the middle on: the first cases of a sweep are often its smallest.
        first = min(total // 2 // group * group, total - some)
        begin = perf_counter()
        for _ in bench.rows(first, first + some):
            pass
        spent = perf_counter() - begin
        if spent >= seconds / 8 or some >= min(total, MAX_CHUNK_CASES):
            break
        count *= 4
    fits = int(some * seconds / max(spent, 1e-6))
    return max(1, min(fits, MAX_CHUNK_CASES, total) // group) * group


def chunks_of(total: int, cases: int) -> Sequence[Chunk]:
    """All chunks of so many cases each.

    >>> chunks_of(10, 4)
    [Chunk(index=0, first=0, end=4), Chunk(index=1, first=4, end=8), Chunk(index=2, first=8, end=10)]
    """
    starts = range(0, total, cases)
    return [Chunk(index, first, min(first + cases, total)) for index, first in enumerate(starts)]

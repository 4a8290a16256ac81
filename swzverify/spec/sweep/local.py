"""The chunks of a sweep in processes of this machine."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection

from swzverify.core.pool import Lost, Service, run_jobs, serve
from swzverify.errors import SwzError
from swzverify.spec.sweep.bench import Question
from swzverify.spec.sweep.chunk import Chunk, measured

TRIES = 3
"""How often a chunk is tried whose process dies."""


@dataclass(frozen=True, slots=True)
class _News:
    """The bytes of a chunk, or why there are none."""

    chunk: Chunk
    data: bytes = b""
    error: SwzError | None = None
    fault: str = ""
    death: str = ""


def run_locally(
    question: Question, chunks: Sequence[Chunk], processes: int
) -> Generator[tuple[Chunk, bytes], None, None]:
    """Each chunk with its bytes, in the order in which they are done.

    Raises:
        SwzError: Those of a chunk; SWZ575 if processes died at one chunk repeatedly.
    """
    service: Service[Chunk, _News] = Service(_serve, (question,), lambda _: True, _death)
    left, tries = list(chunks), 0
    while left:
        lost: list[_News] = []
        with closing(run_jobs(left, processes, service)) as heard:
            for _, news, _ in heard:
                if news.error is not None:
                    raise news.error
                if news.fault:
                    raise RuntimeError(news.fault)
                if news.death:
                    lost.append(news)
                else:
                    yield news.chunk, news.data
        tries += 1
        if lost and tries == TRIES:
            chunk = lost[0].chunk
            raise SwzError(
                "SWZ575",
                f"the process at cases {chunk.first} to {chunk.end - 1} {lost[0].death}, {TRIES} times",
                hint="what is finished stays; if memory ran out, use fewer processes (-j 1) and run it again",
            )
        left = [news.chunk for news in lost]


def _death(lost: Lost[Chunk, _News]) -> _News:
    return _News(lost.job, death=lost.how)


def _serve(pipe: Connection[_News, Chunk], question: Question) -> None:
    """Measure the chunks that come along the pipe."""
    serve(pipe, lambda: lambda chunk: _answer(question, chunk))


def _answer(question: Question, chunk: Chunk) -> _News:
    try:
        return _News(chunk, measured(chunk, question))
    except SwzError as error:
        return _News(chunk, error=error)
    except Exception as error:  # noqa: BLE001 - it is told by the process that has the terminal
        return _News(chunk, fault=f"{type(error).__name__}: {error}, in cases {chunk.first} to {chunk.end - 1}")

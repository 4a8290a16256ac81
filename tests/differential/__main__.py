"""A long run against the oracle: `python -m tests.differential --seeds A-B --jobs N --record FILE`.

Never stops at a disagreement: each is made small and kept in the record, which is written anew
after every chunk, so that a run that was cut off goes on from there with the same command. The exit
status is 1 where anything disagreed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from swzverify.apps.run.version import versions
from swzverify.prover.options import DEFAULT_RLIMIT
from tests.differential.chunk import Chunk, run_chunk
from tests.oracle.random_specs import DRAWS

CHUNK_SPECS = 250


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--seeds", default="0-100000", help="A-B: from A to B - 1")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--record", type=Path, required=True, help="JSON file, continued where it exists")
    parser.add_argument("--rlimit", type=int, default=DEFAULT_RLIMIT, help="Z3's budget a query")
    parser.add_argument("--themes", default="all", choices=sorted(DRAWS), help="which random specs")
    arguments = parser.parse_args()
    themes: str = arguments.themes
    first, end = (int(number) for number in arguments.seeds.split("-"))
    record = _record(arguments.record, first, end, arguments.rlimit, themes=themes)
    left = [start for start in range(first, end, CHUNK_SPECS) if start not in record["chunks"]]
    began, before, done = time.perf_counter(), record["elapsed_s"], 0
    for chunk in _chunks(left, end, arguments.rlimit, arguments.jobs, themes=themes):
        done += chunk.comparison.specs
        record["elapsed_s"] = round(before + time.perf_counter() - began, 1)
        _note(record, chunk)
        _write(arguments.record, record)
        rate = done / (time.perf_counter() - began)
        found = len(record["disagreements"])
        print(f"{record['specs']} of {end - first} specs, {rate:.1f} specs/s, {found} disagreements", flush=True)
    return 1 if record["disagreements"] else 0


def _chunks(starts: list[int], end: int, rlimit: int, jobs: int, *, themes: str) -> Iterator[Chunk]:
    run = partial(run_chunk, rlimit=rlimit, themes=themes)
    if jobs == 1:
        yield from (run(start, min(start + CHUNK_SPECS, end)) for start in starts)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run, start, min(start + CHUNK_SPECS, end)) for start in starts}
        while waiting:
            ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in ended)


def _record(path: Path, first: int, end: int, rlimit: int, *, themes: str) -> dict:  # type: ignore[type-arg]  # JSON
    if path.exists():
        record = json.loads(path.read_text())
        if (record["first_seed"], record["rlimit"], record["themes"]) == (first, rlimit, themes):
            return {**record, "end_seed": end}
        raise SystemExit(f"{path} is the record of another run; choose another file")
    return {
        "first_seed": first,
        "end_seed": end,
        "rlimit": rlimit,
        "themes": themes,
        "versions": versions(),
        "chunks": [],
        "elapsed_s": 0.0,
        "specs": 0,
        "claims": 0,
        "unknown": 0,
        "unshown": 0,
        "verdicts": {},
        "refused": {},
        "ambiguous": {},
        "unfinished": [],
        "slowest": [],
        "disagreements": [],
    }


def _note(record: dict, chunk: Chunk) -> None:  # type: ignore[type-arg]  # JSON
    found = chunk.comparison
    record["chunks"] = sorted([*record["chunks"], chunk.first])
    for key in ("specs", "claims", "unknown", "unshown"):
        record[key] += getattr(found, key)
    for kind, counter in found.verdicts.items():
        _count(record["verdicts"].setdefault(kind, {}), counter)
    _count(record["refused"], found.refused)
    _count(record["ambiguous"], found.ambiguous)
    record["unfinished"] += chunk.unfinished
    record["slowest"] = sorted([*record["slowest"], [round(chunk.slowest_s, 2), chunk.slowest_seed]], reverse=True)[:10]
    record["disagreements"] += [asdict(each) for each in found.disagreements]
    record.setdefault("small", [])
    record["small"] += chunk.small


def _count(into: dict[str, int], more: dict[str, int]) -> None:
    for key, count in more.items():
        into[key] = into.get(key, 0) + count


def _write(path: Path, record: dict) -> None:  # type: ignore[type-arg]  # JSON
    part = path.with_suffix(".part")
    part.write_text(json.dumps(record, indent=1) + "\n")
    part.replace(path)


if __name__ == "__main__":
    raise SystemExit(main())

"""Random kernels against their oracles, for hours: `python -m tests.long_run ROOM --seeds A-B --record FILE`.

A seed is a kernel; the oracles are those of `tests/ptx_oracle`, which share no code with the package. Never stops at a
disagreement: the record has each with its seed, and is written anew after every chunk. The exit status is 1 if
anything disagreed. Specs have a long run of their own, `tests/differential`.
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from swzverify.compiled.ptx import PtxError
from swzverify.compiled.scan import tried
from tests.kernel.programs import program
from tests.kernel.test_programs import SHAPES, held
from tests.kernel.test_stages import body
from tests.kernel.traps import text_of
from tests.order.pipeline_judge import judge_kernels, runs_of
from tests.order.random_choices import chosen
from tests.order.random_choices import runs_of as runs_of_choices
from tests.order.random_clusters import clustered
from tests.order.random_counts import counted
from tests.order.random_counts import runs_of as runs_of_counts
from tests.order.random_judge import judge_random
from tests.order.random_kernels import Kernel
from tests.order.random_pipelines import pipeline
from tests.order.test_random_async import judged, with_changes
from tests.order.test_random_judge import package
from tests.order.test_random_stores import judged as judged_stores
from tests.ptx_oracle.races import Races
from tests.scan import (
    test_box_fills,
    test_claims_programs,
    test_fragments,
    test_operand_runs,
    test_random_rings,
    test_random_sums,
)
from tests.scan.test_claims_programs import is_no_worse
from tests.scan.test_programs import compared

CHUNK = 5
Found = Counter[str]
"""How often each answer came; a wrong one begins with WRONG or FALSE."""


def banks(text: str, seed: int) -> Found:
    """Bank conflicts, alignment and bounds of all accesses of a kernel, in four launches."""
    return compared(text, SHAPES[seed % len(SHAPES)], seed, is_no_worse)


def executions(seed: int) -> Found:
    """Whether the expressions of accesses explain every execution."""
    tally = held(seed)
    return Counter({"explained": tally.explained, "not decided": tally.undecided, **dict.fromkeys(tally.wrong, 0)}) + (
        Counter({f"WRONG {each}": 1 for each in tally.wrong})
    )


def races(kernel: Kernel, runs: Callable[[Kernel], tuple[Races, ...]] = runs_of) -> Found:
    """The judge of races against runs of a kernel."""
    return judge_kernels([kernel], package, runs)[0]


def altered(seed: int) -> Found:
    """The judge of races on a kernel of copies and barrier objects with up to three changes."""
    drawn = with_changes(seed)
    try:
        said = package(drawn.text, drawn.block)
    except PtxError:
        return Counter(["not PTX"])
    return Counter([judged(drawn, replace(said, lines=None, others=()))])


def small(seed: int) -> Found:
    """The judge of races on a small kernel."""
    return judge_random(seed, seed + 1, package)[0]


def asserted(check: Callable[[range], None], seed: int) -> Found:
    """A check of one seed that asserts."""
    check(range(seed, seed + 1))
    return Counter(["agrees"])


ROOMS: dict[str, Callable[[int], Found]] = {
    "kernels": lambda seed: banks(program(seed), seed),
    "stages": lambda seed: banks(text_of(body(seed)), seed),
    "accesses": test_claims_programs.held,
    "executions": executions,
    "races": small,
    "altered": altered,
    "choices": lambda seed: races(chosen(seed), runs_of_choices),
    "counts": lambda seed: races(counted(seed), runs_of_counts),
    "clusters": lambda seed: races(clustered(seed)),
    "pipelines": lambda seed: races(pipeline(seed)),
    "boxes": partial(asserted, test_box_fills.check_many),
    "fragments": partial(asserted, test_fragments.check_many),
    "stores": lambda seed: Counter([judged_stores(seed)]),
    "rings": lambda seed: Counter([test_random_rings.answer(seed)]),
    "sums": lambda seed: Counter([test_random_sums.answer(seed)]),
    "tagged rings": lambda seed: Counter([test_operand_runs.answer(seed)]),
    "tagged chains": lambda seed: test_operand_runs.check_chains(range(seed, seed + 1)),
}


@dataclass
class Ran:
    """What came of seeds."""

    kernels: int = 0
    answers: Counter[str] = field(default_factory=Counter[str])
    wrong: dict[int, str] = field(default_factory=dict[int, str])


def run_chunk(room: str, seeds: range) -> Ran:
    """Compare kernels; whatever is raised is a finding, and the run goes on."""
    tried.MOST_STEPS, tried.PATIENCE = 8_000, 12  # pyright: ignore[reportAttributeAccessIssue]
    found = Ran()
    for seed in seeds:
        try:
            answers = ROOMS[room](seed)
        except Exception:  # noqa: BLE001
            answers = Counter([f"WRONG {traceback.format_exc(limit=-4)}"])
        wrong = [each for each in answers if each.startswith(("WRONG", "FALSE"))]
        found.kernels += 1
        found.answers += Counter({each[:60]: count for each, count in answers.items()})
        found.wrong |= {seed: "; ".join(wrong)} if wrong else {}
    return found


def main() -> int:
    """Run, and write the record."""
    about = (__doc__ or "").split("\n\n")[1]
    parser = argparse.ArgumentParser(prog="python -m tests.long_run", description=about)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--seeds", default="1000000-1010000", help="A-B: from A to B - 1")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seconds", type=float, default=1e9, help="seconds after which no chunk is begun")
    parser.add_argument("--record", type=Path, required=True, help="JSON file")
    options = parser.parse_args()
    first, end = map(int, options.seeds.split("-"))
    chunks = [range(at, min(at + CHUNK, end)) for at in range(first, end, CHUNK)]
    total, begun = Ran(), time.monotonic()
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for at in range(0, len(chunks), 4 * options.jobs):
            if time.monotonic() - begun > options.seconds:
                break
            for each in pool.map(partial(run_chunk, options.room), chunks[at : at + 4 * options.jobs]):
                total.kernels += each.kernels
                total.answers += each.answers
                total.wrong |= each.wrong
            record = {"room": options.room, "first": first, "kernels": total.kernels, "wrong": total.wrong}
            options.record.write_text(json.dumps({**record, "answers": dict(total.answers.most_common())}, indent=1))
            took = time.monotonic() - begun
            print(f"{options.room}: {total.kernels} kernels in {took:.0f} s, {len(total.wrong)} disagree", flush=True)
    return int(bool(total.wrong))


if __name__ == "__main__":
    raise SystemExit(main())

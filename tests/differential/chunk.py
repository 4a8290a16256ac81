"""A run of seeds against the oracle, as one piece of work: in a module of its own, which other
processes can import.
"""

from __future__ import annotations

import signal
import time
import traceback
from dataclasses import dataclass
from types import FrameType

from tests.differential.comparison import Comparison, Disagreement, compare_seed, drawn
from tests.differential.shrink import smallest
from tests.oracle.yaml_values import Spec

SPEC_LIMIT_S = 300
"""A spec that takes longer counts as unfinished, and the run goes on."""


class _OutOfTimeError(BaseException):
    """One spec took longer than SPEC_LIMIT_S; no `except Exception` of the tool may hold it up."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What came of the seeds from `first` on; `small` has the smallest spec of each disagreement."""

    first: int
    comparison: Comparison
    small: tuple[Spec, ...]
    unfinished: tuple[int, ...]
    slowest_s: float
    slowest_seed: int


def run_chunk(first: int, end: int, rlimit: int, *, themes: str = "all") -> Chunk:
    """Compare the seeds from `first` to `end` - 1; `themes` as in `DRAWS`."""
    signal.signal(signal.SIGALRM, _out_of_time)
    total, unfinished, small = Comparison(), [], []
    slowest_s, slowest_seed = 0.0, first
    for seed in range(first, end):
        began = time.perf_counter()
        signal.alarm(SPEC_LIMIT_S)
        try:
            found = compare_seed(seed, rlimit, themes=themes)
        except _OutOfTimeError:
            unfinished.append(seed)
            continue
        except Exception:  # noqa: BLE001 - whatever the tool throws is a finding, and the run goes on
            problem = traceback.format_exc(limit=-6)
            found = Comparison(specs=1, disagreements=[Disagreement(seed, "", f"it breaks: {problem}")])
        finally:
            signal.alarm(0)
        total.add(found)
        small += [smallest(drawn(seed, themes=themes), each, rlimit) for each in found.disagreements[:1]]
        took = time.perf_counter() - began
        if took > slowest_s:
            slowest_s, slowest_seed = took, seed
    return Chunk(first, total, tuple(small), tuple(unfinished), slowest_s, slowest_seed)


def _out_of_time(_: int, __: FrameType | None) -> None:
    raise _OutOfTimeError

"""Timing that survives a shared machine: interleaved repeats, medians, ratios; and the rows of the
table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

SAMPLE_S = 0.004
"""A sample of something short repeats it until it takes about this long."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure: `sizes_log2` elements of a layout, `points_log2` of an access, paths in
    the repository.
    """

    repeats: int
    sizes_log2: tuple[int, ...]
    far_log2: tuple[int, int]
    points_log2: int
    layouts: int
    library: str
    ten_claims: str


_SPEC = "specs/gemm/hgemm_128x128x64.swz.yaml"
FULL = Effort(9, (20, 24), (16, 32), 20, 1000, "specs", _SPEC)
QUICK = Effort(3, (20,), (16, 32), 20, 200, "specs", _SPEC)
TINY = Effort(1, (10,), (10, 16), 10, 20, _SPEC, _SPEC)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table; without `goal` nothing was promised, `at_most` says on which side of it
    to be.

    `value` is what the goal is about, and `shown` is it in words.
    """

    what: str
    ours: str
    theirs: str
    value: float
    shown: str
    goal: float | None = None
    at_most: bool = False
    goal_shown: str = ""

    @property
    def met(self) -> str:
        """Whether the target was met."""
        if self.goal is None:
            return ""
        return "yes" if (self.value <= self.goal if self.at_most else self.value >= self.goal) else "no"

    def cells(self) -> tuple[str, ...]:
        """The line's cells."""
        return (self.what, self.ours, self.theirs, self.shown, self.goal_shown, self.met)


def interleaved(actions: Sequence[Callable[[], object]], repeats: int) -> list[list[float]]:
    """Seconds a call of each action, `repeats` samples each, taken in turns: A B A B."""
    counts = [_calls(action) for action in actions]
    samples: list[list[float]] = [[] for _ in actions]
    for _ in range(repeats):
        for action, count, found in zip(actions, counts, samples, strict=True):
            found.append(_seconds(action, count) / count)
    return samples


def _seconds(action: Callable[[], object], count: int) -> float:
    started = perf_counter()
    for _ in range(count):
        action()
    return perf_counter() - started


def _calls(action: Callable[[], object]) -> int:
    """How many calls make a sample; the call that finds out also warms up."""
    return max(1, min(1000, round(SAMPLE_S / max(_seconds(action, 1), 1e-9))))


def fastest(actions: Sequence[Callable[[], bool]]) -> Callable[[], bool]:
    """The action that takes least, after each was run twice: the fair one to compare with."""
    return min(actions, key=lambda action: min(_seconds(action, 1) for _ in range(2)))


def speedup(
    what: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    repeats: int,
    goal: float | None = None,
) -> Row:
    """How many times faster ours is: the median of the ratios of neighbouring samples."""
    a, b = interleaved([ours, theirs], repeats)
    ratio = median(other / own for own, other in zip(a, b, strict=True))
    wanted = "" if goal is None else f">= {goal:,.0f}x"
    return Row(what, time_text(median(a)), time_text(median(b)), ratio, times(ratio), goal, goal_shown=wanted)


def slowdown(
    what: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    repeats: int,
    goal: float,
) -> Row:
    """How many times longer ours takes: the median of the ratios of neighbouring samples."""
    a, b = interleaved([ours, theirs], repeats)
    ratio = median(own / other for own, other in zip(a, b, strict=True))
    texts = time_text(median(a)), time_text(median(b))
    return Row(what, *texts, ratio, f"{ratio:.2f}", goal, at_most=True, goal_shown=f"<= {goal:g}")


def times(ratio: float) -> str:
    """A speedup in words.

    >>> times(1234.5), times(3.14159)
    ('1,234x', '3.1x')
    """
    return f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def time_text(seconds: float) -> str:
    """Seconds in three digits.

    >>> time_text(0.000123), time_text(0.0123), time_text(4.2)
    ('123 us', '12.3 ms', '4.20 s')
    """
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def require(condition: bool, what: str) -> None:
    """Stop when a measurement would compare different answers.

    Raises RuntimeError.
    """
    if not condition:
        raise RuntimeError(f"not a fair comparison: {what}")

"""Joins launches of a kernel to one verdict for each PTX line, and chooses launches itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .auto import automatic, plans
from .buffers import Argument, shape3
from .errors import OracleError
from .launch import Result, launch, parsed, place_of
from .layout import reachable
from .record import Access, Violation, Witness

AUTO_STEPS = 10_000
"""Steps of each launch that `run_auto` tries."""
MAX_BLOCKS = 4
"""Thread blocks of each launch that `run_auto` tries."""


@dataclass(eq=False)
class Line:
    """What all launches together say of one PTX line that accesses shared memory."""

    line: int
    text: str
    kind: str
    bytes: int
    verdict: str = "unreached"
    """`free`: one way in each execution of all launches.

    `conflict`: more in each launch that came here. `varies`: in some launches only. `no rule`: the
    instruction has no addresses of lanes. `elsewhere`: generic, and in no launch in shared memory.
    `unreached`: no launch came here.
    """
    ways: int = 0
    """The most different words of one bank within one group of lanes."""
    wavefronts: int = 0
    """The most wavefronts that one execution took."""
    minimum: int = 0
    """The least that the lanes of that execution would have taken without conflicts."""
    executions: int = 0
    by_launch: dict[str, int] = field(default_factory=dict)
    """The ways of each launch that came here."""
    witness: Witness | None = None
    """An execution with that many ways, in the launch that `witness_launch` names."""
    witness_launch: str = ""
    violations: list[Violation] = field(default_factory=list)
    from_data: bool = False
    """Lanes or addresses changed with the contents of buffers alone (`run_auto` only)."""

    def take(self, name: str, access: Access) -> None:
        """Add what one launch says."""
        self.violations += access.violations.values()
        if access.blind and access.executions:
            self.verdict = "no rule"
        elif access.elsewhere and self.verdict == "unreached":
            self.verdict = "elsewhere"
        self.executions += access.executions
        if access.blind or not access.executions:
            return
        if access.ways > self.ways:
            self.ways, self.witness, self.witness_launch = access.ways, access.worst_ways, name
        if access.worst_wavefronts > self.wavefronts:
            self.wavefronts, self.minimum = access.worst_wavefronts, access.minimum
        self.by_launch[name] = max(access.ways, self.by_launch.get(name, 0))
        ways = self.by_launch.values()
        self.verdict = "free" if max(ways) == 1 else "conflict" if min(ways) > 1 else "varies"

    def as_json(self) -> dict[str, Any]:
        """The line as plain data."""
        keys = ("line", "text", "kind", "bytes", "verdict", "ways", "wavefronts", "minimum", "executions", "by_launch")
        found: dict[str, Any] = {key: getattr(self, key) for key in keys}
        found["witness_launch"] = self.witness_launch or None
        found["witness"] = self.witness.as_json() if self.witness else None
        found["violations"] = [violation.as_json() for violation in self.violations]
        return found | {"from_data": self.from_data}


@dataclass(eq=False)
class Summary:
    """What several launches say of a kernel."""

    kernel: str
    lines: dict[int, Line] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    """Why launches stopped before their end, by the launch's name.

    Their accesses count all the same.
    """
    launches: list[str] = field(default_factory=list)

    @property
    def partial(self) -> bool:
        """Whether some launch stopped before its end."""
        return bool(self.errors)

    def as_json(self) -> dict[str, Any]:
        """The summary as plain data."""
        lines = [line.as_json() for line in self.lines.values()]
        return {"kernel": self.kernel, "launches": self.launches, "errors": self.errors, "lines": lines}

    def table(self) -> str:
        """The summary as a table."""
        rows = [("line", "verdict", "ways", "wavefronts", "minimum", "executions", "violations", "text")]
        for line in self.lines.values():
            numbers = (line.ways, line.wavefronts, line.minimum, line.executions)
            shown = [str(number) if number else "-" for number in numbers]
            bad = ", ".join(sorted({violation.kind for violation in line.violations})) or "-"
            rows.append((str(line.line), line.verdict, *shown, bad, " ".join(line.text.split())))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def summarize(results: Mapping[str, Result]) -> Summary:
    """Join launches of one kernel, given by names of one's own, to one verdict for each line."""
    found = Summary("", launches=list(results))
    for name, result in results.items():
        found.kernel = result.entry
        if result.error:
            found.errors[name] = result.error
        for access in result.accesses:
            line = Line(access.line, access.text, access.kind, access.bytes)
            found.lines.setdefault(access.line, line).take(name, access)
    return found


def auto_launches(
    ptx: str,
    kernel: str,
    block: Sequence[int] | None = None,
    smem: int | None = None,
    params: Mapping[str | int, Argument] | None = None,
    *,
    grid: Sequence[int] | None = None,
    steps: int = AUTO_STEPS,
) -> Iterator[tuple[str, Result]]:
    """The launches of `run_auto`, one after the other, with their names."""
    module = parsed(ptx)
    function = module.function(kernel)
    if function is None:
        raise OracleError(f"no kernel {kernel!r}")
    own = {place_of(name, function): value for name, value in (params or {}).items()}
    for plan in plans(reachable(module, function), block, smem):
        values: dict[str | int, Argument] = {**automatic(function, plan.whole, plan.fill), **own}
        shape = plan.grid if grid is None else shape3(grid)
        yield (
            plan.name,
            launch(
                ptx,
                kernel,
                shape,
                plan.block,
                plan.smem,
                values,
                plan.seed,
                auto=True,
                strict=False,
                steps=steps,
                max_blocks=MAX_BLOCKS,
            ),
        )


def run_auto(
    ptx: str,
    kernel: str,
    block: Sequence[int] | None = None,
    smem: int | None = None,
    params: Mapping[str | int, Argument] | None = None,
    *,
    grid: Sequence[int] | None = None,
    steps: int = AUTO_STEPS,
) -> Summary:
    """Run a kernel in several launches that nobody has to write, and join them.

    What is given (the shape of a block, of the grid, dynamic shared memory, some parameters) holds
    in all launches; the rest is chosen and varied. A launch that takes more than `steps` is cut
    off, and named in `errors`.
    """
    results = dict(auto_launches(ptx, kernel, block, smem, params, grid=grid, steps=steps))
    found = summarize(results)
    first, second = list(results.values())[:2]
    for one, other in zip(first.accesses, second.accesses, strict=True):
        found.lines[one.line].from_data |= one.patterns != other.patterns
    return found

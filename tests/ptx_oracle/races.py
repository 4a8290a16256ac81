"""Races of one launch: runs a kernel with vector clocks, and says which accesses have no order.

    found = races_of(text, "kernel", (128,), smem=1024, params=[Buffer(512), 8])
    found.verdict, found.pairs, found.divergences, found.left_out

The verdict is about this launch alone: other parameters may give another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .clocks import Clocks, Divergence
from .errors import OracleError
from .fetch import registers_in
from .launch import STEPS, Arguments, Launch, Result, place_of
from .model import Addr, Function, Instr, Reg
from .moves import space_in
from .record import Access
from .touches import Race


@dataclass(frozen=True)
class Races:
    """What one launch shows of the order of accesses to shared memory."""

    result: Result
    pairs: list[Race]
    """One example of each pair of lines."""
    of_returned: list[Race]
    """More pairs, if returning from the kernel is no arrival at the barriers that complete later."""
    divergences: list[Divergence]
    left_out: list[str]
    """Executed instructions that touch shared memory in a way that is not modelled."""
    decided_by_races: list[int] = field(default_factory=list)
    """Lines of branches, guards and addresses that may read what a race leaves open."""

    @property
    def verdict(self) -> str:
        """`free`, `race`, `race-benign`, `deadlock` or `divergent-barrier`.

        `unknown` where what is left out matters, and `stopped` where the launch did not end.
        """
        if self.left_out:
            return "unknown"
        if self.divergences:
            return "divergent-barrier"
        if any(not race.is_benign for race in self.pairs):
            return "race"
        if self.result.error:
            return "deadlock" if self.result.error.startswith("HangError") else "stopped"
        return "race-benign" if self.pairs else "free"

    def lines(self, *, benign: bool = True) -> set[tuple[int, int]]:
        """The pairs of lines that race."""
        return {race.lines for race in self.pairs if benign or not race.is_benign}


def races_of(
    text: str,
    kernel: str,
    block: Sequence[int],
    grid: Sequence[int] = (1,),
    smem: int = 0,
    params: Arguments = (),
    *,
    seed: int = 1,
    steps: int = STEPS,
    names: Sequence[str] = (),
    shuffle: int | None = None,
    cluster: tuple[int, int, int] = (1, 1, 1),
) -> Races:
    """Run a launch, and give its races over all blocks, or over all clusters of so many blocks.

    A kernel that goes on after threads returned runs twice: see `Races.of_returned`. `shuffle` is the
    seed of a random order of the warps and of the ends of bulk copies.
    """
    going = Launch(text, kernel)
    going.shuffle = shuffle
    result, clocks = _run(going, (grid, block), smem, params, seed, steps, names, exits_order=True, cluster=cluster)
    pairs = _joined(clocks)
    of_returned: list[Race] = []
    if any(each.rests_on_returns for each in clocks):
        again = Launch(text, kernel)
        again.shuffle = shuffle
        _, others = _run(again, (grid, block), smem, params, seed, steps, names, exits_order=False, cluster=cluster)
        of_returned = [race for key, race in _joined(others).items() if key not in pairs]
    divergences = sorted({found for each in clocks for found in each.divergences})
    if result.error.startswith("FaultError") and "all lanes wait" in result.error:
        divergences.append(Divergence((), "threads wait at barriers that never complete"))
    function = going.function
    racy = {line for race in pairs.values() for line, kind in zip(race.lines, race.kinds, strict=True) if kind != "W"}
    return Races(
        result,
        sorted(pairs.values()),
        sorted(of_returned),
        divergences,
        [f"line {each.line}: {each.text}" for each in result.accesses if _is_left_out(each)],
        decided_by(function, racy),
    )


def _is_left_out(access: Access) -> bool:
    return access.blind and not access.is_placed and access.executions > 0


def _run(
    going: Launch,
    shape: tuple[Sequence[int], Sequence[int]],
    smem: int,
    params: Arguments,
    seed: int,
    steps: int,
    names: Sequence[str],
    *,
    exits_order: bool,
    cluster: tuple[int, int, int],
) -> tuple[Result, list[Clocks]]:
    clocks: list[Clocks] = []
    going.clocked, going.exits_order = clocks.append, exits_order
    pairs = params.items() if isinstance(params, Mapping) else enumerate(params)
    given = {place_of(name, going.function, names): value for name, value in pairs}
    result = going.run(shape, smem, given, seed=seed, steps=steps, cluster=cluster)
    for each in clocks:
        each.settle()
    return result, clocks


def _joined(clocks: list[Clocks]) -> dict[object, Race]:
    found: dict[object, Race] = {}
    for each in clocks:
        found = {**each.races, **found}
    return found


def decided_by(function: Function, lines: set[int]) -> list[int]:
    """The lines that decide, or go to addresses, by values that loads at these lines give.

    Values are followed through registers and through shared memory, whatever path the code takes.
    """
    tainted: set[int] = set()
    through_memory = False
    while True:
        before = len(tainted), through_memory
        for instr in function.instrs:
            reads, writes = _registers(instr)
            loads = instr.op in ("ld", "ldmatrix", "atom") and space_in(instr.mods) in ("shared", "")
            if instr.line in lines or reads & tainted or (loads and through_memory):
                tainted |= writes
                through_memory |= instr.op in ("st", "stmatrix", "atom", "red") and bool(reads & tainted)
        if before == (len(tainted), through_memory):
            break
    return sorted({instr.line for instr in function.instrs if _deciding(instr) & tainted})


def _registers(instr: Instr) -> tuple[set[int], set[int]]:
    """The registers that an instruction reads, and those that it writes."""
    operands = instr.operands
    writes = instr.op not in ("st", "red", "bra", "cp", "stmatrix", "bar", "barrier") and bool(operands)
    written = {register.slot for register in registers_in(operands[:1])} if writes else set()
    read = {register.slot for register in registers_in(operands[1 if writes else 0 :])}
    return read | ({instr.pred.slot} if instr.pred else set()), written


def _deciding(instr: Instr) -> set[int]:
    """The registers that decide where control goes, who acts, or which byte is touched."""
    found = {instr.pred.slot} if instr.pred else set()
    for operand in instr.operands:
        if isinstance(operand, Addr) and isinstance(operand.base, Reg) and space_in(instr.mods) in ("shared", ""):
            found.add(operand.base.slot)
    return found


__all__ = ["OracleError", "Races", "races_of"]

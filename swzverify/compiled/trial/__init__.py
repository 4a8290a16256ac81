"""Trials: one block of a kernel runs in plain numbers, with arguments and data that are made up.

A trial shows what one launch does, for accesses without a proof: their addresses contain values
from shared memory, or values that loops carry in ways that are not followed. `fields` are what a
kernel loads from its parameters, `launch` makes up launches, `search` says which comes next.
`placement` says where a launch has its data, `memory` holds bytes, `lanes` registers, `code` says what
an instruction does to them, with `floats`, `exchange`, `atomics` and what is `prepared` of it once. `machine`
runs all warps of the blocks of several launches side by side, in the order that `schedule` gives: the warps that are
at one instruction go on together over `branches` until others are at an earlier one. `kinds` says which instructions
end that, and `kept` has what accesses reach. A value that is not
computed, such as an approximation, is not known; where a branch or a guard needs one, the trial
ends. Imports `order`, `kernel`, `ptx`, `hardware`, `ir` and `errors`.

`clocks` runs a launch for another question: which accesses to shared memory nothing orders. `clocked` is a machine
whose threads wait one by one. `recorder` tells the accesses to a `history`, which finds unordered pairs of
`touches` by the `knowledge` that threads have of one another. It comes from barriers, from `objects` (mbarrier),
`bulk` copies, `products` (wgmma) and `flags` (release and acquire); `misses` has what a run shows.

What it relies on: lanes that part meet again where their ways join, as on an H200. A function that
a pointer names returns, and has no barrier that others wait at. Warps run in
one of the orders that PTX allows, and so do the lanes of an atomic.
"""

from swzverify.compiled.trial.clocks import Launches, replay
from swzverify.compiled.trial.history import Unordered
from swzverify.compiled.trial.kept import Seen
from swzverify.compiled.trial.launch import ONE_BLOCK, Launch, Launcher
from swzverify.compiled.trial.machine import Trial, run, run_all
from swzverify.compiled.trial.misses import Replay
from swzverify.compiled.trial.search import Search

__all__ = [
    "ONE_BLOCK",
    "Launch",
    "Launcher",
    "Launches",
    "Replay",
    "Search",
    "Seen",
    "Trial",
    "Unordered",
    "replay",
    "run",
    "run_all",
]

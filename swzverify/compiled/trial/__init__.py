"""Trials: one block of a kernel runs in plain numbers, with arguments and data that are made up.

A trial shows what one launch does, for accesses without a proof: their addresses contain values
from shared memory, or values that loops carry in ways that are not followed. A value that is not
computed, such as an approximation, is not known; where a branch or a guard needs one, the trial
ends.

`search` chooses the next launch, and `machine` runs the warps of several launches side by side. `clocks` runs
a launch for another question: which accesses to shared memory nothing orders.
docs/architecture.md, "Which file has which rule", lists the files by topic.

What it relies on: lanes that part meet again where their ways join, as on an H200. A function that
a pointer names returns, and has no barrier that others wait at. Warps run in
one of the orders that PTX allows, and so do the lanes of an atomic.
"""

from swzverify.compiled.trial.kept import Seen
from swzverify.compiled.trial.launch import ONE_BLOCK, Launch, Launcher
from swzverify.compiled.trial.machine import Trial, run, run_all
from swzverify.compiled.trial.search import Search

__all__ = [
    "ONE_BLOCK",
    "Launch",
    "Launcher",
    "Search",
    "Seen",
    "Trial",
    "run",
    "run_all",
]

"""Trials: one block of a kernel runs in plain numbers, with arguments and data that are made up.

A trial shows what one launch does, for accesses of which nothing could be proved: those whose
address has what shared memory holds, or what loops carry in ways that are not followed. `launch`
makes up launches, `memory` holds bytes, `lanes` registers, `code` says what an instruction does to
them, with `exchange` and `atomics`, and `machine` runs all warps of the block. A value that is not
computed, such as a float, is not known; where a branch or a guard needs one, the trial ends.
Imports `kernel`, `ptx`, `hardware`, `ir` and `errors`.

What it relies on: lanes that part meet again where their ways join, as on an H200. Warps run in
one of the orders that PTX allows, and so do the lanes of an atomic.
"""

from swzverify.trial.launch import Launch, launches
from swzverify.trial.machine import Seen, Trial, run

__all__ = ["Launch", "Seen", "Trial", "launches", "run"]

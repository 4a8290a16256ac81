"""Stands in for `swzverify.gpu.worker` in a copy of the package: a device whose answers lie beside
it.

It tells in `worker.log` what it was asked to do, from where its package came, and whether it finds
a module that lies beside the package.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np

import swzverify
from swzverify.gpu.cost_worker import load_patterns
from swzverify.gpu.costs import UNROLL, kernel_name
from swzverify.gpu.counters import CONFLICTS, WAVEFRONTS

HERE = Path(__file__).parent


def main(arguments: list[str]) -> None:
    what, folder = arguments[0], Path(arguments[1])
    with (HERE / "worker.log").open("a") as log:
        beside = importlib.util.find_spec("only_beside") is not None
        log.write(json.dumps([what, swzverify.__file__, beside, sys.argv[0]]) + "\n")
    (folder / "device.json").write_text((HERE / "device.json").read_text())
    match what:
        case "functions":
            for name in json.loads((folder / "jobs.json").read_text()):
                (folder / f"{name}.answers").write_bytes((HERE / "answers").read_bytes())
        case "counts":
            counts(folder)
        case "clocks":
            slopes = {name: each.predicted()[0].astype(np.float32) for name, each in load_patterns(folder).items()}
            np.savez(folder / "slopes.npz", **slopes)  # type: ignore[arg-type]
        case _:
            raise ValueError(what)


def counts(folder: Path) -> None:
    """The table of a profiler that watches the launches: the first pattern twice over, then each
    once.
    """
    print(f'"ID","Kernel Name","{WAVEFRONTS}.sum","{CONFLICTS}.sum"')
    for each in load_patterns(folder).values():
        wavefronts, conflicts = each.predicted()
        kernel = kernel_name("counted", each.instruction)
        for index, bursts in [(0, 2 * UNROLL), *((index, UNROLL) for index in range(len(each)))]:
            print(f'"0","{kernel}","{bursts * wavefronts[index]}","{bursts * conflicts[index]}"')


if __name__ == "__main__":
    main(sys.argv[1:])

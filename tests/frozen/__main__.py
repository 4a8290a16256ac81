"""Writes and compares verdicts: the safety net of a change that should change none.

`python -m tests.frozen write FILE [--truth FOLDER] [--corpus FOLDER]` writes the verdict of every
claim of `specs/`, and of every access and the races of each kernel that `FOLDER/truth.json` names with
its blocks, and of each kernel of the corpus's manifest whose PTX is in `FOLDER`. `python -m tests.frozen
compare OLD NEW` prints what differs, and ends with 1 if a verdict is gone, contradicts the old one, or
says less.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

from swzverify.compiled.ptx import read_module_file
from swzverify.compiled.scan.decide import scan_function, scanned_functions
from swzverify.compiled.scan.given import NOTHING_GIVEN
from swzverify.compiled.scan.races import races_of
from tests.corpus.pool import MANIFEST, name_of

ROOT: Final = Path(__file__).parents[2]
OPEN: Final = frozenset({"unknown", "vacuous", "error"})
Verdicts = dict[str, dict[str, Any]]
Job = tuple[Path, str, tuple[int, int, int]]


def of_specs(folder: Path) -> Verdicts:
    """The verdict and the cost of each claim of the specs in a folder."""
    words = [sys.executable, "-m", "swzverify", "prove", str(folder), "--format", "json"]
    made = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    return {
        each["id"]: {"verdict": each["verdict"], "measure": each.get("measure")}
        for each in json.loads(made.stdout)["claims"]
    }


def of_kernel(job: Job) -> Verdicts:
    """The verdicts of each access of a kernel, without trials, and of its races."""
    path, kernel, block = job
    module = read_module_file(path)
    found: Verdicts = {}
    for place in scanned_functions(module, kernel):
        for each in scan_function(module, module.functions[place], block, trials=0):
            calls = "".join(f" from {line}" for line in each.calls)
            decision = each.decision
            found[f"{path.name}::{each.kernel}::{'x'.join(map(str, block))}::{each.line}{calls}"] = {
                "verdict": decision.verdict.value,
                "ways": decision.ways,
                "at_least": decision.at_least,
                "aligned": each.aligned.verdict.value,
                "in_bounds": each.in_bounds.verdict.value,
            }
        function = module.functions[place]
        if function.is_entry:
            races = races_of(module, function, NOTHING_GIVEN, block=block)
            name = f"{path.name}::{function.name}::{'x'.join(map(str, block))}::races"
            found[name] = {"verdict": races.verdict.value}
    return found


def jobs_of_truth(folder: Path) -> Iterator[Job]:
    """The kernels of a folder with `truth.json`."""
    for each in json.loads((folder / "truth.json").read_text(encoding="utf-8"))["kernels"]:
        x, y, z = each["block"]
        yield folder / "ptx" / f"{each['file']}.ptx", each["mangled"], (x, y, z)


def jobs_of_corpus(folder: Path) -> Iterator[Job]:
    """The kernels of the corpus whose PTX is in a folder."""
    for each in json.loads(MANIFEST.read_text(encoding="utf-8"))["files"]:
        path = folder / name_of(each["repository"], each["file"])
        for kernel in each["kernels"] if path.exists() else ():
            for x, y, z in kernel["blocks"]:
                yield path, kernel["name"], (x, y, z)


def compared(old: Verdicts, new: Verdicts) -> tuple[list[str], Counter[str]]:
    """What differs, a line each, with how many there are of each kind: `gone`, `contradicts`, `less`,
    `more`, `new` and `figures`.
    """
    lines: list[str] = []
    counts: Counter[str] = Counter()
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        if before is None or after is None:
            kind = "new" if before is None else "gone"
        else:
            kinds = {_kind(before[key], after.get(key)) for key in before if key in ("verdict", "aligned", "in_bounds")}
            kind = next((each for each in ("contradicts", "less", "more") if each in kinds), "figures")
        counts[kind] += 1
        lines.append(f"{kind:12}{name}: {_shown(before)} -> {_shown(after)}")
    return lines, counts


def _kind(before: str, after: str | None) -> str:
    if before == after:
        return ""
    if after is None or after in OPEN:
        return "less"
    return "more" if before in OPEN else "contradicts"


def _shown(verdict: dict[str, Any] | None) -> str:
    return "nothing" if verdict is None else ", ".join(f"{key} {value}" for key, value in verdict.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or compare; 1 where a verdict is gone, contradicts the old one, or says less."""
    reader = argparse.ArgumentParser(prog="python -m tests.frozen", description="Freeze verdicts and compare them.")
    commands = reader.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write")
    write.add_argument("file", type=Path)
    write.add_argument("--specs", type=Path, default=ROOT / "specs")
    write.add_argument("--truth", type=Path)
    write.add_argument("--corpus", type=Path)
    write.add_argument("-j", type=int, default=2, dest="workers")
    compare = commands.add_parser("compare")
    compare.add_argument("old", type=Path)
    compare.add_argument("new", type=Path)
    given = reader.parse_args(arguments)
    if given.command == "write":
        found = of_specs(given.specs)
        jobs = [*(jobs_of_truth(given.truth) if given.truth else ())]
        jobs += jobs_of_corpus(given.corpus) if given.corpus else ()
        with ProcessPoolExecutor(given.workers) as pool:
            for each in pool.map(of_kernel, jobs):
                found |= each
        given.file.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        print(f"{len(found)} verdicts of {given.specs} and {len(jobs)} kernels")
        return 0
    lines, counts = compared(*(json.loads(each.read_text(encoding="utf-8")) for each in (given.old, given.new)))
    print("\n".join([*lines, f"{dict(counts) or 'no difference'}"]))
    return int(bool(counts["gone"] or counts["contradicts"] or counts["less"]))


if __name__ == "__main__":
    raise SystemExit(main())

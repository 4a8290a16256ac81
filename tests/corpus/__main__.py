"""Measures a folder of PTX: `python -m tests.corpus FOLDER [--manifest FILE] [--keep FILE]`.

The folder has the files that the manifest names; `--keep` is a file of what was measured, which a
later run does not measure again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from tests.corpus.figures import report
from tests.corpus.pool import MANIFEST, jobs_of, key_of, load, measured


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing and print the figures; 1 where a verdict is wrong or a scan crashed."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description="Scan public kernels and run them.")
    parser.add_argument("folder", type=Path, help="the PTX files")
    parser.add_argument("--manifest", type=Path, default=MANIFEST)
    parser.add_argument("--keep", type=Path, help="JSON lines: read before, written after each kernel")
    parser.add_argument("--steps", type=int, default=2000, help="steps of each launch in the interpreter")
    parser.add_argument("--limit", type=int, default=120, help="seconds for all launches of a kernel")
    parser.add_argument("-j", type=int, default=2, dest="workers")
    chosen = parser.parse_args(arguments)
    manifest = json.loads(chosen.manifest.read_text(encoding="utf-8"))
    jobs = jobs_of(chosen.folder, manifest, chosen.steps, chosen.limit)
    wanted = {(path.name, kernel, block) for path, kernel, block, *_ in jobs}
    found = [each for each in (load(chosen.keep) if chosen.keep else []) if key_of(each) in wanted]
    known = {key_of(each) for each in found}
    for each in measured([job for job in jobs if (job[0].name, job[1], job[2]) not in known], chosen.workers):
        found.append(each)
        if chosen.keep:
            with chosen.keep.open("a", encoding="utf-8") as out:
                out.write(json.dumps(each) + "\n")
    text, is_right = report(found)
    print(text)
    return 0 if is_right else 1


if __name__ == "__main__":
    raise SystemExit(main())

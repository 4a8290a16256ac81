"""Asks a GPU's counters about random kernels: `python -m tests.gpu.random_kernels --seeds 1-1000 --record FILE`.

Each kernel of `counted_kernels` is assembled, launched under Nsight Compute with the counters of each machine
instruction, and scanned; `measured` compares each verdict on the chip with the counts. It needs ptxas, nvcc, nvdisasm,
ncu, and a GPU of compute capability 9.0. Without a GPU `--dry-run` does everything but the launch. The record has a
line of JSON for each access that was compared. The exit status is 1 if a verdict disagrees.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from swzverify.compiled.binaries import machine_of_file
from swzverify.compiled.profiler import Counts, fitted
from swzverify.compiled.profiler.export import Profile, exported
from swzverify.compiled.profiler.nsight import IDEAL, WAVEFRONTS
from swzverify.compiled.ptx import read_module
from swzverify.compiled.sass import read_listing
from swzverify.compiled.scan import ScannedAccess, scan_function, tried
from swzverify.compiled.scan.measured import Measured, Status, measured
from swzverify.errors import SwzError
from tests.gpu.counted_kernels import shape_of, text_of

TARGET = "sm_90"
SOURCE = Path(__file__).with_name("run_kernels.cu")
TOTALS = ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")
NEEDED = ("inst_executed", "thread_inst_executed_true", WAVEFRONTS, IDEAL)
METRICS = ("--metrics", ",".join((*NEEDED, *TOTALS)))
SECTION = ("--section", "SourceCounters", "--metrics", ",".join(TOTALS))
"""Where the metrics alone give no source page: the section that has them, in more passes."""
NCU = ("ncu", "--clock-control", "none", "--cache-control", "none", "--force-overwrite")
PAGE = ("--csv", "--print-kernel-base", "mangled", "--page")
RUN_S, NCU_S = 30, 240
Rows = list[dict[str, Any]]


def assemble(seed: int, folder: Path) -> None:
    """Write the PTX and the cubin of a kernel."""
    given = folder / f"{seed}.ptx"
    given.write_text(text_of(seed), "utf-8")
    command = ["ptxas", "-lineinfo", f"-arch={TARGET}", str(given), "-o", str(folder / f"{seed}.cubin")]
    subprocess.run(command, check=True, capture_output=True)


def scanned(seed: int, folder: Path, profile: Profile | None) -> Rows:
    """The verdicts on a kernel beside what was counted, or the error; the record tells of every kernel."""
    try:
        return _scanned(seed, folder, profile)
    except Exception as error:  # noqa: BLE001
        return [{"seed": seed, "error": repr(error)}]


def _scanned(seed: int, folder: Path, profile: Profile | None) -> Rows:
    path = folder / f"{seed}.ptx"
    text = path.read_text("utf-8")
    tried.MOST_STEPS, tried.PATIENCE = 8_000, 12  # pyright: ignore[reportAttributeAccessIssue]
    (machine,) = machine_of_file(str(path), [text], TARGET, [str(folder / f"{seed}.cubin")])
    if machine.reason:
        return [{"seed": seed, "error": machine.reason}]
    module, listing = read_module(text, path.name), read_listing(machine.listing, machine.shift)
    function = module.function(f"k{seed}")
    assert function is not None
    counted: dict[tuple[str, int], Counts] = {}
    if profile is not None:
        fit = fitted(profile, listing.sections)
        if fit.section is None:
            return [{"seed": seed, "error": fit.reason}]
        name = listing.sections[fit.section].name
        counted = {(name, place): counts for place, (_, counts) in profile.instructions.items() if counts is not None}
    found = scan_function(module, function, shape_of(seed), machine=listing)
    lines = Counter(each.line for each in found)
    return [row(seed, each, measured(each, counted, is_alone=lines[each.line] == 1)) for each in found]


def row(seed: int, access: ScannedAccess, held: Measured) -> dict[str, Any]:
    """What the record has of an access."""
    own, chip = access.decision, access.chip
    assert chip is not None
    return {
        "seed": seed,
        "line": access.line,
        "instruction": access.instruction,
        "ptx": [own.verdict.value, own.wavefronts, own.minimum, own.at_least, own.reason],
        "relation": chip.relation.value,
        "chip": [chip.decision.verdict.value, chip.decision.wavefronts, chip.decision.minimum, chip.decision.at_least],
        "status": held.status.value,
        "reason": held.reason,
        "counts": [
            [each.instruction.text, each.counts.executed, each.counts.wavefronts, each.counts.ideal, each.counts.lanes]
            for each in held.rows
        ],
    }


class Device:
    """The GPU, through a program that launches kernels, alone or under ncu."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.program = folder, folder / "run"
        subprocess.run(["nvcc", "-o", str(self.program), str(SOURCE)], check=True)
        self.wanted: Sequence[str] = METRICS

    def _list(self, seeds: Sequence[int]) -> Path:
        path = self.folder / "list"
        for_each = ((self.folder / f"{seed}.cubin", f"k{seed}", *shape_of(seed), seed % 7) for seed in seeds)
        path.write_text("".join(" ".join(map(str, words)) + "\n" for words in for_each))
        return path

    def runnable(self, seeds: Sequence[int]) -> list[int]:
        """Those kernels that run without an error and end in time, told by running them."""
        left = list(seeds)
        while left:
            ran = _run([str(self.program), str(self._list(left))], RUN_S)
            lines = ran.splitlines()
            if lines and lines[-1] == "all":
                return left
            names = [each for each in lines if each[:1] == "k"]
            if not names:
                raise SystemExit(f"no kernel runs: {ran}")
            print(f"left out: {lines[-2:]}", flush=True)
            left.remove(int(names[-1][1:]))
        return left

    def profiled(self, seeds: Sequence[int], report: Path) -> bool:
        """Count kernels into a report."""
        command = [*NCU, *self.wanted, "--export", str(report), str(self.program), str(self._list(seeds))]
        said = _run(command, NCU_S)
        if not report.is_file():
            print(said[-1500:], flush=True)
        return report.is_file()


def _run(command: Sequence[str], limit_s: int) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired as error:
        out = error.stdout or b""
        return out.decode() if isinstance(out, bytes) else out
    return done.stdout + done.stderr


def pages(report: Path) -> tuple[tuple[Profile, ...], dict[str, list[str]]]:
    """The counts of each instruction, and of each kernel the totals of the hardware's own counters.

    Raises:
        SwzError: SWZ544 if the report has no such page.
    """
    source = _run([*NCU[:1], "--import", str(report), *PAGE, "source", "--print-source", "sass"], NCU_S)
    raw = _run([*NCU[:1], "--import", str(report), *PAGE, "raw", "--print-units", "base"], NCU_S)
    lines = [line for line in raw.splitlines() if line.startswith('"')]
    rows = [each for each in csv.DictReader(io.StringIO("\n".join(lines))) if (each.get("ID") or "").isdigit()]
    totals = {each["Kernel Name"]: [each.get(name, "") for name in TOTALS] for each in rows}
    parts = re.split(r'^(?="Kernel Name",)', source, flags=re.MULTILINE)[1:]
    found: dict[str, Profile] = {}
    error: SwzError | None = None
    for part in parts:
        try:
            found |= {each.kernel: each for each in exported(part.encode(), report.name).profiles}
        except SwzError as refused:
            error = refused
            print(f"{part.splitlines()[0]} {refused}", flush=True)
    if not found:
        raise error or SwzError("SWZ544", f"there is no page of sources: {source[-300:]}")
    return tuple(found.values()), totals


def shards(seeds: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """The first shard is small: it shows soon whether anything is wrong."""
    at, many = 0, min(size, 8)
    while at < len(seeds):
        yield seeds[at : at + many]
        at, many = at + many, size


def counted(seeds: Sequence[int], folder: Path, jobs: int, seconds: float, size: int) -> Rows:
    """Everything: assembled, launched, counted, and scanned as counts come."""
    begun, device, found = time.monotonic(), Device(folder), list[Future[Rows]]()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool, ThreadPoolExecutor(4) as readers:
        assembled = {seed: pool.submit(assemble, seed, folder) for seed in seeds}

        def read(report: Path) -> list[Future[Rows]]:
            profiles, totals = pages(report)
            own = ((int(each.kernel[1:]), folder, each, totals.get(each.kernel, [])) for each in profiles)
            return [pool.submit(with_totals, *each) for each in own]

        reading: list[Future[list[Future[Rows]]]] = []
        for number, shard in enumerate(shards(seeds, size)):
            if time.monotonic() - begun > seconds:
                print(f"time is up: {number} shards were counted", flush=True)
                break
            for seed in shard:
                assembled[seed].result()
            report = folder / f"{number}.ncu-rep"
            ready = device.runnable(shard)
            if not ready or not device.profiled(ready, report):
                continue
            print(f"{time.monotonic() - begun:.0f} s: {len(ready)} more kernels counted", flush=True)
            if number == 0:
                report = checked_first(device, ready, report)
            reading.append(readers.submit(read, report))
        for shard_read in reading:
            try:
                found += shard_read.result()
            except SwzError as error:
                print(error, flush=True)
        return [each for future in found for each in future.result()]


def checked_first(device: Device, ready: Sequence[int], report: Path) -> Path:
    """The report of the first shard; with the whole section where the metrics alone give no page."""
    try:
        pages(report)
    except SwzError as error:
        print(f"{error}; counting with the section SourceCounters", flush=True)
        device.wanted = SECTION
        report = report.with_name("again.ncu-rep")
        device.profiled(ready, report)
    return report


def with_totals(seed: int, folder: Path, profile: Profile, totals: list[str]) -> Rows:
    """The rows of a kernel, and one with its totals: by instruction, and by the hardware's own counters."""
    by_instruction = sum(each.wavefronts for _, each in profile.instructions.values() if each is not None)
    return [*scanned(seed, folder, profile), {"seed": seed, "by_instruction": by_instruction, "totals": totals}]


def summary(rows: Rows) -> tuple[str, int]:
    """The figures in words, and how many verdicts disagree."""
    held = [each for each in rows if "status" in each]
    errors = [each for each in rows if "error" in each]
    kernels = {each["seed"] for each in held}
    counts = Counter((each["chip"][0], each["status"]) for each in held)
    wrong = [each for each in held if each["status"] == Status.DISAGREES.value]
    lines = [f"{len(kernels)} kernels, {len(held)} accesses, {len(errors)} errors, {len(wrong)} disagree"]
    lines += [f"  {verdict:9} {status:10} {count}" for (verdict, status), count in sorted(counts.items())]
    lines += [json.dumps(each) for each in [*errors[:10], *wrong[:20]]]
    return "\n".join(lines), len(wrong)


def main() -> int:
    """Count, compare, write the record."""
    about = (__doc__ or "").split("\n\n")[1]
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.random_kernels", description=about)
    parser.add_argument("--seeds", default="1-1000", help="the kernels, such as 1-1000")
    parser.add_argument("--jobs", type=int, default=16, help="processes that assemble and scan")
    parser.add_argument("--seconds", type=float, default=240.0, help="no shard is begun after so many seconds")
    parser.add_argument("--shard", type=int, default=64, help="kernels of one run of ncu")
    parser.add_argument("--record", type=Path, required=True, help="a file .jsonl.gz")
    parser.add_argument("--dry-run", action="store_true", help="do everything but launch")
    options = parser.parse_args()
    low, high = map(int, options.seeds.split("-"))
    seeds = range(low, high + 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.dry_run:
            for seed in seeds:
                assemble(seed, folder)
            Device(folder)
            with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
                rows = [each for of in pool.map(partial(scanned, folder=folder, profile=None), seeds) for each in of]
        else:
            rows = counted(seeds, folder, options.jobs, options.seconds, options.shard)
    with gzip.open(options.record, "wt") as file:
        file.writelines(json.dumps(each) + "\n" for each in rows)
    words, wrong = summary(rows)
    print(words)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())

"""Runs Nsight Compute: it profiles a command of the user and writes the report as CSV.

Source: Nsight Compute CLI, Command Line Options.

The launches of a report come from its raw page.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from swzverify.compiled.binaries.tools import Ran, find_tool, run_tool
from swzverify.compiled.profiler.export import Export, exported
from swzverify.errors import SwzError, graphic

RUN_S: Final = 1800.0
"""Seconds that the profiled command may take; `ncu` runs each kernel several times."""
PROFILE: Final = ("--section", "SourceCounters", "--clock-control", "none", "--target-processes", "all")
"""What is counted. The GPU's clocks stay as they are: counts do not depend on them."""
NAMES: Final = ("--csv", "--print-kernel-base", "mangled")
_RIGHTS: Final = "ERR_NVGPUCTRPERM"
_SAID: Final = 300


def profile(command: str, kernel: str | None = None) -> tuple[Export, tuple[Launch, ...]]:
    """Run a command under ncu, with the rights and in the folder of this process, without a shell.

    With `kernel`, only the kernel of that mangled name is profiled.

    Raises:
        SwzError: SWZ542 if ncu is not found, SWZ543 if the command takes too long, SWZ546 if it cannot
            be profiled.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SwzError("SWZ546", f"the command cannot be split into words: {error}") from error
    if not words:
        raise SwzError("SWZ546", "the command to profile is empty")
    tool = find_tool("ncu")
    only = () if kernel is None else ("--kernel-name-base", "mangled", "--kernel-name", kernel)
    with TemporaryDirectory(prefix="swzverify-") as name:
        folder = Path(name)
        report = str(folder / "report.ncu-rep")
        ran = run_tool([tool, *PROFILE, *only, "--force-overwrite", "--export", report, *words], folder, RUN_S, Path())
        if ran.code or not Path(report).is_file():
            raise SwzError("SWZ546", f"ncu could not profile {words[0]!r}: {_error_text(ran)}", hint=_hint(ran))
        read = run_tool([tool, "--import", report, "--page", "source", "--print-source", "sass", *NAMES], folder)
        found = exported(_output(read), "the export of ncu")
        raw = run_tool([tool, "--import", report, "--page", "raw", *NAMES], folder)
        return found, launches(_output(raw).decode("utf-8", "replace"))


def _output(ran: Ran) -> bytes:
    if ran.code:
        raise SwzError("SWZ546", f"ncu could not write its report as CSV: {_error_text(ran)}")
    return ran.out.read_bytes()


def _error_text(ran: Ran) -> str:
    """What ncu says went wrong: it marks its own lines, in both outputs."""
    lines = [line.strip() for line in _written(ran).splitlines()]
    marked = [line for line in lines if line.startswith("==ERROR==")] or [line for line in lines if line][-3:]
    plain = " ".join(" ".join(marked).replace("==ERROR==", "").split())
    return graphic(plain[:_SAID]) or f"it ended with code {ran.code}"


def _written(ran: Ran) -> str:
    return f"{ran.out.read_bytes()[-20_000:].decode('utf-8', 'replace')}\n{ran.err}"


def _hint(ran: Ran) -> str:
    if _RIGHTS in _written(ran):
        return "the driver lets administrators read counters only: NVIDIA's page on ERR_NVGPUCTRPERM says what to do"
    return "run the command by itself first; --check FILE.csv reads an export that was made elsewhere"


_SHAPE: Final = re.compile(r"\((\d{1,4}), (\d{1,4}), (\d{1,4})\)")
_DEVICE: Final = "device__attribute_display_name"


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel that was profiled, the shape of its block, and the GPU, empty if not known."""

    kernel: str
    block: tuple[int, int, int]
    device: str = ""


def launches(text: str) -> tuple[Launch, ...]:
    r"""The launches of a raw page; none if the page is not understood.

    They only decide what is not compared.

    >>> launches('"ID","Kernel Name","Block Size"\n"","",""\n"0","k","(32, 8, 1)"\n')
    (Launch(kernel='k', block=(32, 8, 1), device=''),)
    """
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error:
        return ()
    at = next((number for number, row in enumerate(rows) if {"Kernel Name", "Block Size"} <= set(row)), None)
    if at is None:
        return ()
    titles = rows[at]
    found: list[Launch] = []
    for row in rows[at + 1 :]:
        if len(row) == len(titles) and (shape := _SHAPE.fullmatch(row[titles.index("Block Size")])):
            x, y, z = (int(each) for each in shape.groups())
            device = row[titles.index(_DEVICE)] if _DEVICE in titles else ""
            found.append(Launch(row[titles.index("Kernel Name")], (x, y, z), device))
    return tuple(found)

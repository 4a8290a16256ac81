"""The CSV of Nsight Compute's source page: `ncu --import FILE --page source --csv`.

The page has a part for each kernel that was profiled: a row with its name, a row of titles, and a
row for each machine instruction. Anything else is an error that names the line.

Source: Nsight Compute CLI, Command Line Options, Print; Profiling Guide, Metrics Reference, Source
Metrics; what version 2025.3 prints.

The counters of a machine instruction are summed over the launches that were profiled.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from swzverify.compiled.profiler.nsight import Totals, is_csv_of_nsight, totals_of_csv
from swzverify.compiled.sass import touches
from swzverify.errors import SwzError, graphic

MOST_BYTES: Final = 128 * 1024 * 1024
_STEP: Final = 16
_EXECUTED, _WAVEFRONTS, _IDEAL, _LANES = (
    "Instructions Executed",
    "L1 Wavefronts Shared",
    "L1 Wavefronts Shared Ideal",
    "Predicated-On Thread Instructions Executed",
)
_TITLES: Final[Mapping[str, tuple[str, ...]]] = {
    _EXECUTED: ("instructions executed", "# inst. executed", "# instructions executed", "inst_executed"),
    _WAVEFRONTS: ("l1 wavefronts shared", "memory_l1_wavefronts_shared"),
    _IDEAL: ("l1 wavefronts shared ideal", "memory_l1_wavefronts_shared_ideal"),
    _LANES: (
        "predicated-on thread instructions executed",
        "# predicated-on thread inst. executed",
        "thread_inst_executed_true",
    ),
}
_NEEDED: Final = (_EXECUTED, _WAVEFRONTS)
_BEGIN: Final = re.compile(r'^"?Kernel Name"?,', re.MULTILINE)
_NUMBER: Final = re.compile(r"\d{1,18}|\d{1,3}(?:,\d{3}){1,5}")
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{1,16}|[0-9a-fA-F]{8,16}|\d{1,9}")
_HINT: Final = "write it with: ncu --import REPORT --page source --print-source sass --print-kernel-base mangled --csv"
_SECTION: Final = "profile with: ncu --section SourceCounters"
_SHOWN: Final = 60
_HEAD: Final = 100_000


@dataclass(frozen=True, slots=True)
class Profile:
    """The counts of one kernel in one launch.

    `instructions` are those that may touch shared memory, by their distance in bytes from the kernel's
    start. `size_bytes` counts all instructions. Counts are None if the export has no number.
    """

    kernel: str
    size_bytes: int
    instructions: Mapping[int, tuple[str, Counts | None]]


@dataclass(frozen=True, slots=True)
class Export:
    """The profiles of a file, in their order, and the titles of the columns that are `missing`."""

    name: str
    profiles: tuple[Profile, ...]
    missing: tuple[str, ...] = ()


def read_counters_of(path: str) -> Export | Totals:
    """Read an export, or the CSV file of a data frame of nsight-python.

    Raises:
        SwzError: SWZ544 for a file that cannot be read, is too large, or is neither.
    """
    file = Path(path)
    try:
        if not file.is_file():
            raise SwzError("SWZ544", f"{_visible(path)} is no file")
        if file.stat().st_size > MOST_BYTES:
            raise SwzError("SWZ544", f"{_visible(path)} has more than {MOST_BYTES >> 20} MiB", hint=_SECTION)
        data = file.read_bytes()
    except OSError as error:
        raise SwzError("SWZ544", f"{_visible(path)} cannot be read: {error.strerror}") from error
    return totals_of_csv(data, path) if is_csv_of_nsight(data) else exported(data, path)


def exported(data: bytes, name: str) -> Export:
    r"""The bytes of an export as data.

    >>> page = b'"Kernel Name","k"\n"Address","Source","Instructions Executed","L1 Wavefronts Shared"\n'
    >>> found = exported(page + b'"0x10","LDS R1, [R2]","4","8"\n', "k.csv")
    >>> found.profiles[0].instructions, found.missing[0]
    ({0: ('LDS R1, [R2]', Counts(executed=4, wavefronts=8, ideal=None, lanes=None))}, 'L1 Wavefronts Shared Ideal')
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data:
        raise SwzError("SWZ544", f"{_visible(name)} is no text", hint=_HINT)
    else:
        text = data.decode("utf-8-sig", "replace")
    begin = _BEGIN.search(text)
    if begin is None:
        what = _other_page(text)
        raise SwzError("SWZ544", f"{_visible(name)} {what}, not a source page of Nsight Compute", hint=_HINT)
    # What the profiled program and ncu say of themselves stands before, and is no CSV.
    before = text.count("\n", 0, begin.start())
    reader = _Reader(name)
    rows = csv.reader(_lines(text, begin.start()), strict=True)
    try:
        for row in rows:
            reader.read(before + rows.line_num, row)
    except csv.Error as error:
        where = f"line {before + rows.line_num} of {_visible(name)}"
        raise SwzError("SWZ544", f"{where} is no CSV: {error}; the file may be cut off", hint=_HINT) from error
    return reader.result()


def _lines(text: str, begin: int) -> Iterator[str]:
    """The lines from a place on, without a second text in memory."""
    while begin < len(text):
        end = text.find("\n", begin) + 1 or len(text)
        yield text[begin:end]
        begin = end


class _Reader:
    """Reads one row after the other."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.profiles: list[Profile] = []
        self.seen: tuple[str, bytes] | None = None
        self.missing: dict[str, None] = {}
        self.kernel: str | None = None
        self.columns: dict[str, int] = {}
        self.length = 0
        self.first: int | None = None
        self.size = 0
        self.found: dict[int, tuple[str, Counts | None]] = {}
        self.digest = blake2b()

    def read(self, line: int, row: Sequence[str]) -> None:
        """Take one row."""
        if row[:1] == ["Kernel Name"] and len(row) <= 3 and "Address" not in row:
            self._end(line)
            self.kernel = row[1] if len(row) > 1 else ""
        elif self.columns:
            self._instruction(line, row)
        elif row:
            self._titles(line, row)

    def _titles(self, line: int, row: Sequence[str]) -> None:
        plain = [title.strip().lower() for title in row]
        if plain.count("address") != 1 or plain.count("source") != 1:
            self._refuse(line, "is not the titles of machine instructions: Address, Source, ...")
        self.columns = {"address": plain.index("address"), "source": plain.index("source")}
        for title, names in _TITLES.items():
            places = [plain.index(each) for each in names if each in plain]
            if places:
                self.columns[title] = places[0]
            else:
                self.missing[title] = None
        lacking = [title for title in _NEEDED if title in self.missing]
        if lacking:
            words = ", ".join(repr(each) for each in lacking)
            raise SwzError("SWZ544", f"{_visible(self.name)} has no column {words}", hint=_SECTION)
        self.length = len(row)

    def _instruction(self, line: int, row: Sequence[str]) -> None:
        if len(row) <= 1 and (not row or row[0].startswith("==")):
            return
        if len(row) != self.length:
            self._refuse(line, f"has {len(row)} values and {self.length} titles: the file may be cut off")
        address = row[self.columns["address"]].strip()
        if not _ADDRESS.fullmatch(address):
            self._refuse(line, f"has no address: {_visible(address)!r}")
        place = int(address, 16) if not address.isdigit() or len(address) > 9 else int(address)
        self.first = place if self.first is None else self.first
        if place - self.first != self.size:
            self._refuse(line, f"is not the next instruction: {_visible(address)}")
        text = " ".join(row[self.columns["source"]].split())
        if touches(text) is not None:
            self.found[self.size] = text, self._counts(line, row)
        self.size += _STEP
        self.digest.update(repr(row).encode())

    def _counts(self, line: int, row: Sequence[str]) -> Counts | None:
        numbers = {title: self._number(line, title, row) for title in _TITLES}
        executed, wavefronts = numbers[_EXECUTED], numbers[_WAVEFRONTS]
        if executed is None or wavefronts is None:
            return None
        return Counts(executed, wavefronts, numbers[_IDEAL], numbers[_LANES])

    def _number(self, line: int, title: str, row: Sequence[str]) -> int | None:
        if title not in self.columns:
            return None
        text = row[self.columns[title]].strip()
        if text in ("", "-", "n/a", "N/A"):
            return None
        if not _NUMBER.fullmatch(text):
            self._refuse(line, f"has no whole number as {title!r}: {_visible(text)!r}")
        return int(text.replace(",", ""))

    def _end(self, line: int) -> None:
        """The kernel has no more rows."""
        if self.kernel is not None:
            if not self.size:
                self._refuse(line, f"ends the kernel {_visible(self.kernel)}, which has no instruction")
            # ncu prints each launch twice. Of two launches with the same counts one says all.
            seen = (self.kernel, self.digest.digest())
            if seen != self.seen:
                self.profiles.append(Profile(self.kernel, self.size, self.found))
            self.seen = seen
        self.columns, self.found, self.digest = {}, {}, blake2b()
        self.first, self.size = None, 0

    def result(self) -> Export:
        """Everything that was read."""
        if not self.size:
            where = f"{_visible(self.name)} ends before the instructions of {_visible(self.kernel or '')}"
            raise SwzError("SWZ544", f"{where}: the file may be cut off", hint=_HINT)
        self._end(0)
        return Export(self.name, tuple(self.profiles), tuple(self.missing))

    def _refuse(self, line: int, what: str) -> None:
        raise SwzError("SWZ544", f"line {line} of {_visible(self.name)} {what}", hint=_HINT)


def _other_page(text: str) -> str:
    """Which other page a file is, by its titles."""
    head = text[:_HEAD]
    if '"Metric Name"' in head:
        return "is a details page"
    if '"Block Size"' in head:
        return "is a raw page"
    if '"Line No"' in head or '"File Path"' in head:
        return "is a page of source lines"
    return "has no row 'Kernel Name'"


def _visible(text: str) -> str:
    return graphic(text[:_SHOWN])


@dataclass(frozen=True, slots=True)
class Counts:
    """How often warps executed an instruction, and the wavefronts that it took in shared memory.

    `lanes` are the threads that took part, summed over the executions, and `ideal` are the
    wavefronts without a conflict; None where the export has no such column.

    >>> Counts(4, 16, 16, 128) + Counts(4, 32, 16, None)
    Counts(executed=8, wavefronts=48, ideal=32, lanes=None)
    """

    executed: int
    wavefronts: int
    ideal: int | None = None
    lanes: int | None = None

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.executed + other.executed,
            self.wavefronts + other.wavefronts,
            None if self.ideal is None or other.ideal is None else self.ideal + other.ideal,
            None if self.lanes is None or other.lanes is None else self.lanes + other.lanes,
        )

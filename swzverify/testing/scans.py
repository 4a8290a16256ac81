"""`assert_scan_free`: all accesses of compiled code, or an AssertionError with the conflicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from swzverify.apps.run.scan_code import given_facts, launch_facts, scanned_files
from swzverify.apps.run.scan_jobs import ACCESSES_ALONE
from swzverify.compiled.scan import AnyOperand, ScannedAccess, Verdict
from swzverify.compiled.scan.one_dimension import ONE_DIMENSION
from swzverify.compiled.scan.verdict import Decision
from swzverify.errors import SwzError
from swzverify.ir.whole import check_int
from swzverify.report.escape import shortened, visible
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_claims import place_of
from swzverify.report.scan_names import ScanNames
from swzverify.report.scan_text import access_lines

_MOST_SHOWN = 20
_MOST_TABLES = 2
_LONGEST = 100


def assert_scan_free(
    code: object,
    *,
    kernel: str | None = None,
    block: int | Sequence[int] | Mapping[str, int | Sequence[int]] | None = None,
    grid: int | Sequence[int] | None = None,
    target: str | None = None,
    parameters: Mapping[str, int] | None = None,
    assume: Iterable[str] = (),
    smem_align: int | None = None,
    allow: Iterable[int | str] = (),
    at_most: int | None = None,
    allow_unknown: bool = False,
    on_chip: bool = False,
) -> tuple[ScannedAccess, ...]:
    """Assert that compiled kernels have no bank conflict; all their accesses are returned.

    `code` is PTX text, the path of a file that `swzverify scan` takes, or a kernel that Triton
    compiled: then block and target are those of its metadata. `kernel` is the only kernel to look
    at. `parameters` and `assume` say what is known of parameters, as `--param` and `--assume` do;
    dynamic shared memory begins at a multiple of `smem_align` bytes, a power of two.

    `allow` lists accesses that may conflict: a line of the PTX, a source line such as `"k.py:12"`,
    or an opcode or its begin, `"wgmma.mma_async"`; each has to be found. With `at_most` an access
    may take so many wavefronts. `unknown` fails too, unless `allow_unknown`; so does an access that is free
    in blocks of one dimension, if nobody says what the block is. Code without an access to shared memory fails.

    With `on_chip` the verdict of the machine code counts where it settles an access: ptxas merges and
    splits accesses. It is that of the file, such as a cubin built with -lineinfo, or of the kernel that
    Triton compiled; nvdisasm must be there.

    Raises:
        SwzError: SWZ810 if there is no machine code.

    >>> text = ".version 8.3 .target sm_90 .address_size 64 .shared .b32 s[32]; .entry k() {"
    >>> text += ".reg .b32 %r<4>; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, s;"
    >>> text += "add.u32 %r2, %r2, %r1; ld.shared.u32 %r3, [%r2]; ret; }"
    >>> assert_scan_free(text, block=32)[0].decision.verdict.value
    'free'
    """
    __tracebackhide__ = True
    try:
        wanted = Wanted(tuple(allow), at_most, allow_unknown=allow_unknown, on_chip=on_chip)
        given = given_facts(parameters or {}, assume, smem_align)
        files = scanned_files(
            code, kernel, target, launch_facts(block, grid, given), on_chip=on_chip, asks=ACCESSES_ALONE
        )
        faults = conflict_faults(files, wanted)
    except SwzError as error:
        raise error.with_traceback(None) from None
    if faults:
        raise AssertionError("\n".join(faults))
    return tuple(access for file in files for access in file.accesses)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What accesses must be.

    Attributes:
        allow: Accesses that may conflict: lines, source lines or opcodes.
        at_most: Wavefronts that an access may take.
        allow_unknown: Whether accesses may be undecided.
        on_chip: Whether the verdict of the machine code counts.
        is_part: Whether the code is one of several: it may have no access, and none that an entry of `allow` means.
    """

    allow: tuple[int | str, ...] = ()
    at_most: int | None = None
    allow_unknown: bool = False
    on_chip: bool = False
    is_part: bool = False

    def __post_init__(self) -> None:
        """Refuse a bound that is no number.

        Raises:
            SwzError: SWZ105.
        """
        if self.at_most is not None:
            check_int("at_most", self.at_most)


class _Allowed:
    """What may conflict, and which of it was found."""

    def __init__(self, wanted: tuple[int | str, ...]) -> None:
        for each in wanted:
            if type(each) not in (int, str):
                message = f"allow has {each!r}, which is neither a line nor text"
                raise SwzError("SWZ803", message, hint="give lines of the PTX, 'k.py:12', or opcodes")
        self.left = dict.fromkeys(wanted)
        self.wanted = wanted

    def takes(self, file: ScannedFile, access: ScannedAccess | AnyOperand) -> bool:
        """Whether an access may conflict."""
        path, line = place_of(file, access)
        names = {access.line, f"{path}:{line}", f"{os.path.basename(path)}:{line}"}
        parts = access.opcode.split(".")
        names |= {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
        found = [each for each in self.wanted if each in names]
        for each in found:
            self.left.pop(each, None)
        return bool(found)


def _need_machine_code(files: Sequence[ScannedFile]) -> None:
    for file in files:
        if file.listing is None:
            raise SwzError(
                "SWZ810",
                f"on_chip: {visible(file.name)} is not judged by machine code: {visible(file.no_machine)}",
                hint="give a cubin or a library built with -lineinfo, a .cu file, or a kernel that Triton compiled",
            )


def conflict_faults(files: Sequence[ScannedFile], wanted: Wanted) -> list[str]:
    """The accesses that are not as they must be, as lines to read; none where all is well.

    Raises:
        SwzError: SWZ803 for an entry of `allow` of a wrong type, SWZ810 if machine code is missing.
    """
    allowed = _Allowed(wanted.allow)
    if wanted.on_chip:
        _need_machine_code(files)
    decided: Callable[[ScannedAccess], Decision] = attrgetter("settled" if wanted.on_chip else "decision")
    at_most = wanted.at_most
    bad: list[tuple[ScannedFile, ScannedAccess]] = []
    count = supposed = 0
    for file in files:
        for access in file.accesses:
            count += 1
            decision = decided(access)
            verdict = decision.verdict
            may = allowed.takes(file, access)
            if verdict is Verdict.UNKNOWN:
                may = may or wanted.allow_unknown
            elif at_most is not None and not decision.at_least and decision.wavefronts is not None:
                may = may or decision.wavefronts <= at_most
            if verdict not in (Verdict.FREE, Verdict.BULK) and not may:
                bad.append((file, access))
            supposed += ONE_DIMENSION in decision.assumes and not (may or wanted.allow_unknown)
        for operand in file.operands:
            count += 1
            allowed.takes(file, operand)
    problems = [visible(f"{file.name}: line {each.line}: {each.message}") for file in files for each in file.problems]
    lines: list[str] = []
    if bad:
        kinds = [decided(access).verdict for _, access in bad]
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in Verdict if kind in kinds)
        lines += [f"{len(bad)} of {count} accesses are not free of bank conflicts: {counts}", *_table(bad, decided)]
        for file, access in [pair for pair in bad if pair[1].decision.lanes][:_MOST_TABLES]:
            lines += ["", *access_lines(file, access)]
    if supposed:
        words = f"{supposed} of {count} accesses are judged for {ONE_DIMENSION} alone"
        lines.append(f"{words}: give block, that of the launch")
    if problems and not wanted.allow_unknown:
        lines += ["some of the text cannot be read, so that nothing is known of it:", *problems[:_MOST_SHOWN]]
    if not count and not wanted.is_part:
        lines.append("no access to shared memory found: nothing was shown")
    if allowed.left and not wanted.is_part:
        lines.append(f"allowed, but there is no such access: {', '.join(map(repr, allowed.left))}")
    names = ScanNames(access.kernel for file in files for access in file.accesses)
    return [names.line(each) for each in lines]


def _table(bad: Sequence[tuple[ScannedFile, ScannedAccess]], decided: Callable[[ScannedAccess], Decision]) -> list[str]:
    rows = [("at", "ptx", "verdict", "instruction")]
    for file, access in bad[:_MOST_SHOWN]:
        path, line = place_of(file, access)
        decision = decided(access)
        words = decision.verdict.value
        if decision.ways is not None and decision.verdict is not Verdict.UNKNOWN:
            words += f": {'at least ' if decision.at_least else ''}{decision.ways}-way"
        told = shortened(f"{access.kernel}: {access.instruction}", _LONGEST) + (
            f"  ({decision.reason})" if decision.reason else ""
        )
        rows.append((visible(f"{path}:{line}"), str(access.line), words, visible(told)))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["  " + "  ".join((*(row[each].ljust(widths[each]) for each in range(3)), row[3])) for row in rows]
    return lines + ([f"  and {len(bad) - _MOST_SHOWN} more"] if len(bad) > _MOST_SHOWN else [])

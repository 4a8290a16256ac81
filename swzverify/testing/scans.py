"""`assert_scan_free`: all accesses of compiled code, or an AssertionError with the conflicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import cast

from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.run.scan import LaunchFacts, read_text, scan_files, scan_texts
from swzverify.apps.run.scan_jobs import ACCESSES_ALONE, RACES_ALONE
from swzverify.compiled.binaries.machine import NOT_GIVEN, Machine, machine_of_cubin
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import (
    MOST_ALIGN,
    BlockShape,
    Given,
    ScannedAccess,
    ScannedOperand,
    Verdict,
    block_shape,
    grid_shape,
)
from swzverify.compiled.scan.verdict import Decision
from swzverify.errors import SwzError
from swzverify.hardware import MOST_BLOCK_EXTENTS, MOST_BLOCK_THREADS, MOST_GRID_EXTENTS
from swzverify.report.escape import shortened, visible
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_claims import place_of
from swzverify.report.scan_names import ScanNames
from swzverify.report.scan_text import access_lines
from swzverify.testing.given import check_int

_LANES = 32
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
    may take so many wavefronts. `unknown` fails too, unless `allow_unknown`; so does code without
    an access to shared memory.

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
        if at_most is not None:
            check_int("at_most", at_most)
        given = given_facts(parameters or {}, tuple(assume), smem_align)
        files = scanned_files(code, kernel, target, launch_facts(block, grid, given), on_chip=on_chip)
        allowed = _Allowed(tuple(allow))
        if on_chip:
            _need_machine_code(files)
    except SwzError as error:
        raise error.with_traceback(None) from None
    faults = _faults(files, allowed, at_most, allow_unknown, attrgetter("settled" if on_chip else "decision"))
    if faults:
        raise AssertionError("\n".join(faults))
    return tuple(access for file in files for access in file.accesses)


class _Allowed:
    """What may conflict, and which of it was found."""

    def __init__(self, wanted: tuple[int | str, ...]) -> None:
        for each in wanted:
            if type(each) not in (int, str):
                message = f"allow has {each!r}, which is neither a line nor text"
                raise SwzError("SWZ803", message, hint="give lines of the PTX, 'k.py:12', or opcodes")
        self.left = dict.fromkeys(wanted)
        self.wanted = wanted

    def takes(self, file: ScannedFile, access: ScannedAccess | ScannedOperand) -> bool:
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


def _faults(
    files: Sequence[ScannedFile],
    allowed: _Allowed,
    at_most: int | None,
    allow_unknown: bool,
    decided: Callable[[ScannedAccess], Decision],
) -> list[str]:
    """What is wrong, as lines to read; none where all is well."""
    bad: list[tuple[ScannedFile, ScannedAccess]] = []
    count = 0
    for file in files:
        for access in file.accesses:
            count += 1
            decision = decided(access)
            verdict = decision.verdict
            may = allowed.takes(file, access)
            if verdict is Verdict.UNKNOWN:
                may = may or allow_unknown
            elif at_most is not None and not decision.at_least and decision.wavefronts is not None:
                may = may or decision.wavefronts <= at_most
            if verdict is not Verdict.FREE and not may:
                bad.append((file, access))
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
    if problems and not allow_unknown:
        lines += ["some of the text cannot be read, so that nothing is known of it:", *problems[:_MOST_SHOWN]]
    if not count:
        lines.append("no access to shared memory found: nothing was shown")
    if allowed.left:
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


# ---- what is given


@dataclass(frozen=True, slots=True)
class _Compiled:
    """PTX text, with the launch that the compiler's metadata tell, and the cubin made of it."""

    text: str
    name: str
    block: tuple[int, int, int] | None = None
    target: str | None = None
    machine: bytes | None = None


def scanned_files(
    code: object,
    kernel: str | None,
    target: str | None,
    launch: LaunchFacts,
    *,
    on_chip: bool = False,
    races: bool = False,
    lockstep: bool = False,
) -> list[ScannedFile]:
    """Compiled code scanned: its accesses, or with `races` the races of its kernels alone."""
    asks = RACES_ALONE if races else ACCESSES_ALONE
    if isinstance(code, os.PathLike) or (isinstance(code, str) and ".version" not in code):
        path = os.fspath(cast("os.PathLike[str] | str", code))
        options = ScanOptions((path,), kernel, target=target or "sm_90", lockstep=lockstep, suggest=False, jobs=1)
        return scan_files(options, launch, asks=asks)
    compiled = _compiled(code)
    target = target or compiled.target or "sm_90"
    options = ScanOptions((compiled.name,), kernel, target=target, lockstep=lockstep, suggest=False, jobs=1)
    machine = Machine(reason=NOT_GIVEN)
    if on_chip and compiled.machine is not None:
        machine = machine_of_cubin(compiled.text, compiled.machine, target)
    module = read_module(compiled.text, compiled.name)
    return scan_texts(
        [read_text(compiled.name, "", compiled.text, module, machine)],
        options,
        replace(launch, block=launch.block or compiled.block),
        asks=asks,
    )


def launch_facts(
    block: int | Sequence[int] | Mapping[str, int | Sequence[int]] | None,
    grid: int | Sequence[int] | None,
    given: Given,
) -> LaunchFacts:
    """The block and the grid that a test gives, with what it gives beside them."""
    most, along_z = MOST_BLOCK_THREADS, MOST_BLOCK_EXTENTS["z"]
    rule = f"a block has 1 to {most} threads, {along_z} of them along z at most"
    of_grid = f"a grid has 1 to {', '.join(map(str, MOST_GRID_EXTENTS.values()))} blocks along x, y, z"
    if grid is not None:
        given = replace(given, grid=_extents("grid", grid, grid_shape, of_grid))
    if isinstance(block, Mapping):
        by_name = cast("Mapping[str, object]", block)
        named = tuple((name, _extents(f"block[{name!r}]", of, block_shape, rule)) for name, of in by_name.items())
        return LaunchFacts(None, given, named=named)
    return LaunchFacts(None if block is None else _extents("block", block, block_shape, rule), given)


def given_facts(parameters: Mapping[str, int], assume: tuple[str, ...], smem_align: int | None) -> Given:
    """What a test gives of parameters and of where dynamic shared memory begins."""
    if smem_align is not None:
        check_int("smem_align", smem_align)
        if not 1 <= smem_align <= MOST_ALIGN or smem_align & (smem_align - 1):
            message = f"smem_align={smem_align} is no power of two up to {MOST_ALIGN}"
            raise SwzError(
                "SWZ803", message, hint="give the bytes that the launch aligns dynamic memory to, such as 128"
            )
    return Given(tuple(f"{name}={value}" for name, value in parameters.items()), assume, smem_align)


def _compiled(code: object) -> _Compiled:
    if isinstance(code, str):
        return _Compiled(code, "the PTX text")
    forms = getattr(code, "asm", None)
    text = cast("Mapping[str, object]", forms).get("ptx") if isinstance(forms, Mapping) else None
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        raise SwzError(
            "SWZ809",
            f"{type(code).__name__} is nothing that can be scanned",
            hint="give PTX text, the path of a file, or a compiled Triton kernel, which has asm['ptx']",
        )
    machine = cast("Mapping[str, object]", forms).get("cubin")
    metadata = getattr(code, "metadata", None)
    warps = _told(metadata, "num_warps")
    arch = _told(_told(metadata, "target"), "arch")
    name = _told(metadata, "name")
    return _Compiled(
        text,
        name if isinstance(name, str) else "the compiled kernel",
        (_LANES * warps, 1, 1) if isinstance(warps, int) else None,
        f"sm_{arch}" if isinstance(arch, int) else None,
        machine if isinstance(machine, bytes) else None,
    )


def _told(metadata: object, name: str) -> object:
    """A field of Triton's metadata, which are a tuple with names or a dictionary."""
    if isinstance(metadata, Mapping):
        return cast("Mapping[str, object]", metadata).get(name)
    return getattr(metadata, name, None)


def _extents(name: str, value: object, shape: Callable[[Sequence[int]], BlockShape | None], rule: str) -> BlockShape:
    """An int or several as the shape of a block or of a grid."""
    numbers = (value,) if isinstance(value, int) else tuple(cast("Iterable[object]", value))
    found = [each for each in numbers if type(each) is int]
    made = shape(found) if len(found) == len(numbers) else None
    if made is None:
        raise SwzError("SWZ803", f"{name}={value!r} is no shape: {rule}", hint="give one to three numbers: (32, 8)")
    return made

"""Compiled code that Python holds, scanned: PTX text, the path of a file, or what Triton or the CuTe DSL compiled."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.run.scan import LaunchFacts, read_text, scan_files, scan_texts
from swzverify.apps.run.scan_check import checked, counters_of
from swzverify.apps.run.scan_jobs import EVERYTHING, Asks
from swzverify.compiled.binaries.machine import NOT_GIVEN, Machine, machine_of_cubin
from swzverify.compiled.kernel.clusters import MOST_RANKS
from swzverify.compiled.order.verdict import KernelRaces
from swzverify.compiled.profiler import Export, Totals, read_counters_of, totals_of_frame
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import MOST_ALIGN, BlockShape, Given, ScannedAccess, block_shape, cluster_shape, grid_shape
from swzverify.core.frames import data_frame
from swzverify.core.shown import Shown
from swzverify.errors import SwzError
from swzverify.hardware import LANES, MOST_BLOCK_EXTENTS, MOST_BLOCK_THREADS, MOST_GRID_EXTENTS
from swzverify.ir.whole import check_int
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_check import Check, check_text
from swzverify.report.scan_frame import TABLES
from swzverify.report.scan_text import scan_text

_TARGET: Final = re.compile(r"^\s*\.target\s+(sm_\d+)", re.MULTILINE)
"""The GPU that PTX is for; a letter behind the number names a variant of the same rules."""


@dataclass(frozen=True, slots=True)
class Scan(Shown):
    """What a scan found: `files` has everything, `print` shows the report. `check` is what counters say, if given.

    >>> head = ".version 8.3 .target sm_90 .address_size 64 .shared .b32 s[32]; .entry k() {"
    >>> body = ".reg .b32 %r<3>; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, s; add.u32 %r2, %r2, %r1;"
    >>> found = scan(f"{head}{body} st.shared.u32 [%r2], %r1; ret; }}", block=32)
    >>> found.accesses[0].settled.verdict.value, found.races["k"].verdict.value
    ('free', 'free')
    """

    files: tuple[ScannedFile, ...]
    check: Check | None = None

    @property
    def accesses(self) -> tuple[ScannedAccess, ...]:
        """The accesses of all kernels, with their verdicts."""
        return tuple(each for file in self.files for each in file.accesses)

    @property
    def races(self) -> Mapping[str, KernelRaces]:
        """The races of each kernel, by its name in the PTX."""
        return {kernel: races for file in self.files for kernel, races in file.races.items()}

    def to_dataframe(self, rows: str = "accesses", library: str | None = None) -> Any:
        """A data frame; docs/scan.md has the columns, whose names have the units.

        Args:
            rows: What a row is: one of the `accesses`, of the `kernels`, or of the pairs in `races`.
            library: `pandas` or `polars`; None takes pandas if it is installed, else polars.

        Raises:
            SwzError: SWZ105 for other rows or another library, SWZ611 if the library is not installed.
        """
        if rows not in TABLES:
            raise SwzError("SWZ105", f"rows={rows!r} is no table of a scan", hint=f"rows: {', '.join(TABLES)}")
        columns, rows_of = TABLES[rows]
        return data_frame([*rows_of(self.files)], columns, library)

    def __str__(self) -> str:
        """The report of `swzverify scan`."""
        said = "" if self.check is None else check_text(self.files, self.check)
        return (scan_text(self.files) + said).rstrip("\n")


def scan(
    code: object,
    *,
    kernel: str | None = None,
    block: int | Sequence[int] | Mapping[str, int | Sequence[int]] | None = None,
    grid: int | Sequence[int] | None = None,
    cluster: int | Sequence[int] | None = None,
    target: str | None = None,
    parameters: Mapping[str, int] | None = None,
    assume: Iterable[str] = (),
    smem_align: int | None = None,
    tensor_maps: Iterable[str] = (),
    fragments: bool = False,
    lockstep: bool = False,
    on_chip: bool = False,
    counters: object = None,
) -> Scan:
    """Scan compiled kernels for bank conflicts, misaligned accesses and races.

    Args:
        code: PTX text, the path of a file that `swzverify scan` takes, a kernel that Triton compiled, or what
            `cute.compile` of the CuTe DSL returns.
        kernel: The only kernel to look at.
        block: The threads of a block; what Triton and the CuTe DSL compiled says it.
        grid: The blocks of the grid.
        cluster: The blocks of a cluster, for kernels that do not say it; races and operands depend on it.
        target: The GPU; sm_90, or that of what was compiled.
        parameters: Values of integer parameters.
        assume: C conditions on parameters.
        smem_align: What the start of dynamic shared memory is a multiple of, in bytes.
        tensor_maps: Boxes of tensor maps, such as `a=64x128xf16,128B`, as `--tensor-map` takes them.
        fragments: Whether operands of `mma.sync` are followed from registers to shared memory.
        lockstep: Whether the code is written for warps whose lanes run together.
        on_chip: Whether the cubin that Triton or the CuTe DSL made is read; nvdisasm must be there. Machine
            code in files is always read.
        counters: What a GPU counted: the path of a file that `--check` takes, a data frame of nsight-python, or
            the results that have it.

    Raises:
        SwzError: The code cannot be read (SWZ531 to SWZ543, SWZ809), or what is given does not fit it (SWZ551,
            SWZ552, SWZ555, SWZ803); SWZ544 and SWZ545 for counters that cannot be read or are of other code.
    """
    given = replace(given_facts(parameters or {}, assume, smem_align), tensor_maps=texts("tensor_maps", tensor_maps))
    read = None if counters is None else counters_of(_counted(counters))
    files = scanned_files(
        code,
        kernel,
        target,
        launch_facts(block, grid, given, cluster),
        on_chip=on_chip,
        lockstep=lockstep,
        fragments=fragments,
    )
    if read is None:
        return Scan(tuple(files))
    files, check = checked(files, read, "")
    return Scan(tuple(files), check)


def _counted(counters: object) -> Export | Totals:
    if isinstance(counters, str | os.PathLike):
        return read_counters_of(os.fspath(cast("os.PathLike[str] | str", counters)))
    return totals_of_frame(counters)


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
    lockstep: bool = False,
    fragments: bool = False,
    asks: Asks = EVERYTHING,
) -> list[ScannedFile]:
    """Compiled code scanned.

    Raises:
        SwzError: SWZ809 if the object is no compiled code; those of `scan_files`.
    """
    options = ScanOptions((), kernel, lockstep=lockstep, fragments=fragments, suggest=False, jobs=1)
    if isinstance(code, os.PathLike) or (isinstance(code, str) and ".version" not in code):
        path = os.fspath(cast("os.PathLike[str] | str", code))
        options = replace(options, files=(path,), target=target or "sm_90")
        return scan_files(options, launch, asks=asks)
    compiled = _compiled(code)
    target = target or compiled.target or "sm_90"
    options = replace(options, files=(compiled.name,), target=target)
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
    cluster: int | Sequence[int] | None = None,
) -> LaunchFacts:
    """The block, the grid and the cluster that a test gives, with what it gives beside them."""
    most, along_z = MOST_BLOCK_THREADS, MOST_BLOCK_EXTENTS["z"]
    rule = f"a block has 1 to {most} threads, {along_z} of them along z at most"
    of_grid = f"a grid has 1 to {', '.join(map(str, MOST_GRID_EXTENTS.values()))} blocks along x, y, z"
    if grid is not None:
        given = replace(given, grid=_extents("grid", grid, grid_shape, of_grid))
    if cluster is not None:
        of_cluster = f"a cluster has 1 to {MOST_RANKS} blocks"
        given = replace(given, cluster=_extents("cluster", cluster, cluster_shape, of_cluster))
    if isinstance(block, Mapping):
        by_name = cast("Mapping[str, object]", block)
        named = tuple((name, _extents(f"block[{name!r}]", of, block_shape, rule)) for name, of in by_name.items())
        return LaunchFacts(None, given, named=named)
    return LaunchFacts(None if block is None else _extents("block", block, block_shape, rule), given)


def texts(name: str, given: object) -> tuple[str, ...]:
    """A list of texts that Python gives.

    Raises:
        SwzError: SWZ105 for anything else; a text alone is no list of its letters.

    >>> texts("assume", ["n > 3"])
    ('n > 3',)
    """
    found = tuple(cast("Iterable[object]", given)) if isinstance(given, Iterable) else ()
    if not isinstance(given, Iterable) or isinstance(given, str) or not all(isinstance(each, str) for each in found):
        raise SwzError("SWZ105", f"{name} is {given!r}, which is no list of texts", hint=f"such as {name}=['...']")
    return cast("tuple[str, ...]", found)


def given_facts(parameters: Mapping[str, int], assume: Iterable[str], smem_align: int | None) -> Given:
    """What a test gives of parameters and of where dynamic shared memory begins."""
    if smem_align is not None:
        check_int("smem_align", smem_align)
        if not 1 <= smem_align <= MOST_ALIGN or smem_align & (smem_align - 1):
            message = f"smem_align={smem_align} is no power of two up to {MOST_ALIGN}"
            raise SwzError(
                "SWZ803", message, hint="give the bytes that the launch aligns dynamic memory to, such as 128"
            )
    return Given(tuple(f"{name}={value}" for name, value in parameters.items()), texts("assume", assume), smem_align)


def _compiled(code: object) -> _Compiled:
    if isinstance(code, str):
        return _Compiled(code, "the PTX text")
    for read in (_of_triton, _of_cute):
        if (found := read(code)) is not None:
            return found
    raise SwzError(
        "SWZ809",
        f"{type(code).__name__} is nothing that can be scanned",
        hint="give PTX text, the path of a file, or a compiled Triton kernel, which has asm['ptx']",
    )


def _of_triton(code: object) -> _Compiled | None:
    """A kernel that Triton compiled: `asm` has the PTX and the cubin, `metadata` the warps and the target.

    Source: triton-lang/triton 3.9.0, python/triton/compiler/compiler.py, class CompiledKernel.
    """
    forms = getattr(code, "asm", None)
    text = cast("Mapping[str, object]", forms).get("ptx") if isinstance(forms, Mapping) else None
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        return None
    machine = cast("Mapping[str, object]", forms).get("cubin")
    metadata = getattr(code, "metadata", None)
    warps = _metadata_field(metadata, "num_warps")
    arch = _metadata_field(_metadata_field(metadata, "target"), "arch")
    name = _metadata_field(metadata, "name")
    return _Compiled(
        text,
        name if isinstance(name, str) else "the compiled kernel",
        (LANES * warps, 1, 1) if isinstance(warps, int) else None,
        f"sm_{arch}" if isinstance(arch, int) else None,
        machine if isinstance(machine, bytes) else None,
    )


def _metadata_field(metadata: object, name: str) -> object:
    """A field of Triton's metadata, which are a tuple with names or a dictionary."""
    if isinstance(metadata, Mapping):
        return cast("Mapping[str, object]", metadata).get(name)
    return getattr(metadata, name, None)


def _of_cute(code: object) -> _Compiled | None:
    """What `cute.compile` of the CuTe DSL returns; its PTX says the block and the target.

    Source: nvidia-cutlass-dsl 4.8.1, cutlass/base_dsl/jit_executor.py, class JitCompiledFunction.
    """
    if not hasattr(code, "__ptx__"):
        return None
    text = getattr(code, "__ptx__", None)
    if not isinstance(text, str):
        raise SwzError(
            "SWZ809",
            f"{type(code).__name__} has no PTX: the CuTe DSL did not keep it",
            hint="compile it by cute.compile[cute.KeepPTX], or set CUTE_DSL_KEEP=ptx before cutlass is imported",
        )
    name, machine, target = getattr(code, "function_name", None), getattr(code, "__cubin__", None), _TARGET.search(text)
    return _Compiled(
        text,
        name if isinstance(name, str) else "the compiled function",
        target=None if target is None else target[1],
        machine=machine if isinstance(machine, bytes) else None,
    )


def _extents(name: str, value: object, shape: Callable[[Sequence[int]], BlockShape | None], rule: str) -> BlockShape:
    """An int or several as the shape of a block or of a grid."""
    numbers = (value,) if isinstance(value, int) else tuple(cast("Iterable[object]", value))
    found = [each for each in numbers if type(each) is int]
    made = shape(found) if len(found) == len(numbers) else None
    if made is None:
        raise SwzError("SWZ803", f"{name}={value!r} is no shape: {rule}", hint="give one to three numbers: (32, 8)")
    return made

"""`assert_scan_race_free`: no kernel of compiled code has a race, or an AssertionError with the races."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from swzverify.apps.run.scan_code import given_facts, launch_facts, scanned_files
from swzverify.apps.run.scan_jobs import RACES_ALONE
from swzverify.compiled.order.verdict import KernelRaces, RaceVerdict
from swzverify.errors import SwzError
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_names import ScanNames
from swzverify.report.scan_race_text import finding_lines, unknown_lines
from swzverify.report.scan_races import race_findings

_MOST_SHOWN = 20


def assert_scan_race_free(
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
    lockstep: bool = False,
    allow_benign: bool = False,
    allow_unknown: bool = False,
) -> dict[str, KernelRaces]:
    """Assert that compiled kernels have no race in shared memory, and that all threads reach each barrier.

    `code`, `kernel`, `block`, `grid`, `target`, `parameters`, `assume` and `smem_align` are those of
    `assert_scan_free`. With `lockstep`, the lanes of a warp run each instruction together.

    Args:
        code: PTX text, the path of a file that `swzverify scan` takes, or a kernel that Triton compiled.
        kernel: The only kernel to look at.
        block: The shape of the block.
        grid: The shape of the grid.
        cluster: The blocks of a cluster, for kernels that do not say it.
        target: The GPU.
        parameters: Values of integer parameters.
        assume: C conditions on parameters.
        smem_align: What the start of dynamic shared memory is a multiple of, in bytes.
        lockstep: Whether the code is written for warps whose lanes run together.
        allow_benign: Whether threads may write one value to one byte without an order.
        allow_unknown: Whether pairs may be undecided.

    Returns:
        The races of each kernel, by its name in the PTX.

    Raises:
        AssertionError: A kernel has a race, or it is not decided.
        SwzError: The code cannot be read (SWZ531 to SWZ543, SWZ809), or what is given does not fit it (SWZ551,
            SWZ552, SWZ555, SWZ803).

    >>> text = ".version 8.3 .target sm_90 .address_size 64 .shared .b32 s[32]; .entry k() {"
    >>> text += ".reg .b32 %r<2>; mov.u32 %r1, %tid.x; st.shared.u32 [s], %r1; ret; }"
    >>> found = assert_scan_race_free(text, block=1, allow_unknown=True)
    >>> [*found]
    ['k']
    """
    __tracebackhide__ = True
    try:
        given = given_facts(parameters or {}, assume, smem_align)
        launch = launch_facts(block, grid, given, cluster)
        files = scanned_files(code, kernel, target, launch, lockstep=lockstep, asks=RACES_ALONE)
    except SwzError as error:
        raise error.with_traceback(None) from None
    faults = race_faults(files, allow_benign=allow_benign, allow_unknown=allow_unknown)
    if faults:
        raise AssertionError("\n".join(faults))
    return {kernel: races for file in files for kernel, races in file.races.items()}


def race_faults(files: Sequence[ScannedFile], *, allow_benign: bool, allow_unknown: bool) -> list[str]:
    """The kernels that have a race or are not decided, as lines to read; none where all is well."""
    lines: list[str] = []
    bad = 0
    findings = [each for each in race_findings(files) if not (allow_benign and each.verdict is RaceVerdict.BENIGN)]
    for file in files:
        for kernel, races in file.races.items():
            mine = [each for each in findings if each.file is file and each.kernel == kernel]
            told = [line for each in mine[:_MOST_SHOWN] for line in finding_lines(each, 0)]
            if races.verdict is RaceVerdict.UNKNOWN and not allow_unknown:
                told += [f"  unknown: {visible(races.reason)}", *unknown_lines(file, kernel, races)[:_MOST_SHOWN]]
            if told:
                bad += 1
                lines += [f"kernel {visible(kernel)}: {races.verdict}", *told]
    kernels = sum(len(file.races) for file in files)
    if bad:
        lines.insert(0, f"{bad} of {kernels} kernels {'is' if bad == 1 else 'are'} not free of races in shared memory")
    problems = [visible(f"{file.name}: line {each.line}: {each.message}") for file in files for each in file.problems]
    if problems and not allow_unknown:
        lines += ["some of the text cannot be read, so that nothing is known of it:", *problems[:_MOST_SHOWN]]
    if not kernels:
        lines.append("no kernel found: nothing was shown")
    names = ScanNames(kernel for file in files for kernel in file.kernels)
    return [names.line(each) for each in lines]

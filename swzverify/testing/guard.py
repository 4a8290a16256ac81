"""`guard`: kernels that are scanned when they are compiled, in tests or where an environment variable asks for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import unwrap
from typing import Any, Final, TypeVar

from swzverify.errors import SwzError

SWITCH: Final = "SWZVERIFY_GUARD"
"""The environment variable: 0 switches guards off, another value on; without one they are on in tests."""
_TEST: Final = "PYTEST_CURRENT_TEST"
"""Is set while pytest runs a test. Source: pytest documentation, "PYTEST_CURRENT_TEST environment variable"."""
_Kernel = TypeVar("_Kernel")


def guard(
    *,
    races: bool = False,
    target: str | None = None,
    parameters: Mapping[str, int] | None = None,
    assume: Iterable[str] = (),
    smem_align: int | None = None,
    lockstep: bool = False,
    allow: Iterable[int | str] = (),
    at_most: int | None = None,
    allow_benign: bool = False,
    allow_unknown: bool = False,
    on_chip: bool = False,
) -> Callable[[_Kernel], _Kernel]:
    """Decorate a kernel: what is compiled of it must have no bank conflict, or the launch fails with the table.

    A kernel of Triton is scanned before the first launch of each specialization. A function is called, and what it
    returns is scanned: such a function calls `cute.compile` of the CuTe DSL or `triton.compile`. A kernel without
    shared memory passes, and so does an entry of `allow` that fits no access of one specialization.

    The guard is on while pytest runs a test, and where `SWZVERIFY_GUARD` is set to another value than 0. Elsewhere it
    looks at the environment and does nothing else.

    Args:
        races: Whether the kernel must have no race either.
        target: The GPU; else that of what was compiled.
        parameters: Values of integer parameters, by their names in the PTX.
        assume: C conditions on parameters.
        smem_align: What the start of dynamic shared memory is a multiple of, in bytes.
        lockstep: For races: whether the code is written for warps whose lanes run together.
        allow: Accesses that may conflict, as in `assert_scan_free`.
        at_most: Wavefronts that an access may take.
        allow_benign: For races: whether threads may write one value to one byte without an order.
        allow_unknown: Whether accesses and pairs may be undecided.
        on_chip: Whether the verdict of the machine code counts.

    Raises:
        SwzError: SWZ809 for a function of the CuTe DSL itself, which is not compiled yet, and for what is no kernel.

    >>> head = ".version 8.3 .target sm_90 .address_size 64 .shared .b32 s[32]; .entry k() .reqntid 32 {"
    >>> body = ".reg .b32 %r<3>; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, s; add.u32 %r2, %r2, %r1;"
    >>> text = f"{head}{body} st.shared.u32 [%r2], %r1; ret; }}"
    >>> guarded = guard()(lambda: text)
    >>> guarded() == text
    True
    """
    allowed = tuple(allow)
    facts = (parameters or {}, assume if isinstance(assume, str) else tuple(assume), smem_align)

    def fault(compiled: object) -> str:
        """What is wrong with compiled code; empty if nothing is."""
        from swzverify.apps.run.scan_code import given_facts, launch_facts, scanned_files  # noqa: PLC0415 - when on
        from swzverify.apps.run.scan_jobs import ACCESSES_ALONE, EVERYTHING  # noqa: PLC0415 - likewise
        from swzverify.testing.races import race_faults  # noqa: PLC0415 - likewise
        from swzverify.testing.scans import Wanted, conflict_faults  # noqa: PLC0415 - likewise

        wanted = Wanted(allowed, at_most, allow_unknown=allow_unknown, on_chip=on_chip, is_part=True)
        launch = launch_facts(None, None, given_facts(*facts))
        asks = EVERYTHING if races else ACCESSES_ALONE
        files = scanned_files(compiled, None, target, launch, on_chip=on_chip, lockstep=lockstep, asks=asks)
        lines = conflict_faults(files, wanted)
        if races:
            lines += race_faults(files, allow_benign=allow_benign, allow_unknown=allow_unknown)
        return "\n".join([*lines, f"{SWITCH}=0 switches this guard off"] if lines else [])

    return lambda kernel: _guarded(kernel, _Seen(fault))


class _Seen:
    """Judges each compiled object once, and fails again whenever one that failed is used again."""

    def __init__(self, fault: Callable[[object], str]) -> None:
        self._fault = fault
        self._found: dict[object, tuple[object, str]] = {}

    def check(self, compiled: object) -> None:
        """Judge compiled code; that of a launch that a hook of Triton took over is None.

        Raises:
            AssertionError: The code does not fulfil what the guard asks for.
        """
        __tracebackhide__ = True
        if compiled is None:
            return
        key: object = compiled if isinstance(compiled, str) else id(compiled)
        if key not in self._found:
            # The object is kept, so that no other one gets its id.
            self._found[key] = compiled, self._fault(compiled)
        if told := self._found[key][1]:
            raise AssertionError(told)


def _is_on() -> bool:
    wanted = os.environ.get(SWITCH)
    if wanted:
        return wanted != "0"
    # A name that the environment has not takes longer to look for than the launch of a kernel should.
    return "pytest" in sys.modules and _TEST in os.environ


def _guarded(kernel: Any, seen: _Seen) -> Any:
    launcher = _launcher(kernel)
    if launcher is not None:
        # Triton's interpreter compiles nothing, and in older versions runs the kernel with `warmup`, too.
        if type(launcher).__name__ != "InterpretedFunction":
            launcher.run = _launch(launcher.run, seen)
        return kernel
    if not callable(kernel) or isinstance(kernel, type):
        hint = "decorate a kernel of Triton, or a function that returns what was compiled"
        raise SwzError("SWZ809", f"{type(kernel).__name__} cannot be guarded", hint=hint)
    if hasattr(unwrap(kernel), "_dsl_cls"):
        hint = "decorate the function that calls cute.compile, and returns what that gives"
        raise SwzError("SWZ809", f"{kernel.__name__} is a function of the CuTe DSL, and not compiled yet", hint=hint)

    @wraps(kernel)
    def call(*args: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        compiled = kernel(*args, **keywords)
        if _is_on():
            seen.check(compiled)
        return compiled

    return call


def _launcher(kernel: object) -> Any:
    """The object of Triton that compiles and launches, inside those of `autotune` and `heuristics`; None if none.

    Source: triton-lang/triton 3.9.0, python/triton/runtime/jit.py (class JITFunction) and autotuner.py.
    """
    found = None
    while callable(getattr(kernel, "run", None)) and hasattr(kernel, "fn"):
        found, kernel = kernel, getattr(kernel, "fn", None)
    return found


def _launch(run: Callable[..., Any], seen: _Seen) -> Callable[..., Any]:
    """Triton's `run`, which compiles with `warmup`, and compiles and launches without it."""

    @wraps(run)
    def guarded(*args: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        if _is_on():
            compiled = run(*args, **{**keywords, "warmup": True})
            seen.check(compiled)
            if keywords.get("warmup"):
                return compiled
        return run(*args, **keywords)

    return guarded

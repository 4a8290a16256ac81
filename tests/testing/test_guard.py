"""`guard`: what it scans, when, and how often. Stand-ins have the attributes of Triton 3.9 and of the CuTe DSL 4.8; the
last tests run the real compilers, without a GPU, where they are installed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import swzverify
from swzverify.apps.run import scan_code
from swzverify.errors import SwzError
from tests.scan.texts import SKEWED, strided, text_of

FREE, TWO = text_of(strided(4)), text_of(strided(8))
RACE = text_of("st.shared.u32 [%r3], %r1;")


class Kernel:
    """What `triton.jit` makes, as far as a launch goes: a text for each value of N is its specialization."""

    def __init__(self, **texts: str) -> None:
        self.fn: Any = lambda: None
        self.texts = texts
        self.compiled: dict[str, object] = {}
        self.launched: list[str] = []

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., object]:
        return lambda *args, **kwargs: self.run(grid=grid, warmup=False, *args, **kwargs)  # noqa: B026 - as Triton does

    def run(self, *args: object, grid: object, warmup: bool, N: str) -> object:  # noqa: N803 - as Triton's constants
        del args, grid
        if N not in self.compiled:
            metadata = SimpleNamespace(num_warps=2, name="k", target=SimpleNamespace(arch=90))
            self.compiled[N] = SimpleNamespace(asm={"ptx": self.texts[N], "cubin": b""}, metadata=metadata)
        if not warmup:
            self.launched.append(N)
        return self.compiled[N]


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was scanned, in its order."""
    found: list[object] = []
    scanned = scan_code.scanned_files

    def noted(code: object, *args: Any, **kwargs: Any) -> object:
        found.append(code)
        return scanned(code, *args, **kwargs)

    monkeypatch.setattr(scan_code, "scanned_files", noted)
    return found


def test_each_specialization_is_scanned_once_before_its_first_launch(scans: list[object]) -> None:
    kernel = Kernel(a=FREE, b=TWO, c=FREE)
    assert swzverify.guard()(kernel) is kernel
    for _ in range(2):
        kernel[(1,)](1, N="a")
        with pytest.raises(AssertionError) as failure:
            kernel[(1,)](1, N="b")
        assert "1 of 1 accesses are not free of bank conflicts: 1 conflict" in str(failure.value)
        assert sum(line.endswith("  x") for line in str(failure.value).splitlines()) >= 2
        assert str(failure.value).endswith("SWZVERIFY_GUARD=0 switches this guard off")
    kernel[(1,)](1, N="c")
    assert kernel.launched == ["a", "a", "c"]
    assert scans == [kernel.compiled[each] for each in "abc"]


def test_a_warm_up_is_scanned_and_launches_nothing(scans: list[object]) -> None:
    kernel = swzverify.guard()(Kernel(a=FREE, b=TWO))
    assert kernel.run(1, grid=(1,), warmup=True, N="a") is kernel.compiled["a"]
    with pytest.raises(AssertionError):
        kernel.run(1, grid=(1,), warmup=True, N="b")
    assert (kernel.launched, len(scans)) == ([], 2)


@pytest.mark.parametrize(
    ("switch", "in_a_test", "is_on"),
    [(None, True, True), (None, False, False), ("", False, False), ("0", True, False), ("1", False, True)],
)
def test_when_it_is_on(
    switch: str | None, in_a_test: bool, is_on: bool, scans: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = swzverify.guard()(Kernel(b=TWO))
    monkeypatch.delenv("SWZVERIFY_GUARD", raising=False)
    if switch is not None:
        monkeypatch.setenv("SWZVERIFY_GUARD", switch)
    if not in_a_test:
        monkeypatch.delenv("PYTEST_CURRENT_TEST")
    if is_on:
        with pytest.raises(AssertionError):
            kernel[(1,)](1, N="b")
    else:
        kernel[(1,)](1, N="b")
    assert len(scans) == is_on


def test_a_specialization_that_was_compiled_before_is_scanned_when_it_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = swzverify.guard()(Kernel(b=TWO))
    monkeypatch.setenv("SWZVERIFY_GUARD", "0")
    kernel[(1,)](1, N="b")
    monkeypatch.setenv("SWZVERIFY_GUARD", "1")
    with pytest.raises(AssertionError):
        kernel[(1,)](1, N="b")


def test_a_kernel_inside_autotune() -> None:
    kernel = Kernel(b=TWO)
    tuned = SimpleNamespace(fn=SimpleNamespace(fn=kernel, run=kernel.run), run=lambda **given: kernel.run(**given))  # noqa: PLW0108 - what is called is the guard's
    assert swzverify.guard()(tuned) is tuned
    with pytest.raises(AssertionError):
        tuned.run(grid=(1,), warmup=False, N="b")


def test_what_a_hook_does_not_let_compile_is_launched() -> None:
    launched: list[bool] = []

    def run(*, warmup: bool) -> None:
        launched.append(warmup)

    swzverify.guard()(SimpleNamespace(fn=print, run=run)).run(warmup=False)
    assert launched == [True, False]


def test_the_interpreter_runs_a_kernel_once() -> None:
    class InterpretedFunction:
        """What `triton.jit` makes with TRITON_INTERPRET=1."""

        fn, launched = print, 0

        def run(self, *, grid: object, warmup: bool) -> None:
            del grid, warmup
            self.launched += 1

    kernel = swzverify.guard()(InterpretedFunction())
    kernel.run(grid=(1,), warmup=False)
    assert kernel.launched == 1


def test_what_it_asks_for() -> None:
    no_memory = text_of("")
    swzverify.guard(allow=["ldmatrix"])(Kernel(a=no_memory))[(1,)](N="a")
    swzverify.guard(at_most=2)(Kernel(a=TWO))[(1,)](N="a")
    swzverify.guard(allow=["ld.shared", 3])(Kernel(a=TWO))[(1,)](N="a")
    swzverify.guard(parameters={"n": 33})(Kernel(a=text_of(SKEWED)))[(1,)](N="a")
    swzverify.guard(assume=["n % 2 == 1"])(Kernel(a=text_of(SKEWED)))[(1,)](N="a")
    with pytest.raises(AssertionError, match="1 depends"):
        swzverify.guard()(Kernel(a=text_of(SKEWED)))[(1,)](N="a")
    swzverify.guard()(Kernel(a=RACE))[(1,)](N="a")
    with pytest.raises(AssertionError, match=r"1 of 1 kernels is not free of races"):
        swzverify.guard(races=True)(Kernel(a=RACE))[(1,)](N="a")
    with pytest.raises(SwzError, match="SWZ810"):
        swzverify.guard(on_chip=True)(Kernel(a=FREE))[(1,)](N="a")
    with pytest.raises(SwzError, match="SWZ105"):
        swzverify.guard(at_most=True)(Kernel(a=FREE))[(1,)](N="a")
    with pytest.raises(AssertionError, match="unknown target 'sm_9'"):
        swzverify.guard(target="sm_9")(Kernel(a=FREE))[(1,)](N="a")


# ---- functions that return what was compiled


def cute(text: str | None) -> SimpleNamespace:
    """What `cute.compile` returns, as far as a scan reads it."""
    reqntid = None if text is None else text.replace("param .u64 q)", "param .u64 q) .reqntid 64")
    return SimpleNamespace(__ptx__=reqntid, __cubin__=None, function_name="launch")


def test_a_function_that_compiles(scans: list[object]) -> None:
    made = {each: cute(text) for each, text in (("a", FREE), ("b", TWO), ("c", None))}

    @swzverify.guard()
    def compiled(which: str) -> object:
        """Its name and docstring stay."""
        return made[which]

    assert (compiled.__name__, compiled.__doc__) == ("compiled", "Its name and docstring stay.")
    assert compiled("a") is compiled("a") is made["a"]
    with pytest.raises(AssertionError, match="1 conflict"):
        compiled("b")
    with pytest.raises(SwzError, match=r"did not keep it\n.*KeepPTX"):
        compiled("c")
    assert scans == [made[each] for each in "abc"]


def test_what_cannot_be_guarded() -> None:
    def launch() -> None:
        """A function of the CuTe DSL has this mark on the function that it wraps."""

    launch._dsl_cls = object  # type: ignore[attr-defined]
    for each in (launch, 3, Kernel):
        with pytest.raises(SwzError, match="SWZ809"):
            swzverify.guard()(each)


def test_a_guard_that_is_off_loads_no_scan() -> None:
    code = "import sys, swzverify; swzverify.guard(races=True)(lambda: 1)(); print('swzverify.compiled' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=without_switch())
    assert run.stdout == "False\n"


def without_switch() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in ("SWZVERIFY_GUARD", "PYTEST_CURRENT_TEST")}


# ---- the compilers themselves


class Driver:
    """Stands in for the driver: the compiler is told of an H100, and launches are counted."""

    def __init__(self, target: object) -> None:
        self.target, self.launched, self.utils = target, 0, self

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return device

    def get_current_target(self) -> object:
        return self.target

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {"max_shared_mem": 232448, "warpSize": 32, "device": device}

    def load_binary(self, *args: object) -> tuple[int, ...]:
        del args
        return 1, 1, 0, 0, 1024

    def launcher_cls(self, *args: object) -> Callable[..., None]:
        del args
        return self.launch

    def launch(self, *args: object) -> None:
        del args
        self.launched += 1


TRITON = """
import triton
import triton.language as tl

import swzverify


@swzverify.guard(at_most=1)
@triton.jit
def total(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out, tl.sum(tl.load(x + i), 0))


@swzverify.guard(target="sm_9")
@triton.jit
def checked(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out, tl.sum(tl.load(x + i), 0))
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.filterwarnings("ignore")
def test_a_kernel_of_triton(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scans: list[object]
) -> None:  # pragma: no cover - where Triton is installed
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "kernels_of_guard.py").write_text(TRITON, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    ours = Driver(GPUTarget("cuda", 90, 32))
    before = driver._active if hasattr(driver, "_active") else None
    driver.set_active(ours)
    try:
        kernels = importlib.import_module("kernels_of_guard")
        tensor = SimpleNamespace(dtype="fp32", data_ptr=lambda: 4096)
        for size in (256, 1024, 256):
            kernels.total[(1,)](tensor, tensor, N=size)
        assert (len(scans), ours.launched) == (2, 3)
        compiled = kernels.total.warmup(tensor, tensor, N=256, grid=(1,))
        assert scans[0] is compiled
        assert swzverify.scan(compiled).accesses[0].block == (128, 1, 1)
        with pytest.raises(AssertionError, match="unknown target"):
            kernels.checked[(1,)](tensor, tensor, N=256)
        assert ours.launched == 3
    finally:
        if before is not None:
            driver.set_active(before)


CUTE = """
import os
os.environ |= {"CUTE_DSL_ARCH": "sm_90a", "SWZVERIFY_GUARD": "1"}
import cutlass
from cutlass import cute
from cutlass.cute.runtime import make_fake_compact_tensor
import swzverify


def turned(pitch):
    @cute.kernel
    def turn(source: cute.Tensor, out: cute.Tensor):
        x, y, _ = cute.arch.thread_idx()
        rows = cute.make_layout((32, 32), stride=(pitch, 1))
        tile = cutlass.utils.SmemAllocator().allocate_tensor(cutlass.Float32, rows, 16)
        tile[(y, x)] = source[(y, x)]
        cute.arch.sync_threads()
        out[(y, x)] = tile[(x, y)]

    @cute.jit
    def launch(source: cute.Tensor, out: cute.Tensor):
        turn(source, out).launch(grid=[1, 1, 1], block=[32, 32, 1])

    try:
        swzverify.guard()(launch)
    except swzverify.errors.SwzError as error:
        print(error.code)
    square = make_fake_compact_tensor(cutlass.Float32, (32, 32), stride_order=(1, 0))
    return cute.compile[cute.KeepPTX](launch, square, square)


guarded = swzverify.guard()(turned)
guarded(33)
try:
    guarded(32)
except AssertionError as error:
    print("32-way" in str(error))
"""


@pytest.mark.skipif(importlib.util.find_spec("nvidia_cutlass_dsl") is None, reason="the CuTe DSL is not installed")
def test_a_kernel_of_the_cute_dsl(tmp_path: Path) -> None:  # pragma: no cover - where the CuTe DSL is installed
    (tmp_path / "kernels.py").write_text(CUTE, encoding="utf-8")
    command = [sys.executable, "kernels.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=without_switch())
    assert run.stdout.split() == ["SWZ809", "SWZ809", "True"]

"""The device through NVIDIA's bindings: compile, launch, copy. Only the worker imports this.

Source: CUDA driver API 13, NVRTC 13, cuda-bindings 13.
"""

# The bindings are compiled modules without annotations.
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
from cuda.bindings import driver, nvrtc
from numpy.typing import NDArray

from swzverify.gpu.device_facts import DeviceError, DeviceFacts
from swzverify.gpu.launch import Box
from swzverify.hardware.tensor_cores import Family

TMA_TYPES = {1: "UINT8", 2: "UINT16", 4: "UINT32", 8: "FLOAT64"}
"""The tensor map's type for elements of so many bytes; a load copies them as they are."""


def _done(what: str, answer: tuple[Any, ...]) -> Any:
    """The results of a call, or DeviceError; the bindings give (status, results...)."""
    status, *results = answer
    if int(status):
        raise DeviceError(f"{what} failed with {status!s}", int(status))
    return results[0] if len(results) == 1 else tuple(results)


class Device:
    """The first device that the driver shows, with its primary context current in this process."""

    def __init__(self) -> None:
        _done("cuInit", driver.cuInit(0))
        self._device = _done("cuDeviceGet", driver.cuDeviceGet(0))
        context = _done("cuDevicePrimaryCtxRetain", driver.cuDevicePrimaryCtxRetain(self._device))
        _done("cuCtxSetCurrent", driver.cuCtxSetCurrent(context))

    @property
    def facts(self) -> DeviceFacts:
        """Name, capability, driver, shared memory per block."""
        kinds = driver.CUdevice_attribute
        name = _done("cuDeviceGetName", driver.cuDeviceGetName(128, self._device))
        major = self._attribute(kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        minor = self._attribute(kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        shared = self._attribute(kinds.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
        version = _done("cuDriverGetVersion", driver.cuDriverGetVersion())
        return DeviceFacts(
            name.split(b"\0")[0].decode(), 10 * major + minor, f"{version // 1000}.{version % 1000 // 10}", shared
        )

    def _attribute(self, kind: Any) -> int:
        return int(_done("cuDeviceGetAttribute", driver.cuDeviceGetAttribute(kind, self._device)))

    def compile(self, source: str) -> Module:
        """Compile for this device.

        Raises:
            DeviceError: The compiler refuses; with its words.
        """
        program = _done("nvrtcCreateProgram", nvrtc.nvrtcCreateProgram(source.encode(), b"kernels.cu", 0, [], []))
        # wgmma is there for the architecture's own target only.
        own = "a" if self.facts.capability in Family.WGMMA.capabilities else ""
        options = [f"--gpu-architecture={self.facts.target}{own}".encode(), b"--std=c++17"]
        status = int(nvrtc.nvrtcCompileProgram(program, len(options), options)[0])
        if status:
            size = _done("nvrtcGetProgramLogSize", nvrtc.nvrtcGetProgramLogSize(program))
            log = _buffer(size)
            _done("nvrtcGetProgramLog", nvrtc.nvrtcGetProgramLog(program, log))
            raise DeviceError("the compiler says:\n" + log.split(b"\0")[0].decode(errors="replace"), status)
        size = _done("nvrtcGetCUBINSize", nvrtc.nvrtcGetCUBINSize(program))
        code = _buffer(size)
        _done("nvrtcGetCUBIN", nvrtc.nvrtcGetCUBIN(program, code))
        _done("nvrtcDestroyProgram", nvrtc.nvrtcDestroyProgram(program))
        return Module(_done("cuModuleLoadData", driver.cuModuleLoadData(code)))

    @staticmethod
    def allocate(size: int) -> int:
        """Allocate device memory, at least a byte."""
        return int(_done("cuMemAlloc", driver.cuMemAlloc(max(1, size))))

    @staticmethod
    def free(pointer: int) -> None:
        """Give device memory back."""
        _done("cuMemFree", driver.cuMemFree(pointer))

    @staticmethod
    def put(pointer: int, data: NDArray[Any]) -> None:
        """Copy an array to the device."""
        if data.nbytes:
            held = np.ascontiguousarray(data)
            _done("cuMemcpyHtoD", driver.cuMemcpyHtoD(pointer, held.ctypes.data, held.nbytes))

    @staticmethod
    def get(pointer: int, into: NDArray[Any]) -> None:
        """Copy an array from the device."""
        if into.nbytes:
            _done("cuMemcpyDtoH", driver.cuMemcpyDtoH(into.ctypes.data, pointer, into.nbytes))

    @staticmethod
    def clear(pointer: int, size: int) -> None:
        """Fill device memory with ones, so that what a kernel did not write shows."""
        if size:
            _done("cuMemsetD8", driver.cuMemsetD8(pointer, 0xFF, size))

    @staticmethod
    def finish() -> None:
        """Wait; raises DeviceError for what went wrong in a kernel."""
        _done("cuCtxSynchronize", driver.cuCtxSynchronize())

    @staticmethod
    def tensor_map(box: Box, pointer: int) -> Any:
        """The tensor map of a box that is the whole of a tensor in global memory."""
        number = driver.cuuint64_t
        small = driver.cuuint32_t
        kinds = driver.CUtensorMapDataType
        swizzles = driver.CUtensorMapSwizzle
        return _done(
            "cuTensorMapEncodeTiled",
            driver.cuTensorMapEncodeTiled(
                getattr(kinds, f"CU_TENSOR_MAP_DATA_TYPE_{TMA_TYPES[box.element_bytes]}"),
                2,
                pointer,
                [number(box.inner_elements), number(box.rows)],
                [number(box.inner_elements * box.element_bytes)],
                [small(box.inner_elements), small(box.rows)],
                [small(1), small(1)],
                driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
                getattr(swizzles, f"CU_TENSOR_MAP_SWIZZLE_{box.mode.upper()}"),
                driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
                driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            ),
        )


class Module:
    """Compiled kernels, by the driver's handle."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._kernels: dict[str, Any] = {}

    def launch(self, kernel: str, threads: int, shared_bytes: int, arguments: list[Any], blocks: int = 1) -> None:
        """Start a kernel. Arguments are numpy scalars, or a tensor map."""
        function = self._kernels.get(kernel)
        if function is None:
            function = _done(kernel, driver.cuModuleGetFunction(self._handle, kernel.encode()))
            self._kernels[kernel] = function
        kind = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _done("cuFuncSetAttribute", driver.cuFuncSetAttribute(function, kind, shared_bytes))
        held = [each if hasattr(each, "getPtr") else np.asarray([each]) for each in arguments]
        pointers = [int(each.getPtr()) if hasattr(each, "getPtr") else each.ctypes.data for each in held]
        table = np.asarray(pointers, dtype=np.uint64)
        _done(
            kernel,
            driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, 0, table.ctypes.data, 0),
        )


def _buffer(size: int) -> bytes:
    """New bytes to write into; all of Python would share a single byte."""
    return b"\0" * max(2, size)

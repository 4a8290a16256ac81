"""A kernel compiled at run time by NVRTC, scanned before it is launched. No GPU is needed."""

from cuda.bindings import nvrtc

from swzverify.testing import assert_scan_free

SOURCE = b"""
extern "C" __global__ void turn(float *out)
{
    __shared__ float tile[32][33];
    tile[threadIdx.y][threadIdx.x] = out[32 * threadIdx.y + threadIdx.x];
    __syncthreads();
    out[32 * threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


def ptx_of(source: bytes) -> str:
    """The PTX that NVRTC makes, with source lines."""
    _, program = nvrtc.nvrtcCreateProgram(source, b"turn.cu", 0, [], [])
    options = [b"--gpu-architecture=compute_90", b"-lineinfo"]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert error == nvrtc.nvrtcResult.NVRTC_SUCCESS
    _, size = nvrtc.nvrtcGetPTXSize(program)
    ptx = bytes(size)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.decode()


if __name__ == "__main__":
    assert_scan_free(ptx_of(SOURCE), block=(32, 32))

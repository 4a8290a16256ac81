"""A CuTe DSL kernel, compiled for a GPU that need not be there, and scanned before a launch."""

import os
import sys
from tempfile import TemporaryDirectory

FOLDER = TemporaryDirectory()
# CuTe DSL reads these when it is imported, and keeps the PTX in the folder.
os.environ |= {"CUTE_DSL_ARCH": "sm_90a", "CUTE_DSL_KEEP": "ptx", "CUTE_DSL_DUMP_DIR": FOLDER.name}

import cutlass  # noqa: E402
from cutlass import cute  # noqa: E402
from cutlass.cute.runtime import make_fake_compact_tensor  # noqa: E402

from swzverify.testing import assert_scan_free  # noqa: E402

SIZE = 32


def turned(pitch: int) -> str:
    """The PTX of a kernel that turns a square tile; its rows begin `pitch` floats apart."""

    @cute.kernel
    def turn(source: cute.Tensor, out: cute.Tensor):
        x, y, _ = cute.arch.thread_idx()
        rows = cute.make_layout((SIZE, SIZE), stride=(pitch, 1))
        tile = cutlass.utils.SmemAllocator().allocate_tensor(cutlass.Float32, rows, 16)
        tile[(y, x)] = source[(y, x)]
        cute.arch.sync_threads()
        out[(y, x)] = tile[(x, y)]

    @cute.jit
    def launch(source: cute.Tensor, out: cute.Tensor):
        turn(source, out).launch(grid=[1, 1, 1], block=[SIZE, SIZE, 1])

    square = make_fake_compact_tensor(cutlass.Float32, (SIZE, SIZE), stride_order=(1, 0))
    return cute.compile(launch, square, square).__ptx__


if __name__ == "__main__":
    assert_scan_free(turned(33))
    # The words of a failure: which accesses, and their lanes.
    try:
        assert_scan_free(turned(32))
    except AssertionError as error:
        sys.stdout.write(f"rows of 32 floats: {str(error).splitlines()[0]}\n")
    else:
        sys.exit("the conflict of rows of 32 floats was not found")

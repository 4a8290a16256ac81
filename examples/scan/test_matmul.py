"""Guards the compiled kernel: a change that brings bank conflicts, of the code or of Triton, fails."""

import pytest

pytest.importorskip("triton", reason="Triton is not installed")

from matmul import compiled

from swzverify.testing import assert_scan_free


@pytest.mark.parametrize("arch", [80, 90])
def test_matmul_has_no_bank_conflict(arch):
    # On an H100 wgmma reads shared memory by itself, which no scan looks at.
    assert_scan_free(compiled(arch), allow=["wgmma.mma_async"] if arch == 90 else [])


def test_transposed_tile_is_read_by_ldmatrix():
    accesses = assert_scan_free(compiled(80), kernel="matmul")
    assert any(access.opcode.startswith("ldmatrix") for access in accesses)

"""The layout's arithmetic in Python, for more block sizes and elements than the kernel uses today."""

import pytest
from transpose_kernels.layouts import swizzled_byte_address

from swzverify.testing import assert_bijective, assert_conflict_free, assert_wavefronts


def address(row, column, columns, element_bytes, vec):
    """The address in a tile whose phases go through every vector of 128 bytes."""
    return swizzled_byte_address(
        row, column, columns=columns, element_bytes=element_bytes, vec=vec,
        per_phase=1, max_phase=128 // (vec * element_bytes),
    )  # fmt: skip


@pytest.mark.parametrize("column", range(0, 32, 5))
def test_columns_of_fp32_tiles_are_free_of_conflicts(column):
    assert_conflict_free(lambda lane: address(lane, column, 32, 4, 1), instruction="ld.shared.b32", threads=32)


@pytest.mark.parametrize("chunk", range(8))
def test_columns_of_fp16_chunks_are_free_of_conflicts(chunk):
    def lane_address(lane):
        return address(lane, 8 * chunk, 64, 2, 8)

    assert_conflict_free(lane_address, instruction="ldmatrix.x4", threads=32)


def test_elements_fill_the_tile():
    assert_bijective(lambda index: address(index // 32, index % 32, 32, 4, 1), size=1024, element_bits=32)


@pytest.mark.parametrize(("layout", "wavefronts"), [("(32,32):(32,1)", 32), ("Sw<5,0,5> o 0 o (32,32):(32,1)", 1)])
def test_columns_cost(layout, wavefronts):
    verdict = assert_wavefronts(
        layout, at_most=wavefronts, instruction="ld.shared.b32", threads=32, coord=["lane", "3"],
        element_bits=32, base_align=1024,
    )  # fmt: skip
    assert verdict.measure.wavefronts == wavefronts

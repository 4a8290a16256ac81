"""The texts whose statements the theorems confirm, bound or refute, with their printed titles."""

CUTE = "NVIDIA CUTLASS, include/cute/swizzle.hpp"
LEI_MAO = '"CuTe Swizzle" (leimao.github.io/blog/CuTe-Swizzle)'
CUTE_4 = '"CUTLASS-Cute 初步(4)：Swizzle"'  # noqa: RUF001 - the title has a full-width colon
SIMPLE = '"cutlass swizzle简单理解"'
CONFLICTS = '"bank confict和冲突消解"'
MAXAS = "机器之心's article on how the maxas assembler works"
RULE = "docs/semantics.md, section 4"
TRITON_ORDER = 'triton-lang/triton, python/tutorials/03-matrix-multiplication.py, "L2 Cache Optimizations"'
COLUMN_GROUPS = (
    'NVIDIA developer blog, "Optimizing Compute Shaders for L2 Locality using Thread-Group ID Swizzling" '
    "(ThreadGroupTilingX)"
)
CUTLASS_ORDER = (
    "NVIDIA CUTLASS, include/cutlass/gemm/threadblock/threadblock_swizzle.h, GemmIdentityThreadblockSwizzle "
    "(get_grid_shape, get_tile_offset)"
)

"""Transposes of matrices, tile by tile through shared memory."""

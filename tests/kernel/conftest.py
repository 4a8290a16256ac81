"""Kernels that are scanned here are tried for a while, as in tests of the scan."""

from tests.scan.conftest import few_trials

__all__ = ["few_trials"]

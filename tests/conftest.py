"""What holds for every test: none is judged by the clock, since machines are shared."""

from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def pycute() -> Any:
    """NVIDIA's pycute, which no extra has: its wheel brings much that a test does not need."""
    found = pytest.importorskip("pycute", reason="NVIDIA's pycute is missing: CONTRIBUTING.md says how to install it")
    if not hasattr(found, "composition"):
        pytest.skip("the unrelated package pycute from PyPI is installed: CONTRIBUTING.md names NVIDIA's")
    return found

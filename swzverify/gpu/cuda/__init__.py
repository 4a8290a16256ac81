"""CUDA C++ that does not depend on what is run, one text per file; `cuda_text` reads them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def cuda_text(name: str) -> str:
    """A file of this folder.

    >>> "__device__" in cuda_text("tokens.cuh")
    True
    """
    return files(__name__).joinpath(name).read_text(encoding="utf-8")

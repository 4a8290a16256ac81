"""A limit on the memory of a recheck: a hostile certificate costs no more than that."""

from __future__ import annotations

import contextlib


def limit_memory(mebibytes: int) -> None:
    """Limit the address space of this process and those that it starts, where the system can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - Unix only

        size = mebibytes << 20
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))

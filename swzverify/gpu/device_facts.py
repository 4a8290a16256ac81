"""What a device says of itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """Name, compute capability (90 for 9.0), the CUDA version that its driver serves, shared memory a block.

    >>> DeviceFacts("a GPU", 90, "13.0", 232448).target
    'sm_90'
    """

    name: str
    capability: int
    driver: str
    shared_bytes_per_block: int

    @property
    def target(self) -> str:
        """The name of its target."""
        return f"sm_{self.capability}"

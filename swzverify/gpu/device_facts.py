"""What a device says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MIN_CAPABILITY, MAX_CAPABILITY = 10, 999


class DeviceError(Exception):
    """The driver or the compiler refused `what`; `status` is its number."""

    def __init__(self, what: str, status: int) -> None:
        super().__init__(f"{what}: {status}")
        self.status = status


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The facts of a device.

    They are its name, its compute capability (90 for 9.0), the CUDA version of its driver, and its shared
    memory per block.

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


def facts_of(told: Mapping[str, object]) -> DeviceFacts:
    """The facts that a file has of its device.

    Raises:
        KeyError: A fact is missing.
        ValueError: A value is wrong.

    >>> facts_of({"name": "a GPU", "capability": 90, "driver": "13.0", "shared_bytes_per_block": 232448}).name
    'a GPU'
    """
    name, driver = told["name"], told["driver"]
    capability, room = told["capability"], told["shared_bytes_per_block"]
    if not isinstance(name, str) or not isinstance(driver, str) or not (name + driver).isprintable():
        raise ValueError("the name of the device or its driver is no plain text")
    if type(capability) is not int or not MIN_CAPABILITY <= capability <= MAX_CAPABILITY:
        raise ValueError(f"the capability {capability!r} is no number such as 90")
    if type(room) is not int or room < 1:
        raise ValueError(f"{room!r} is no number of bytes")
    return DeviceFacts(name, capability, driver, room)

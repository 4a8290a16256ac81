"""What the pytest plugin does once there is a spec to read."""

from __future__ import annotations

import pytest

from swzverify.errors import SwzError
from swzverify.hardware import find_target
from swzverify.testing.named_specs import named_specs, unnamed_contracts
from swzverify.testing.spec_items import SpecFile

__all__ = ["SpecFile", "check_target", "named_specs", "unnamed_contracts"]


def check_target(target: str) -> None:
    """Refuse a target that is not known, before anything is collected."""
    try:
        find_target(target)
    except SwzError as error:
        raise pytest.UsageError(f"--swz-target: {error.code} {error.message}; {error.hint}") from error

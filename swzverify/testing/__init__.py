"""For Python tests: assertions that prove layouts and accesses; what the pytest plugin collects.

`assertions` are the functions that a test calls, `layouts` and `accesses` read what they are given,
`calls` checks Python callables, `failure` writes the message. `scans` and `races` assert of
compiled kernels. `cases` has what the tests of `--write-test` call. `strategies` draws layouts for
Hypothesis. `spec_items` and `named_specs` belong to the pytest plugin. docs/pytest.md shows them
all.

>>> from swzverify.testing import assert_bijective
>>> assert_bijective("Swizzle<3,3,3> o 0 o (8,64):(64,1)", element_bits=16).outcome.value
'proved'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swzverify.core.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.testing.assertions import (
        assert_bijective,
        assert_conflict_free,
        assert_contiguous,
        assert_equivalent,
        assert_proved,
        assert_wavefronts,
    )
    from swzverify.testing.races import assert_scan_race_free
    from swzverify.testing.scans import assert_scan_free

__all__ = [
    "assert_bijective",
    "assert_conflict_free",
    "assert_contiguous",
    "assert_equivalent",
    "assert_proved",
    "assert_scan_free",
    "assert_scan_race_free",
    "assert_wavefronts",
]

_OF_SCANS = {"assert_scan_free": ".scans", "assert_scan_race_free": ".races"}
__getattr__ = importer("swzverify.testing", {**dict.fromkeys(__all__, ".assertions"), **_OF_SCANS})
__dir__ = lister("swzverify.testing", __all__)

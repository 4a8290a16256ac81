"""The failures of assertions: the text of an `AssertionError`, and the error for a wrong argument."""

from __future__ import annotations

import pytest

from swzverify.errors import SwzError


def story_of(assertion, *arguments, **given):
    with pytest.raises(AssertionError) as failure:
        assertion(*arguments, **given)
    return str(failure.value)


def mistake_of(assertion, *arguments, **given):
    with pytest.raises(SwzError) as failure:
        assertion(*arguments, **given)
    return failure.value

"""The schema with its validator, and the command in this process."""

from __future__ import annotations

import pytest
from jsonschema import Draft7Validator

from swzverify.spec import json_schema


@pytest.fixture(scope="session")
def schema() -> dict[str, object]:
    return json_schema()


@pytest.fixture(scope="session")
def validator(schema: dict[str, object]) -> Draft7Validator:
    return Draft7Validator(schema)

"""The schema with its validator, and the command in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft7Validator

from swzverify.spec import json_schema


@pytest.fixture(scope="session")
def schema() -> dict[str, object]:
    return json_schema()


@pytest.fixture(scope="session")
def validator(schema: dict[str, object]) -> Draft7Validator:
    return Draft7Validator(schema)


@pytest.fixture
def swzverify() -> Callable[..., Result]:
    """Run the command in this process."""
    from swzverify.apps.cli import main

    def run(*arguments: str) -> Result:
        result = CliRunner().invoke(main, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run

"""What holds for every test: none is judged by the clock, since machines are shared."""

import gc
import sys
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import is_hypothesis_test, settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, keep it away from what was collected, and let it run rarely.

    Each worker makes the syntax trees of all test files and twenty thousand items. The collector would
    go through these again and again, which takes a third of the time before the first test. At its usual
    thresholds it takes a tenth of the time of the tests, which make many small expressions.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 20, 20)
        gc.enable()


SPARSER = 3
"""How many times fewer examples a property draws in the ordinary run than it asks for."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let properties draw a part of their examples in the ordinary run, and all of them in the long one."""
    by_night = config.getoption("markexpr") == "nightly"
    properties = {item: item.function for item in items if isinstance(item, pytest.Function)}
    for item, test in properties.items():
        if by_night and is_hypothesis_test(test):
            item.add_marker(pytest.mark.nightly)
    for test in set() if by_night else {*filter(is_hypothesis_test, properties.values())}:
        asked = test._hypothesis_internal_use_settings
        test._hypothesis_internal_use_settings = settings(asked, max_examples=-(-asked.max_examples // SPARSER))


@pytest.fixture(autouse=True)
def _nothing_asked_before() -> None:
    """Let the prover ask its engines anew in each test: one before may have exchanged them, for equal questions."""
    panel = sys.modules.get("swzverify.prover.panel")
    if panel is not None:
        panel._native.cache_clear()
        panel._by_z3.cache_clear()


@pytest.fixture
def nothing_remembered() -> Iterator[None]:
    """Engines and prover remember nothing of the tests before, and nothing of this one: it exchanges engines."""
    from tests.engines.memory import forget

    forget()
    yield
    forget()


@pytest.fixture
def pycute() -> Any:
    """NVIDIA's pycute, which no extra has: its wheel brings much that a test does not need."""
    found = pytest.importorskip("pycute", reason="NVIDIA's pycute is missing: CONTRIBUTING.md says how to install it")
    if not hasattr(found, "composition"):
        pytest.skip("the unrelated package pycute from PyPI is installed: CONTRIBUTING.md names NVIDIA's")
    return found


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

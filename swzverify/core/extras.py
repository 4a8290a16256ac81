"""What is told where the package of an extra is not installed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from swzverify.errors import SwzError

CODE = "SWZ611"


@contextmanager
def extra(name: str, package: str, use: str) -> Generator[None]:
    """The place where the modules of an extra are imported.

    Raises:
        SwzError: SWZ611 if the package is not installed; the error names the extra.

    >>> with extra("watch", "no_such_package", "--watch"):
    ...     import no_such_package
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ611: no_such_package is not installed, which --watch needs
      pip install 'swzverify[watch]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        message = f"{package} is not installed, which {use} needs"
        raise SwzError(CODE, message, hint=f"pip install 'swzverify[{name}]'") from error

"""Whole numbers from Python callers: ints, and values that become ints without loss."""

from __future__ import annotations

from operator import index

from swzverify.errors import SwzError


def whole(value: object) -> int | None:
    """The Python int that `value` is, or None where it is none: a truth value, a float, a text.

    A numpy integer becomes an int, so that sums and shifts of it cannot wrap.

    >>> import numpy as np
    >>> whole(64), whole(np.int8(64)), whole(True), whole(64.0)
    (64, 64, None, None)
    """
    if type(value) is int:
        return value
    if type(value).__name__ in {"bool", "bool_", "ndarray"}:
        return None
    try:
        return index(value)  # pyright: ignore[reportArgumentType]  # what cannot be one raises
    except TypeError:
        return None


def keep_whole(record: object, owner: str, *fields: str, optional: tuple[str, ...] = ()) -> None:
    """Make these fields of a frozen record Python ints, as `whole` does.

    The `optional` ones may be None.

    Raises:
        SwzError: SWZ202 if a value is no whole number; the message has the owner and the field.
    """
    for name in (*fields, *optional):
        value: object = getattr(record, name)
        if type(value) is not int and not (value is None and name in optional):
            object.__setattr__(record, name, required(value, f"{owner}: {name}"))


def required(value: object, what: str) -> int:
    """The int that `value` is.

    Raises:
        SwzError: SWZ202 if it is no whole number; the message names it by `what`.

    >>> required(2.5, "tile A: stages")
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ202: tile A: stages is 2.5 (float), not an int
      give an int, or one of numpy's integers; divide with //, not with /
    """
    found = whole(value)
    if found is None:
        hint = "give an int, or one of numpy's integers" + ("; divide with //, not with /" * isinstance(value, float))
        raise SwzError("SWZ202", f"{what} is {value!r} ({type(value).__name__}), not an int", hint=hint)
    return found


def check_int(name: str, value: object) -> None:
    """Refuse a value that is no int of Python or numpy.

    A bool would count as 1, None as nothing, infinity as no bound.

    Raises:
        SwzError: SWZ105.

    >>> check_int("at_most", True)
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ105: at_most=True (bool) is no int
    """
    if whole(value) is None:
        raise SwzError("SWZ105", f"{name}={value!r} ({type(value).__name__}) is no int")

"""JSON read without trust: objects with a fixed set of fields, refused with the file and the place.

Nothing here believes a type, a size or an encoding; what a text holds is either what is asked for
or an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TypeAlias, TypeGuard

from swzrecheck.errors import CertificateError

Json: TypeAlias = Mapping[str, object]
MAX_NUMBER = 1 << 62
"""Larger than any number that a certificate needs."""
_DIGEST = re.compile(r"[0-9a-f]{64}")
_AGAIN = "write it again: swzverify prove PATH --certificates DIR"


def read_json(text: str, file: str) -> Json:
    """The object in a text.

    Raises:
        CertificateError: SWZ602, with line and column, if the text is no JSON object.
    """
    try:
        data = json.loads(text, object_pairs_hook=_no_twins)
    except json.JSONDecodeError as error:
        where = f"{file}:{error.lineno}:{error.colno}"
        raise CertificateError("SWZ602", f"{where}: {error.msg}: damaged or cut short", hint=_AGAIN) from None
    except (ValueError, RecursionError) as error:
        raise CertificateError("SWZ602", f"{file}: {str(error)[:200]}", hint=_AGAIN) from None
    if not _is_object(data):
        raise CertificateError("SWZ602", f"{file}:1:1: no JSON object", hint=_AGAIN)
    return data


def _no_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether a value is a JSON list."""
    return isinstance(value, list)


def is_number(value: object, least: int = 0) -> TypeGuard[int]:
    """Whether a value is a whole number as large as a certificate may have."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < MAX_NUMBER


def is_text(value: object) -> TypeGuard[str]:
    """Whether a value is a text that can be encoded: JSON can spell halves of characters."""
    return isinstance(value, str) and (value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value))


class Reader:
    """Takes fields out of an object; a missing, extra or wrong one is SWZ604 with its place.

    `place` names the object in messages.
    """

    def __init__(self, data: object, place: str) -> None:
        if not _is_object(data):
            raise CertificateError("SWZ604", f"{place}: an object is expected", hint=_AGAIN)
        self.data, self.place = dict(data), place

    def take(self, name: str, wanted: str) -> object:
        """Take the value of a key, of any type."""
        if name not in self.data:
            raise CertificateError("SWZ604", f"{self.place}: {name!r} is missing, {wanted} is expected", hint=_AGAIN)
        return self.data.pop(name)

    def refuse(self, name: str, wanted: str) -> CertificateError:
        """The error of a field that is something else."""
        return CertificateError("SWZ604", f"{self.place}.{name}: {wanted} is expected", hint=_AGAIN)

    def text(self, name: str) -> str:
        """Take the value of a key, which must be a text."""
        value = self.take(name, "a text")
        if not is_text(value):
            raise self.refuse(name, "a text")
        return value

    def digest(self, name: str) -> str:
        """Take a SHA-256 in hexadecimal."""
        value = self.text(name)
        if not _DIGEST.fullmatch(value):
            raise self.refuse(name, "a SHA-256 of 64 hexadecimal digits")
        return value

    def number(self, name: str, least: int = 0) -> int:
        """Take an integer of at least `least`."""
        value = self.take(name, "a number")
        if not is_number(value, least):
            raise self.refuse(name, f"a number, at least {least} and below 2^62,")
        return value

    def number_if_there(self, name: str, least: int = 0) -> dict[str, int]:
        """Take an integer by its name; nothing where the key is missing."""
        return {name: self.number(name, least)} if name in self.data else {}

    def number_or_none(self, name: str, least: int = 0) -> int | None:
        """Take an integer or null."""
        return None if self._is_null(name) else self.number(name, least)

    def text_or_none(self, name: str) -> str | None:
        """Take a text or null."""
        return None if self._is_null(name) else self.text(name)

    def _is_null(self, name: str) -> bool:
        """Whether a field is null; then it is taken."""
        return self.data.get(name, name) is None and self.take(name, "null") is None

    def numbers(self, name: str) -> dict[str, int]:
        """An object of whole numbers, negative ones too."""
        value = self.object(name)
        found = {key: item for key, item in value.items() if is_number(item, -MAX_NUMBER) and is_text(key)}
        if len(found) != len(value):
            raise self.refuse(name, "an object of numbers between -2^62 and 2^62")
        return found

    def list(self, name: str) -> list[object]:
        """Take the value of a key, which must be a list."""
        value = self.take(name, "a list")
        if not is_list(value):
            raise self.refuse(name, "a list")
        return value

    def extents_or_none(self, name: str) -> tuple[int, ...] | None:
        """A list of numbers from 1 on, or null."""
        return None if self._is_null(name) else self.extents(name)

    def extents(self, name: str) -> tuple[int, ...]:
        """A list of numbers from 1 on."""
        value = self.list(name)
        found = tuple(item for item in value if is_number(item, 1))
        if len(found) != len(value):
            raise self.refuse(name, "a list of numbers, each at least 1 and below 2^62,")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """Take a list of texts."""
        value = self.list(name)
        found = tuple(item for item in value if is_text(item))
        if len(found) != len(value):
            raise self.refuse(name, "a list of texts")
        return found

    def object(self, name: str) -> dict[str, object]:
        """Take the value of a key, which must be an object."""
        value = self.take(name, "an object")
        if not _is_object(value):
            raise self.refuse(name, "an object")
        return value

    def reader(self, name: str) -> Reader:
        """An object, to be read further."""
        return Reader(self.take(name, "an object"), f"{self.place}.{name}")

    def readers(self, name: str) -> list[Reader]:
        """A list of objects, to be read further."""
        return [Reader(item, f"{self.place}.{name}[{index}]") for index, item in enumerate(self.list(name))]

    def maybe(self, name: str) -> Reader | None:
        """An object, to be read further, or null."""
        value = self.take(name, "an object or null")
        return None if value is None else Reader(value, f"{self.place}.{name}")

    def done(self) -> None:
        """Refuse keys that were not taken."""
        if self.data:
            raise CertificateError("SWZ604", f"{self.place}: unknown field {min(self.data)!r}", hint=_AGAIN)

"""From a path to the tree of its YAML: reading the file, its size and encoding, and the checks of any spec."""

from __future__ import annotations

from pathlib import Path

from swzverify.spec.full_yaml import read_full
from swzverify.spec.problems import Problems
from swzverify.spec.quick_yaml import read_quick
from swzverify.spec.tree import Data, Mapping, Node, Place, Scalar, Sequence, has_leading_zero, value_of

MAX_BYTES = 256 * 1024
MIN_INTEGER = -(2**31)
MAX_INTEGER = 2**32 - 1


def read_text(path: Path, problems: Problems) -> str | None:
    """The text of a file, with plain line ends and without a byte order mark; None with the reason in `problems`."""
    try:
        if path.is_dir():
            problems.add("SWZ101", "this is a directory, not a spec file", None, "name a file in it")
            return None
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        problems.add("SWZ101", "there is no such file", None)
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problems.add("SWZ101", f"cannot be read: {reason}", None)
        return None
    if len(data) > MAX_BYTES:
        message = f"larger than {MAX_BYTES // 1024} KiB, which no spec is"
        problems.add("SWZ107", message, None, "split it into several files")
        return None
    return _decode(data, problems)


def _decode(data: bytes, problems: Problems) -> str | None:
    if b"\0" in data:
        problems.add("SWZ101", "not text: it holds zero bytes", None, "a spec is a YAML file in UTF-8")
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        place = Place(before.count(b"\n") + 1, column)
        problems.add("SWZ101", f"byte 0x{data[error.start]:02x} is not UTF-8", place, "save the file in UTF-8")
        return None
    if not text.strip():
        problems.add("SWZ101", "the file is empty", None, "a spec begins with `swzverify: 1`")
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_tree(text: str, problems: Problems) -> Mapping | None:
    """The tree of a spec's text, with what is wrong in any spec in `problems` (SWZ102 to SWZ105, SWZ107, SWZ108).

    >>> read_tree("swzverify: 1", Problems("a.yaml")).entries[0][0].text
    'swzverify'
    """
    if not text.endswith("\n"):
        text += "\n"
    problems.lines = text.split("\n")
    root = read_quick(text)
    if root is None:
        root = read_full(text, problems)
    if root is None:
        if not len(problems):
            problems.add("SWZ101", "the file holds no YAML but comments", None, "a spec begins with `swzverify: 1`")
        return None
    if not isinstance(root, Mapping):
        kind = "a list" if isinstance(root, Sequence) else "a single value"
        problems.add("SWZ105", f"a spec is a mapping of keys, this is {kind}", root, "it begins with `swzverify: 1`")
        return None
    _check(root, problems)
    problems.close_places()
    return root


def _check(node: Node, problems: Problems) -> None:
    """Refuse duplicate and merge keys, integers with leading zeros and ones out of range, in the whole tree."""
    match node:
        case Scalar():
            _check_scalar(node, problems)
        case Sequence(items=items):
            for item in items:
                _check(item, problems)
        case Mapping(entries=entries):
            seen: dict[str, Scalar] = {}
            for key, value in entries:
                if key.text == "<<" and key.plain:
                    problems.add("SWZ108", "merge key '<<' is not allowed", key, "write the keys out")
                elif key.text in seen:
                    first = seen[key.text]
                    message = f"key '{key.text}' is given twice"
                    problems.add("SWZ103", message, key, f"the first is at line {first.line}, column {first.column}")
                seen.setdefault(key.text, key)
                _check(value, problems)


def _check_scalar(scalar: Scalar, problems: Problems) -> None:
    if has_leading_zero(scalar):
        hint = f"C reads {scalar.text} as octal; write it without the zero, or in quotes if it is text"
        problems.add("SWZ105", f"{scalar.text}: an integer must not begin with 0", scalar, hint)
        return
    if not scalar.plain or (not scalar.text[:1].isdigit() and scalar.text[:1] not in ("-", "+")):
        return
    value = value_of(scalar)
    digits = scalar.text.lstrip("+-")
    is_integer = isinstance(value, int) or (digits.isascii() and digits.isdigit())
    if is_integer and not (isinstance(value, int) and MIN_INTEGER <= value <= MAX_INTEGER):
        shown = scalar.text if len(scalar.text) <= 24 else f"{scalar.text[:20]}... ({len(scalar.text)} digits)"
        problems.add("SWZ107", f"{shown} is too large", scalar, "integers lie in -2^31 .. 2^32 - 1")


def to_data(node: Node) -> Data:
    """Plain data for the models: the first of two equal keys counts.

    >>> to_data(read_quick("a: [1, x]"))
    {'a': [1, 'x']}
    """
    match node:
        case Scalar():
            return value_of(node)
        case Sequence(items=items):
            return [to_data(item) for item in items]
        case Mapping(entries=entries):
            data: dict[str, Data] = {}
            for key, value in entries:
                if key.text not in data:
                    data[key.text] = to_data(value)
            return data

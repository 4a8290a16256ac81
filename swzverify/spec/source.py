"""From a path to the tree of its YAML: size, encoding, and the checks of any spec."""

from __future__ import annotations

from pathlib import Path

from swzverify.spec.guard import decoded, hidden_character, is_readable, plain_lines, read_bytes
from swzverify.spec.problems import Problems
from swzverify.spec.tree import Data, Mapping, Node, Place, Scalar, Sequence, has_leading_zero, value_of

MIN_INTEGER = -(2**31)
MAX_INTEGER = 2**32 - 1


def read_text(path: Path, problems: Problems) -> str | None:
    """A file's text, with plain line ends, no byte order mark; None: `problems` has the reason."""
    data = read_bytes(path, problems)
    return None if data is None else decoded(data, problems)


def read_tree(text: str, problems: Problems, shown: list[str] | None = None) -> Mapping | None:
    """The tree of a spec's text, with what is wrong in any spec in `problems` (SWZ101 to SWZ112).

    `shown` are the lines that problems quote, where the text stands in a file of another kind.

    >>> read_tree("swzverify: 1", Problems("a.yaml")).entries[0][0].text
    'swzverify'
    """
    text = plain_lines(text)
    if not text.endswith("\n"):
        text += "\n"
    problems.lines = text.split("\n") if shown is None else shown
    if not is_readable(text, problems):
        return None
    from swzverify.spec.yaml_tree import read_yaml  # noqa: PLC0415 - importing PyYAML takes its time

    root = read_yaml(text, problems)
    if root is None:
        if not len(problems):
            problems.add(
                "SWZ101", "the file holds no YAML but comments", Place(1, 1), "a spec begins with `swzverify: 1`"
            )
        return None
    if not isinstance(root, Mapping):
        kind = "a list" if isinstance(root, Sequence) else "a single value"
        problems.add("SWZ105", f"a spec is a mapping of keys, this is {kind}", root, "it begins with `swzverify: 1`")
        return None
    _check(root, problems)
    problems.close_places()
    return root


def _check(node: Node, problems: Problems) -> None:
    """Refuse, in the whole tree, keys given twice, hidden characters and wrong integers."""
    match node:
        case Scalar():
            _check_scalar(node, problems)
        case Sequence(items=items):
            for item in items:
                _check(item, problems)
        case Mapping(entries=entries):
            seen: dict[str, Scalar] = {}
            for key, value in entries:
                if key.text in seen:
                    first = seen[key.text]
                    message = f"key '{key.text}' is given twice"
                    problems.add("SWZ103", message, key, f"the first is at line {first.line}, column {first.column}")
                seen.setdefault(key.text, key)
                _check_text(key, problems)
                _check(value, problems)


def _check_text(scalar: Scalar, problems: Problems) -> None:
    """Refuse what an escape in double quotes spells and the file itself may not hold."""
    hidden = hidden_character(scalar.text)
    if hidden is not None:
        hint = "a reader of the file would not see it; leave it out"
        problems.add("SWZ111", f"an escape spells character {hidden}, which is not allowed in a spec", scalar, hint)


def _check_scalar(scalar: Scalar, problems: Problems) -> None:
    _check_text(scalar, problems)
    if has_leading_zero(scalar):
        hint = f"C reads {scalar.text} as octal; write it without the zero, or in quotes if it is text"
        problems.add("SWZ105", f"{scalar.text}: an integer must not begin with 0", scalar, hint)
        return
    if not scalar.plain or (not scalar.text[:1].isdigit() and scalar.text[:1] not in ("-", "+")):
        return
    value = value_of(scalar)
    digits = scalar.text.removeprefix("+").removeprefix("-")  # of two signs it is an expression
    is_integer = isinstance(value, int) or (digits.isascii() and digits.isdigit())
    if is_integer and not (isinstance(value, int) and MIN_INTEGER <= value <= MAX_INTEGER):
        shown = scalar.text if len(scalar.text) <= 24 else f"{scalar.text[:20]}... ({len(scalar.text)} digits)"
        problems.add("SWZ107", f"{shown} is too large", scalar, "integers lie in -2^31 .. 2^32 - 1")


def to_data(node: Node) -> Data:
    """Plain data for the models: the first of two equal keys counts.

    >>> to_data(read_tree("a: [1, x]", Problems("a.yaml")))
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

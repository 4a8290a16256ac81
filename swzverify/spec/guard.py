"""What stands before the YAML reader: a stranger's file is read, decoded and checked here first.

What is refused here never reaches a YAML parser: what is no regular file, more than 256 KiB, what
is not UTF-8, and characters that control a terminal, reorder a line or cannot be seen. `yaml_tree`
refuses what is wrong in the YAML itself. docs/limits.md lists all limits.
"""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path

from swzverify.core.regular_file import NotRegularError, read_regular
from swzverify.spec.problems import Problems
from swzverify.spec.tree import Place

MAX_BYTES = 256 * 1024
SUFFIXES = (".swz.yaml", ".swz.yml")
"""What the name of a spec ends in, in a folder; also what a symbolic link must lead to: otherwise a
stranger's link could have the messages quote any file.
"""

_NOT_YAML = r"\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff"
"""What YAML itself forbids, line ends apart."""
_UNSEEN = (
    r"\x85\u2028\u2029"  # line ends to some programs and not to others
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional: what is shown is not what is read
    r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    r"\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\ufdd0-\ufdef\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Format characters, fillers and tags: they cannot be seen, so a reviewer could not know of them.

Source: Unicode 16, general categories Cf, Zl and Zp and the property Default_Ignorable_Code_Point,
without the variation selectors of emoji; listed here so that the verdict does not depend on
Python's own version of Unicode.
"""
_REFUSED = re.compile(f"[{_NOT_YAML}{_UNSEEN}]")
_OF_YAML = re.compile(f"[{_NOT_YAML}]")
_LISTED = 20
"""The most characters that are reported one by one."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def is_spec_name(path: str) -> bool:
    """Whether a file in a folder is a spec by its name; a file named outright may have any name.

    >>> is_spec_name("specs/gemm.swz.yaml"), is_spec_name("GEMM.SWZ.YML"), is_spec_name("gemm.yaml")
    (True, True, False)
    """
    return path.lower().endswith(SUFFIXES)


def read_bytes(
    path: Path, problems: Problems, suffixes: tuple[str, ...] = SUFFIXES, most_bytes: int = MAX_BYTES
) -> bytes | None:
    """The bytes of a regular file of at most `most_bytes`, or None: SWZ101, SWZ107 in `problems`.

    Nothing that could wait or never end is opened: no directory, pipe, socket or device. A link
    must lead to a name with one of the `suffixes`.
    """
    try:
        if path.is_symlink() and not os.path.realpath(path).lower().endswith(suffixes):
            hint = "name the file itself"
            named = " or ".join(f"*{suffix}" for suffix in suffixes)
            problems.add("SWZ101", f"a symbolic link to a file that is not named {named}", None, hint)
            return None
        data = read_regular(path, most_bytes + 1)
    except NotRegularError as error:
        if error.is_directory:
            problems.add("SWZ101", "this is a directory, not a spec file", None, "name a file in it")
        else:
            problems.add("SWZ101", str(error), None, "save the spec to a file")
    except FileNotFoundError:
        problems.add("SWZ101", "there is no such file", None)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problems.add("SWZ101", f"cannot be read: {reason}", None)
    else:
        if len(data) <= most_bytes:
            return data
        refuse_size(data.count(b"\n", 0, most_bytes) + 1, problems, most_bytes)
    return None


def refuse_size(line: int, problems: Problems, most_bytes: int = MAX_BYTES) -> None:
    """Note that the text goes on after so many bytes, which end on this line."""
    what = "the limit of a spec" if most_bytes == MAX_BYTES else "the limit of a kernel source"
    message = f"larger than {most_bytes // 1024} KiB, {what}"
    problems.add("SWZ107", message, Place(line, 1), "split it into several files")


def decoded(data: bytes, problems: Problems) -> str | None:
    r"""A file's text with plain line ends and no byte order mark; None: the reason is in `problems`.

    >>> decoded(b"\xef\xbb\xbfswzverify: 1\r\n", Problems("a.yaml"))
    'swzverify: 1\n'
    """
    hint = "a spec is a YAML file in UTF-8"
    for mark, name in _MARKS:
        if data.startswith(mark):
            problems.add("SWZ101", f"this is {name}: it begins with its byte order mark", Place(1, 1), hint)
            return None
    zero = data.find(b"\0")
    if zero >= 0:
        problems.add("SWZ101", "not text: it holds zero bytes", _place_of_byte(data, zero), hint)
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # With a mark in front, `utf-8-sig` counts from behind it.
        start = error.start + (3 if data.startswith(codecs.BOM_UTF8) and len(error.object) < len(data) else 0)
        place = _place_of_byte(data, start)
        problems.add("SWZ101", f"byte 0x{data[start]:02x} is not UTF-8", place, "save the file in UTF-8")
        return None
    return plain_lines(text)


def _place_of_byte(data: bytes, index: int) -> Place:
    before = data[:index]
    line = before[before.rfind(b"\n") + 1 :]
    return Place(before.count(b"\n") + 1, len(line.decode("utf-8", "replace").lstrip("\ufeff")) + 1)


def plain_lines(text: str) -> str:
    r"""The text with every line end as a line feed.

    >>> plain_lines("a\r\nb\rc")
    'a\nb\nc'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_readable(text: str, problems: Problems) -> bool:
    r"""Whether a text with plain line ends may go to a YAML reader.

    What speaks against it is in `problems`: SWZ101 empty, SWZ102 a character that YAML forbids,
    SWZ107 too large, SWZ111 a character that cannot be seen.

    >>> is_readable("a: b\n", Problems("a.yaml")), is_readable("a: \u200b\n", Problems("a.yaml"))
    (True, False)
    """
    if len(text) > MAX_BYTES:
        refuse_size(text.count("\n", 0, MAX_BYTES) + 1, problems)
        return False
    if not text.strip():
        problems.add("SWZ101", "the file is empty", Place(1, 1), "a spec begins with `swzverify: 1`")
        return False
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return True
    before = len(problems)
    _refuse_characters(text, problems)
    return len(problems) == before


def _refuse_characters(text: str, problems: Problems) -> None:
    for count, found in enumerate(_REFUSED.finditer(text)):
        if count == _LISTED:
            return
        index = found.start()
        place = Place(text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index))
        if _OF_YAML.match(found[0]):
            problems.add("SWZ102", f"character U+{ord(found[0]):04X} is not allowed in YAML", place)
        else:
            hint = "a reader of the file would not see it; leave it out"
            problems.add("SWZ111", f"character U+{ord(found[0]):04X} is not allowed in a spec", place, hint)


def hidden_character(text: str) -> str | None:
    r"""The first character of a value from an escape that may not stand in the file, or None.

    >>> hidden_character("a\u202e"), hidden_character("two\nlines")
    ('U+202E', None)
    """
    found = None if text.isascii() and text.isprintable() else _REFUSED.search(text)
    return f"U+{ord(found[0]):04X}" if found else None

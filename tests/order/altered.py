"""Changes lines of a kernel at random: what a reader of the kernel would call a typing error.

The kernel stays one that PTX allows, or the reader refuses it. Nothing is known of what it does then: an interpreter
has to say.
"""

from __future__ import annotations

import random
import re

_NUMBER = re.compile(r"(?<![%\w.:])\d+\b")
_REGISTER = re.compile(r"%r\d+")
_SYNCS = re.compile(r"bar|wait|fence|commit|cp\.async|wgmma|arrive|expect|st\.|ld\.shared")
_WORDS = (
    ("bar.sync 0;", "bar.warp.sync -1;"),
    ("bar.sync", "bar.arrive"),
    (".read ", " "),
    ("test_wait", "try_wait"),
    (".arrive.expect_tx", ".expect_tx"),
    ("fence.proxy.async.shared::cta", "fence.proxy.async.global"),
    ("bar.sync", "barrier.sync"),
    ("setp.ge", "setp.gt"),
    ("setp.eq", "setp.ne"),
    ("bar.warp.sync -1", "bar.warp.sync 65535"),
    ("ld.shared.u32 %r9, [", "st.shared.u32 ["),
)
"""The last one is completed with a value."""


def altered(text: str, source: random.Random, times: int) -> str:
    """The text with so many changes behind its declarations."""
    lines = text.splitlines()
    first = max(at for at, line in enumerate(lines) if "%p1, %r3, 0" in line or "ld.param" in line) + 1
    for _ in range(times):
        places = [at for at in range(first, len(lines) - 2) if _is_statement(lines[at])]
        syncs = [at for at in places if _SYNCS.search(lines[at])]
        at = source.choice(syncs if syncs and source.random() < 0.65 else places)
        source.choice((_drop, _repeat, _move, _move, _guard, _count, _rename, _reword))(lines, at, source)
    return "\n".join(lines) + "\n"


def _is_statement(line: str) -> bool:
    return bool(line.strip()) and not line.endswith(":") and not line.startswith(".")


def _drop(lines: list[str], at: int, _source: random.Random) -> None:
    lines[at] = ""


def _repeat(lines: list[str], at: int, _source: random.Random) -> None:
    lines.insert(at, lines[at])


def _move(lines: list[str], at: int, source: random.Random) -> None:
    line = lines.pop(at)
    lines.insert(min(max(at + source.choice((-6, -4, -3, -2, -1, 1, 2, 3, 4, 6)), 22), len(lines) - 2), line)


def _guard(lines: list[str], at: int, source: random.Random) -> None:
    guard, _, rest = lines[at].partition(" ")
    if not guard.startswith("@"):
        lines[at] = f"@{source.choice(('', '!'))}{source.choice(('%p0', '%p1'))} {lines[at]}"
    elif source.random() < 0.5:
        lines[at] = rest
    else:
        lines[at] = f"@{guard[2:] if guard[1] == '!' else '!' + guard[1:]} {rest}"


def _count(lines: list[str], at: int, source: random.Random) -> None:
    if found := [*_NUMBER.finditer(lines[at])]:
        match = source.choice(found)
        value = int(match[0])
        new = source.choice((2 * value, value // 2, value + 1, max(0, value - 1), 0, 1, value ^ 1, value + 16))
        lines[at] = f"{lines[at][: match.start()]}{new}{lines[at][match.end() :]}"


def _rename(lines: list[str], at: int, source: random.Random) -> None:
    if found := [*_REGISTER.finditer(lines[at])]:
        match = source.choice(found)
        near = f"%r{max(0, int(match[0][2:]) + source.choice((-3, -2, -1, 1, 2, 3)))}"
        lines[at] = f"{lines[at][: match.start()]}{source.choice((near, near, '%r0', '%r1'))}{lines[at][match.end() :]}"


def _reword(lines: list[str], at: int, source: random.Random) -> None:
    if found := [each for each in _WORDS if each[0] in lines[at]]:
        old, new = source.choice(found)
        lines[at] = lines[at].replace(old, new)
        if old == _WORDS[-1][0]:
            lines[at] = lines[at].replace("];", "], %r0;")

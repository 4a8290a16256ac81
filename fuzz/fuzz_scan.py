"""Damages PTX a few statements at a time, and scans what comes of it.

PYTHONPATH=. python fuzz/fuzz_scan.py FOLDER --runs 2000 [--seed 1] [--seconds 60]

The reader alone has an Atheris target. Here the damage keeps most of a kernel whole, so that it
reaches what stands behind the reader: loops, addresses, verdicts and reports. A finding is an
exception that is no error for people, or a kernel that takes longer than the limit.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from swzverify.apps.commands.scan_reports import rendered
from swzverify.apps.options.shared import Format
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import scan_function, scanned_functions
from swzverify.errors import SwzError
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_claims import report_of

BLOCKS = ((32, 1, 1), (64, 1, 1), (32, 8, 1), (16, 16, 1), (5, 3, 2), None)
OPCODES = (
    "add.s32", "sub.s32", "mul.lo.s32", "mad.lo.s32", "mul.wide.u32", "shl.b32", "shr.u32", "shr.s32", "and.b32",
    "or.b32", "xor.b32", "not.b32", "neg.s32", "abs.s32", "min.s32", "max.u32", "rem.u32", "rem.s32", "div.s32",
    "bfe.u32", "bfi.b32", "selp.b32", "cvt.u32.u64", "cvt.s64.s32", "prmt.b32", "lop3.b32", "shf.l.wrap.b32",
    "ld.shared.u8", "ld.shared.v4.u32", "st.shared.v2.u32", "atom.shared.add.u32", "new.opcode.b32", "popc.b32",
    "add.f32", "fma.rn.f32", "mul.f64", "sqrt.rn.f32", "setp.lt.f32", "cvt.rn.f32.s32", "cvt.rzi.s32.f32",
    "cvt.f64.f32",
)  # fmt: skip
"""What an instruction may become."""
NUMBERS = (0, 1, -1, 2, 3, 4, 7, 16, 31, 32, 33, 64, 127, 128, 255, 4095, 1 << 31, (1 << 32) - 1, 1 << 40, -(1 << 31))
_STATEMENT = re.compile(r"\s*(?:@!?%\w+\s+)?[a-z][\w.]*\s.*;")
_REGISTER = re.compile(r"%[a-z]+\d+")
_NUMBER = re.compile(r"(?<![%\w.])-?\d+(?![\w.])")
_LABEL = re.compile(r"\$L\w+")


class SlowError(Exception):
    """A kernel took longer than the limit."""


def damaged(lines: Sequence[str], draw: random.Random) -> list[str]:
    """A text with one to four statements that are other ones."""
    found = list(lines)
    places = [at for at, line in enumerate(found) if _STATEMENT.fullmatch(line)]
    for _ in range(draw.randint(1, 4)):
        if places:
            at = draw.choice(places)
            found[at] = draw.choice(KINDS)(found[at], found, draw)
    return found


def _other_opcode(line: str, _: Sequence[str], draw: random.Random) -> str:
    return re.sub(r"[a-z][\w.]*(?=\s)", draw.choice(OPCODES), line, count=1)


def _other_register(line: str, lines: Sequence[str], draw: random.Random) -> str:
    names = sorted({name for each in lines for name in _REGISTER.findall(each)})
    mine = _REGISTER.findall(line)
    return line if not mine else line.replace(draw.choice(mine), draw.choice(names), 1)


def _other_number(line: str, _: Sequence[str], draw: random.Random) -> str:
    return _NUMBER.sub(str(draw.choice(NUMBERS)), line, count=1)


def _other_label(line: str, lines: Sequence[str], draw: random.Random) -> str:
    names = sorted({name for each in lines for name in _LABEL.findall(each)})
    return _LABEL.sub(lambda _: draw.choice(names), line) if names else line


def _another_line(_: str, lines: Sequence[str], draw: random.Random) -> str:
    return draw.choice([each for each in lines if _STATEMENT.fullmatch(each)])


def _no_line(line: str, _: Sequence[str], draw: random.Random) -> str:
    return "" if draw.random() < 0.7 else f"{line}\n{line}"


def _guarded(line: str, _: Sequence[str], draw: random.Random) -> str:
    return f"@{draw.choice(['', '!'])}%p{draw.randint(1, 4)} {line.strip()}"


Kind = Callable[[str, Sequence[str], random.Random], str]
KINDS: tuple[Kind, ...] = (
    _other_opcode, _other_register, _other_register, _other_number, _other_number, _other_label, _another_line,
    _no_line, _guarded,
)  # fmt: skip


def kernels_of(text: str) -> list[str]:
    """The kernels of a text, each with what stands before the first one."""
    head, *kernels = re.split(r"(?m)^(?=\s*(?:\.visible\s+)?\.entry)", text)
    return [head + each for each in kernels]


def scanned(text: str, draw: random.Random) -> None:
    """Scan a text, and write what is found in every format."""
    try:
        module = read_module(text, "k.ptx")
        block, smem = draw.choice(BLOCKS), draw.choice((None, 4096))
        found = [
            access
            for place in scanned_functions(module)
            for access in scan_function(module, module.functions[place], block, smem=smem, suggest=True)
        ]
    except SwzError:
        return
    files = [ScannedFile("k.ptx", tuple(found), dict(module.files))]
    report = report_of(files)
    for form in Format:
        rendered(files, report, 0, form)


def _too_slow(*_: object) -> None:
    raise SlowError


def main() -> int:
    """Fuzz; the exit code is 1 where something was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--most", type=int, default=12_000, help="characters of a kernel")
    given = parser.parse_args()
    texts = [each for path in sorted(given.folder.glob("*.ptx")) for each in kernels_of(path.read_text("utf-8"))]
    texts = [each for each in texts if len(each) <= given.most]
    signal.signal(signal.SIGALRM, _too_slow)
    failures = 0
    slowest = 0.0
    for run in range(given.seed, given.seed + given.runs):
        draw = random.Random(run)  # noqa: S311 - no secret
        text = "\n".join(damaged(draw.choice(texts).split("\n"), draw))
        begin = time.monotonic()
        signal.alarm(given.seconds)
        try:
            scanned(text, draw)
        except Exception as error:  # noqa: BLE001 - every one is a finding
            failures += 1
            name = Path(f"finding-{run}.ptx")
            name.write_text(text, encoding="utf-8")
            sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
        finally:
            signal.alarm(0)
        slowest = max(slowest, time.monotonic() - begin)
    sys.stdout.write(f"{given.runs} runs on {len(texts)} kernels, {failures} findings, slowest {slowest:.1f} s\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

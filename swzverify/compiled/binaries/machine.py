"""The machine code that was made of a PTX text, as nvdisasm lists it.

Only a cubin that holds exactly this text counts, since its line numbers are those of the text.
Missing machine code is no error: there is a reason then, and the PTX is scanned without it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from swzverify.compiled.binaries.choice import runs_on
from swzverify.compiled.binaries.kinds import Kind, kind_of
from swzverify.compiled.binaries.ptx_table import ptx_of_cubin, shift_between
from swzverify.compiled.binaries.tools import COMPILE_S, MOST_BYTES, find_tool, run_tool
from swzverify.errors import SwzError

_MACHINE: Final = re.compile(r"\.(sm_\d+[af]?)\.cubin$")
_TARGET: Final = re.compile(r"^\s*\.target\s+(sm_\d{2,3}[af]?)\b", re.MULTILINE)
NOT_GIVEN: Final = "no machine code was given"
_NO_TABLE: Final = "the machine code has no table of PTX lines: build it with -lineinfo"
_OTHER_TEXT: Final = "the machine code was not made of this PTX text"
_FLAGS: Final = re.compile(r'^[ \t]*\.headerflags\s+@"[^"\n]*\bEF_CUDA_SM(\d{2,3})\b[^"\n]*"[ \t]*$', re.MULTILINE)
"""What nvdisasm lists in place of the target for a cubin of CUDA 12.

Source: nvdisasm 13.1 on cubins of ptxas 12.9 for sm_80 to sm_90a.
"""
_PTXAS: Final = frozenset({"-Xptxas", "--ptxas-options", "-maxrregcount", "--maxrregcount"})
_HEAD: Final = 2000
"""Characters of a listing in which the target stands."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine code of one PTX text: nvdisasm's listing.

    Its line numbers plus `shift` are those of the text. Without machine code, `reason` says why, and
    `listing` is empty.
    """

    listing: str = ""
    shift: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Cubin:
    """The bytes of machine code, and the PTX that it says it was made of."""

    data: bytes
    text: str | None


def machine_of_file(
    path: str, texts: Sequence[str], target: str, cubins: Sequence[str] = (), nvcc_arguments: Sequence[str] = ()
) -> list[Machine]:
    """The machine code of each PTX text of a file.

    For a CUDA source, nvcc makes it. Otherwise it is in the file, or in one of `cubins`.

    Raises:
        SwzError: SWZ531 if a file of `cubins` cannot be read.
    """
    kind, _ = kind_of(path)
    others = [kind_of(each) for each in cubins]
    if kind is Kind.PTX and not cubins:
        return [Machine(reason=NOT_GIVEN) for _ in texts]
    try:
        find_tool("nvdisasm")
        held = [each for (other, _), name in zip(others, cubins, strict=True) for each in _held(name, other, target)]
        if kind is Kind.SOURCE and not cubins:
            return [_assembled(text, target, nvcc_arguments) for text in texts]
        held += _held(path, kind, target)
    except SwzError as error:
        return [Machine(reason=error.message) for _ in texts]
    return [_matching(text, target, held) for text in texts]


def machine_of_cubin(text: str, data: bytes, target: str) -> Machine:
    """The machine code of a PTX text from the bytes of a cubin, which a compiler keeps beside it."""
    try:
        find_tool("nvdisasm")
    except SwzError as error:
        return Machine(reason=error.message)
    return _matching(text, target, [Cubin(data, ptx_of_cubin(data))])


def texts_of_machine(path: str, target: str) -> list[str]:
    """The PTX texts that the machine code in a binary says it was made of, each once."""
    return list(dict.fromkeys(each.text for each in _held(path, kind_of(path)[0], target) if each.text is not None))


def _matching(text: str, target: str, held: Sequence[Cubin]) -> Machine:
    if not held:
        return Machine(reason=f"there is no machine code for {target}")
    found = Machine(reason=_NO_TABLE if all(each.text is None for each in held) else _OTHER_TEXT)
    for each in held:
        shift = None if each.text is None else shift_between(text, each.text)
        if shift is None:
            continue
        found = _listed(each.data, shift)
        code = _TARGET.search(found.listing, 0, _HEAD)
        if found.reason or code is None or runs_on(code[1], target) is not None:
            return found
        found = Machine(reason=f"the machine code is of {code[1]}, which {target} does not run")
    return found


def _assembled(text: str, target: str, nvcc_arguments: Sequence[str]) -> Machine:
    """What ptxas, which nvcc calls, makes of a text."""
    found = _TARGET.search(text)
    if found is None:
        return Machine(reason="the PTX text names no target")
    try:
        with TemporaryDirectory(prefix="swzverify-") as name:
            folder = Path(name)
            given, out = folder / "in.ptx", folder / "out.cubin"
            given.write_text(text, encoding="utf-8")
            tool = find_tool("nvcc")
            options = ["-cubin", "-lineinfo", f"-arch={found[1]}", *_for_ptxas(nvcc_arguments)]
            command = [tool, *options, "-o", str(out), str(given)]
            ran = run_tool(command, folder, COMPILE_S)
            if ran.code or not out.is_file():
                return Machine(reason=f"ptxas failed with code {ran.code}")
            data = out.read_bytes()
    except SwzError as error:
        return Machine(reason=error.message)
    return _matching(text, target, [Cubin(data, ptx_of_cubin(data))])


def _for_ptxas(arguments: Sequence[str]) -> list[str]:
    """Those of nvcc's options that change what ptxas does."""
    found: list[str] = []
    for each, following in zip_longest(arguments, arguments[1:]):
        name, equals, _ = each.partition("=")
        if name in _PTXAS:
            found += [each] if equals or following is None else [each, following]
    return found


def _held(path: str, kind: Kind, target: str) -> list[Cubin]:
    """The machine code in a file that the target runs, the newest first."""
    if kind is not Kind.BINARY:
        return []
    if kind_of(path)[1] == "cubin":
        data = _bytes(Path(path))
        return [Cubin(data, ptx_of_cubin(data))]
    with TemporaryDirectory(prefix="swzverify-") as name:
        # The tool writes into its folder, where its own output must not lie.
        folder = Path(name)
        inside = folder / "cubins"
        inside.mkdir()
        given = folder / "input"
        os.symlink(os.path.abspath(path), given)
        run_tool([find_tool("cuobjdump"), "-xelf", "all", str(given)], folder, cwd=inside)
        ranked = [(rank, each) for each in sorted(inside.iterdir()) if (rank := _rank(each.name, target)) is not None]
        ranked.sort(key=lambda pair: pair[0], reverse=True)
        datas = [_bytes(each) for _, each in ranked]
    return [Cubin(data, ptx_of_cubin(data)) for data in datas]


def _rank(name: str, target: str) -> int | None:
    found = _MACHINE.search(name)
    return runs_on(found[1], target) if found else None


def _bytes(path: Path) -> bytes:
    if path.stat().st_size > MOST_BYTES:
        raise SwzError("SWZ543", f"the machine code has more than {MOST_BYTES >> 20} MiB")
    return path.read_bytes()


def listing_of_cubin(data: bytes, *options: str) -> str:
    """What nvdisasm writes of the code of a cubin, with options beside `-c`.

    Raises:
        SwzError: SWZ542 without nvdisasm, SWZ543 if it fails.
    """
    with TemporaryDirectory(prefix="swzverify-") as name:
        folder = Path(name)
        given = folder / "input.cubin"
        given.write_bytes(data)
        ran = run_tool([find_tool("nvdisasm"), *options, "-c", str(given)], folder)
        if ran.code:
            told = " ".join(ran.err.split())[:200]
            raise SwzError("SWZ543", f"nvdisasm failed with code {ran.code}: {told}")
        return ran.out.read_text(encoding="utf-8", errors="replace")


def _listed(data: bytes, shift: int) -> Machine:
    try:
        return Machine(with_target(listing_of_cubin(data, "-gp")), shift)
    except SwzError as error:
        return Machine(reason=error.message)


def with_target(listing: str) -> str:
    r"""A listing with its target, also for a cubin of CUDA 12.

    >>> with_target('\t.headerflags\t@"EF_CUDA_ACCELERATORS EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"\n')
    '\t.target\tsm_90a\n'
    """
    found = _FLAGS.search(listing, 0, _HEAD)
    if found is None:
        return listing
    suffix = "a" if "EF_CUDA_ACCELERATORS" in found[0] else ""
    return f"{listing[: found.start()]}\t.target\tsm_{found[1]}{suffix}{listing[found.end() :]}"

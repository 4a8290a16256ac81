"""From a file of any kind to the PTX texts that it stands for.

The user's nvcc makes the PTX of CUDA source.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from swzverify.compiled.binaries.choice import chosen
from swzverify.compiled.binaries.fatbin import texts_of_binary
from swzverify.compiled.binaries.kinds import Kind, kind_of
from swzverify.compiled.binaries.machine import texts_of_machine
from swzverify.compiled.binaries.tools import COMPILE_S, find_tool, run_tool
from swzverify.errors import SwzError, graphic


@dataclass(frozen=True, slots=True)
class PtxText:
    """PTX that a file stands for.

    `origin` is its place in the file; it is empty for a PTX file.
    """

    text: str
    origin: str


def ptx_of_file(path: str, target: str, nvcc_arguments: Sequence[str] = ()) -> list[PtxText] | None:
    """The PTX texts of a file for a target; None for a PTX file: it is read as it is.

    Raises:
        SwzError: SWZ531 for no file, SWZ541 if there is no PTX for the target, SWZ542 and SWZ543 if a
            tool is missing or fails.
    """
    kind, words = kind_of(path)
    if kind is Kind.PTX:
        return None
    if kind is Kind.SOURCE:
        return [PtxText(compile_source(path, target, nvcc_arguments), "compiled with nvcc")]
    try:
        held = texts_of_binary(path, words)
    except SwzError as error:
        # Machine code may hold the PTX that it was made of.
        if error.code == "SWZ541" and (texts := texts_of_machine(path, target)):
            return [PtxText(text, "PTX that the machine code holds") for text in texts]
        raise
    found = chosen(held, target)
    if not found:
        targets = ", ".join(dict.fromkeys(each.target for each in held))
        hint = f"give --target {held[-1].target}, or build PTX for {target} or an older GPU"
        raise SwzError(
            "SWZ541", f"{graphic(path)}: it holds PTX of {targets} only, which {target} cannot run", hint=hint
        )
    return [PtxText(each.text, f"PTX {each.number} of {len(held)}, of {each.target}") for each in found]


_PLAIN: Final = re.compile(r"[\w ./+,=@-]+")
_SAYS_TARGET: Final = re.compile(r"--?(?:arch|gpu-architecture|gencode|generate-code)(?:=.*)?")


def compile_source(path: str, target: str, arguments: Sequence[str] = ()) -> str:
    """The PTX that nvcc makes of a source file, with line numbers.

    Raises:
        SwzError: SWZ542 without nvcc, SWZ543 with nvcc's own message if it fails.
    """
    tool = find_tool("nvcc")
    place = os.path.abspath(path)
    if not _PLAIN.fullmatch(place):
        # nvcc hands names to a shell.
        raise SwzError(
            "SWZ543",
            f"{graphic(path)}: its name has characters that nvcc's own commands would act on",
            hint="rename it, or compile it with `nvcc -ptx -lineinfo` and give the .ptx",
        )
    with TemporaryDirectory(prefix="swzverify-") as name:
        folder = Path(name)
        out = folder / "out.ptx"
        wanted = () if any(map(_SAYS_TARGET.fullmatch, arguments)) else (f"-arch={target}",)
        command = [tool, "-ptx", "-lineinfo", *wanted, *arguments, "-o", str(out), place]
        ran = run_tool(command, folder, COMPILE_S, cwd=Path.cwd())
        if ran.code or not out.is_file():
            said = ran.err.strip() or ran.out.read_text(encoding="utf-8", errors="replace")[:5000].strip()
            raise SwzError(
                "SWZ543",
                f"{graphic(path)}: nvcc failed with code {ran.code}",
                hint=f"{said}\n--nvcc-arg gives nvcc an option, such as --nvcc-arg=-Iinclude",
            )
        return out.read_text(encoding="utf-8", errors="replace")

"""PTX of CUDA source, through the user's nvcc."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from swzverify.compiled.binaries.tools import COMPILE_S, find_tool, run_tool
from swzverify.errors import SwzError, graphic

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

"""The PTX texts in a binary, through `cuobjdump -ptx`.

`cuobjdump -xptx` would write files, and two objects of one name would overwrite each other's files;
the dump has every text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from swzverify.compiled.binaries.choice import Held
from swzverify.compiled.binaries.tools import find_tool, run_tool
from swzverify.errors import SwzError, graphic

_HEADING: Final = re.compile(r"^Fatbin ptx code:\n=+\n", re.MULTILINE)
_ARCH: Final = re.compile(r"^arch = (sm_\w+)$", re.MULTILINE)
_MACHINE: Final = re.compile(r"\.(sm_\d+[af]?)\.cubin\b")
_VERSION: Final = re.compile(r"^\.version\b", re.MULTILINE)
_NO_CODE: Final = "does not contain device code"
_NO_PTX: Final = "No PTX file found"


def texts_of_binary(path: str, words: str) -> list[Held]:
    """All PTX texts of a file; `words` say what it is.

    Raises:
        SwzError: SWZ541 if it holds none, SWZ542 if cuobjdump is missing, SWZ543 if it fails.
    """
    tool = find_tool("cuobjdump")
    with TemporaryDirectory(prefix="swzverify-") as name:
        folder = Path(name)
        # Whatever the file is called, the tool sees this name.
        given = folder / "input"
        os.symlink(os.path.abspath(path), given)
        ran = run_tool([tool, "-ptx", str(given)], folder)
        dump = ran.out.read_text(encoding="utf-8", errors="replace")
        held = texts_of_dump(dump)
        if held:
            return held
        if _NO_CODE in ran.err:
            hint = "give the program or library that has the kernels, or their .ptx"
            raise SwzError("SWZ541", f"{graphic(path)}: this {words} has no code for a GPU", hint=hint)
        if ran.code and _NO_PTX not in ran.err:
            said = " ".join(ran.err.replace(str(given), path).split())[:500]
            raise SwzError("SWZ543", f"{graphic(path)}: cuobjdump failed with code {ran.code}: {said or 'no message'}")
        listed = run_tool([tool, "-lelf", str(given)], folder)
        machines = sorted(set(_MACHINE.findall(listed.out.read_text(encoding="utf-8", errors="replace"))))
    what = f"machine code of {', '.join(machines)} only" if machines else "no PTX that cuobjdump finds"
    number = machines[-1].removeprefix("sm_") if machines else "90"
    raise SwzError(
        "SWZ541",
        f"{graphic(path)}: this {words} holds no PTX: {what}",
        hint=f"build it with -gencode arch=compute_{number},code=compute_{number} as well, and with -lineinfo for"
        " source lines; or give the .ptx that `nvcc -ptx` writes",
    )


def texts_of_dump(dump: str) -> list[Held]:
    r"""The texts of what `cuobjdump -ptx` prints, with their targets.

    >>> dump = "Fatbin ptx code:\n====\narch = sm_90a\nhost = linux\n\n.version 9.0\n.target sm_90a\n"
    >>> [(each.target, each.text) for each in texts_of_dump(dump)]
    [('sm_90a', '.version 9.0\n.target sm_90a\n')]
    """
    held: list[Held] = []
    for part in _HEADING.split(dump)[1:]:
        begin = _VERSION.search(part)
        arch = _ARCH.search(part, 0, begin.start()) if begin else None
        if begin is not None and arch is not None:
            # Another fatbin's ELF may follow in the dump; its heading is no PTX.
            text = part[begin.start() :].split("\nFatbin ", 1)[0]
            held.append(Held(arch[1], text.rstrip("\n") + "\n", len(held) + 1))
    return held

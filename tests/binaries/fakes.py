"""Stand-ins for NVIDIA's tools."""

from __future__ import annotations

from pathlib import Path

import pytest

PTX = ".version 8.3\n.target {target}\n.address_size 64\n.entry {kernel}()\n{{\nret;\n}}\n"


def ptx(target: str, kernel: str = "k") -> str:
    """A kernel that does nothing."""
    return PTX.format(target=target, kernel=kernel)


def dump(*texts: tuple[str, str]) -> str:
    """What `cuobjdump -ptx` prints of targets and texts."""
    return "".join(
        f"\nFatbin ptx code:\n================\narch = {target}\ncode version = [8,3]\nhost = linux\n\n\n{text}\n"
        for target, text in texts
    )


def only_tool(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str = "", body: str = "") -> Path:
    """A PATH with this tool alone, a script of shell; where else tools are looked for is empty."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    monkeypatch.setenv("PATH", f"{tools}")
    for variable in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("swzverify.compiled.binaries.tools._USUAL", str(folder / "nothing"))
    monkeypatch.setattr("swzverify.compiled.binaries.tools._WHEELS", {})
    if name:
        (tools / name).write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{body}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    return tools


def cuobjdump(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    """A cuobjdump that prints this text, whatever it is asked for."""
    (folder / "dump.txt").write_text(text, encoding="utf-8")
    only_tool(monkeypatch, folder, "cuobjdump", f"cat '{folder}/dump.txt'")

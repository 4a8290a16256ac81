"""Builds the PTX of the manifest: `python -m tests.corpus.build FOLDER [--only PART]`.

`FOLDER/src` gets the repositories at the manifest's commits, `FOLDER/ptx` a PTX file for each file
of the manifest that has none there yet. Needs git, a network and nvcc. A file of the manifest may
have a `build`:

- `include`: folders of its repository that nvcc is to search, or `OWNER/NAME:FOLDER` for those of
  another repository;
- `flags`: further flags of nvcc; an `-arch=...` among them takes the place of `sm_90`;
- `source`: lines of a file of ours that is compiled instead, and that includes the file;
- `replace`: texts of the file, and what stands in their place in the copy that is compiled;
- `triton`: the kernel is one of Triton, which is compiled by `triton_kernels.ptx_of`; it needs Triton;
- `headers`: empty headers to be found by their names, in place of those of libraries that the
  kernels do not need.

A repository may have `include` and `flags` for all its files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.corpus.pool import MANIFEST, name_of
from tests.corpus.triton_kernels import ptx_of

REMOTE = "https://github.com/{owner}/{name}"
PATIENCE = 1200
"""Seconds that nvcc may take for one file: CUTLASS and FlashAttention need minutes."""


def source_of(sources: Path, repository: str) -> Path:
    """The folder of a repository's files."""
    return sources / repository.replace("/", "__")


def fetch(sources: Path, repository: str, commit: str, remote: str) -> None:
    """Bring one commit of a repository, unless it is there.

    Raises:
        subprocess.CalledProcessError: git has no such commit, or no way to it.
    """
    folder = source_of(sources, repository)
    if (folder / ".git" / "HEAD").exists():
        return
    owner, name = repository.split("/")
    folder.mkdir(parents=True, exist_ok=True)
    for words in (
        ("init", "--quiet"),
        ("fetch", "--quiet", "--depth", "1", remote.format(owner=owner, name=name), commit),
        ("-c", "advice.detachedHead=false", "checkout", "--quiet", "FETCH_HEAD"),
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True, timeout=PATIENCE)


def command(sources: Path, each: dict[str, Any], whole: dict[str, Any], work: Path, out: Path) -> list[str]:
    """The call of nvcc that makes the PTX of one file; `work` gets what it needs beside the sources."""
    root = source_of(sources, each["repository"])
    build = each.get("build", {})
    path = root / each["file"]
    if "replace" in build:
        text = path.read_text(encoding="utf-8")
        for old, new in build["replace"].items():
            text = text.replace(old, new)
        path = work / path.name
        path.write_text(text, encoding="utf-8")
    if "source" in build:
        path = work / "wrapper.cu"
        path.write_text("\n".join(build["source"]) + "\n", encoding="utf-8")
    for header in build.get("headers", ()):
        (work / header).parent.mkdir(parents=True, exist_ok=True)
        (work / header).write_text("#pragma once\n", encoding="utf-8")
    folders = [work, root / Path(each["file"]).parent]
    for include in (*whole.get("include", ()), *build.get("include", ())):
        owner, _, inner = include.rpartition(":")
        folders.append(source_of(sources, owner or each["repository"]) / inner)
    flags = [*whole.get("flags", ()), *build.get("flags", ())]
    if not any(flag.startswith("-arch") for flag in flags):
        flags.insert(0, "-arch=sm_90")
    includes = [f"-I{folder}" for folder in folders]
    return ["nvcc", "-ptx", "-lineinfo", "-std=c++17", "-w", *flags, *includes, "-o", str(out), str(path)]


def build(folder: Path, each: dict[str, Any], whole: dict[str, Any]) -> str:
    """Compile one file; what went wrong in a line, or nothing."""
    try:
        return _built(folder, each, whole)
    except (OSError, ModuleNotFoundError, subprocess.TimeoutExpired) as error:
        return f"{name_of(each['repository'], each['file'])}: {error}"


def _built(folder: Path, each: dict[str, Any], whole: dict[str, Any]) -> str:
    sources, out = folder / "src", folder / "ptx" / name_of(each["repository"], each["file"])
    if not out.exists() and "triton" in each.get("build", {}):
        root, (file, _, kernel) = source_of(sources, each["repository"]), each["file"].rpartition("/")
        with tempfile.TemporaryDirectory() as work:
            out.write_text(ptx_of(root / file, kernel, each["build"]["triton"], Path(work)), encoding="utf-8")
    if not out.exists():
        with tempfile.TemporaryDirectory() as work:
            words = command(sources, each, whole, Path(work), Path(work) / "out.ptx")
            done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode:
                lines = [line for line in (done.stderr + done.stdout).splitlines() if "error" in line]
                return f"{out.name}: nvcc ends with {done.returncode}: {(lines or ['no message'])[0]}"
            out.write_bytes((Path(work) / "out.ptx").read_bytes())
    text = out.read_text(encoding="utf-8", errors="replace")
    missing = [kernel["name"] for kernel in each["kernels"] if f".entry {kernel['name']}(" not in text]
    return f"{out.name}: no kernel {', '.join(missing)}" if missing else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch and compile what is missing; 1 where a file or a kernel of the manifest is not made."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.build", description="Compile public kernels.")
    parser.add_argument("folder", type=Path, help="gets src and ptx")
    parser.add_argument("--manifest", type=Path, default=MANIFEST)
    parser.add_argument("--only", default="", help="files whose repository and path have this text in them")
    parser.add_argument("--remote", default=REMOTE, help="where a repository is, with {owner} and {name}")
    parser.add_argument("-j", type=int, default=2, dest="workers")
    chosen = parser.parse_args(arguments)
    manifest = json.loads(chosen.manifest.read_text(encoding="utf-8"))
    files = [each for each in manifest["files"] if chosen.only in f"{each['repository']}/{each['file']}"]
    (chosen.folder / "ptx").mkdir(parents=True, exist_ok=True)
    wanted = {each["repository"] for each in files}
    for each in files:
        whole = manifest["repositories"][each["repository"]]
        for include in (*whole.get("include", ()), *each.get("build", {}).get("include", ())):
            wanted.update(owner for owner in [include.rpartition(":")[0]] if owner)
    for repository in sorted(wanted):
        commit = manifest["repositories"][repository]["commit"]
        try:
            fetch(chosen.folder / "src", repository, commit, chosen.remote)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"{repository} at {commit} cannot be fetched: {error}")
            return 1
    with ThreadPoolExecutor(chosen.workers) as pool:
        wholes = [manifest["repositories"][each["repository"]] for each in files]
        lost = [line for line in pool.map(build, [chosen.folder] * len(files), files, wholes) if line]
    print("\n".join([*lost, f"{len(files) - len(lost)} of {len(files)} files are as the manifest says"]))
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())

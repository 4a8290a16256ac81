"""Command line of the oracle: runs a kernel of a PTX file, and prints its accesses as a table.

    python -m tests.ptx_oracle FILE.ptx --list
    python -m tests.ptx_oracle FILE.ptx --kernel NAME --auto [--block 32,8]
    python -m tests.ptx_oracle FILE.ptx --kernel NAME --grid 2 --block 32,8 --smem 0 \\
        --names out,in,width --param width=64 --buffer in=8192:f32

A parameter is named by its place (from 0), its PTX name, the end of that (param_0), or a name of
--names; NAME+16 means the part of a struct at byte 16. What is not given is chosen (see the module
`auto`), unless --strict is. With --auto, several launches are chosen. Exit status 1: the launch
stopped with an error, which the output tells too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .auto import WHOLE, automatic
from .buffers import Argument, Buffer, Field, Record
from .errors import OracleError
from .launch import STEPS, Result, launch, parsed, place_of
from .model import Function, Symbol
from .summary import Summary, run_auto, summarize


def options(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.ptx_oracle", description=__doc__.split("\n\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--list", action="store_true", help="list the kernels and their parameters")
    parser.add_argument("--kernel", help="may be left out if the file has one kernel")
    parser.add_argument("--json", action="store_true", help="print everything that is known, as JSON")
    parser.add_argument("--auto", action="store_true", help="choose several launches, and join them")
    parser.add_argument("--grid", help="one block if left out")
    parser.add_argument("--block", help="the kernel's .reqntid or .maxntid if left out")
    parser.add_argument("--smem", type=int, help="bytes of dynamic shared memory")
    parser.add_argument("--names", default="", help="own names of the parameters, in order, with commas")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--buffer", action="append", default=[], metavar="NAME=BYTES:CONTENTS")
    parser.add_argument("--whole", type=int, default=WHOLE, help="value of whole numbers that are not given")
    parser.add_argument("--strict", action="store_true", help="choose nothing; bad addresses are errors")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-blocks", type=int, default=0, help="run only so many blocks of the grid")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps after which a launch is cut off")
    return parser.parse_args(words)


def number(text: str) -> int | float:
    """A whole number in any base, or a float."""
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def shape(text: str) -> list[int]:
    """A shape such as 32,8,1."""
    return [int(part) for part in text.split(",")]


def given_values(chosen: argparse.Namespace, entry: Function) -> dict[int, Argument]:
    """The arguments of the command line, by place.

    Parts of structs go into the struct that would be chosen.
    """
    names = [name for name in chosen.names.split(",") if name]
    found: dict[int, Argument] = {}
    values: list[tuple[str, int | float | Buffer]] = []
    for text in chosen.param:
        name, _, value = text.partition("=")
        values.append((name, number(value)))
    for text in chosen.buffer:
        name, _, value = text.partition("=")
        size, _, fill = value.partition(":")
        values.append((name, Buffer(int(size, 0), fill or "zero")))
    for name, value in values:
        whole, _, offset = name.partition("+")
        place = place_of(whole, entry, names)
        if not offset:
            found[place] = value
            continue
        record = found.get(place) or automatic(entry, chosen.whole).get(place)
        if not isinstance(record, Record):
            raise OracleError(f"parameter {whole} is no struct whose parts the kernel loads")
        found[place] = with_part(record, int(offset, 0), value)
    return found


def with_part(record: Record, offset: int, value: float | Buffer) -> Record:
    """A struct with another value at an offset."""
    old = next((part for part in record.fields if part.offset == offset), None)
    if old is None:
        kind = "u64" if isinstance(value, Buffer) else "f32" if isinstance(value, float) else "u32"
        return replace(record, fields=(*record.fields, Field(offset, kind, value)))
    kind = "u64" if isinstance(value, Buffer) else old.type
    fields = tuple(Field(offset, kind, value) if part is old else part for part in record.fields)
    return replace(record, fields=fields)


def listing(text: str) -> list[dict[str, Any]]:
    """The kernels of a file."""
    return [
        {
            "kernel": name,
            "line": function.line,
            "params": [f"{p.type} {p.name} ({p.size} bytes)" for p in function.params if isinstance(p, Symbol)],
            "directives": function.directives,
        }
        for name, function in parsed(text).functions.items()
        if function.entry
    ]


def only_entry(text: str) -> str:
    """The name of the one kernel of a file."""
    names = [kernel["kernel"] for kernel in listing(text)]
    if len(names) != 1:
        raise OracleError(f"say with --kernel which kernel: {names}")
    return names[0]


def answer(chosen: argparse.Namespace) -> Result | Summary:
    """Run what the command line asks for."""
    text = chosen.file.read_text()
    name = chosen.kernel or only_entry(text)
    entry = parsed(text).function(name)
    if entry is None:
        raise OracleError(f"no kernel {name!r}; there are {[kernel['kernel'] for kernel in listing(text)]}")
    declared = entry.directives.get("reqntid") or entry.directives.get("maxntid")
    block = shape(chosen.block) if chosen.block else None
    grid = shape(chosen.grid) if chosen.grid else None
    values: dict[str | int, Argument] = {**given_values(chosen, entry)}
    if chosen.auto:
        return run_auto(text, name, block, chosen.smem, values, grid=grid, steps=chosen.steps)
    if block is None and declared is None:
        raise OracleError("say with --block how large a block is")
    if not chosen.strict:
        values = {**automatic(entry, chosen.whole), **values}
    return launch(
        text,
        name,
        grid or [1],
        block or list(declared or ()),
        chosen.smem or 0,
        values,
        chosen.seed,
        auto=not chosen.strict,
        strict=chosen.strict,
        steps=chosen.steps,
        max_blocks=chosen.max_blocks,
    )


def shown(found: Result | Summary) -> str:
    """A table, and below it what went wrong."""
    summary = found if isinstance(found, Summary) else summarize({"launch": found})
    notes = [f"{name}: {error}" for name, error in summary.errors.items()]
    if isinstance(found, Result):
        notes += [f"warning: {warning}" for warning in found.warnings]
        notes += [f"not executed: {unknown}" for unknown in found.unknown]
    return "\n".join([summary.table(), *notes])


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; give the exit status."""
    chosen = options(words)
    try:
        if chosen.list:
            print(json.dumps(listing(chosen.file.read_text()), indent=1))
            return 0
        found = answer(chosen)
    except OracleError as error:
        told = f"{type(error).__name__}: {error}"
        print(json.dumps({"error": told}, indent=1) if chosen.json else told)
        return 1
    print(json.dumps(found.as_json(), indent=1) if chosen.json else shown(found))
    return 1 if isinstance(found, Result) and found.error else 0


if __name__ == "__main__":
    sys.exit(main())

"""A spec with the accesses that a scan decided, each with the claim that pins its verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from swzverify.compiled.scan import ScannedAccess
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile

_NOT_IN_NAMES = re.compile(r"\W+", re.ASCII)


def scan_spec(files: Iterable[ScannedFile], target: str) -> str:
    """The spec as YAML; accesses that it does not say stand in comments, with the reason."""
    accesses: list[str] = []
    claims: list[str] = []
    taken: set[str] = set()
    for file in files:
        accesses.append(f"  # {visible(file.name)}")
        for access in file.accesses:
            place = f"line {access.line}: {visible(access.instruction)}"
            if access.written.reason:
                accesses.append(f"  # {place}: not written: {visible(access.written.reason)}")
                continue
            name = _name(access, taken)
            accesses += [f"  # {place}", f"  {name}:", *(f"    {line}" for line in _keys(access))]
            kind, wavefronts = access.written.claim
            stated = f"{{access: {name}, at_most: {wavefronts}}}" if wavefronts is not None else name
            claims.append(f"  - {kind}: {stated}")
    lines = ["swzverify: 1", f"target: {target}"]
    if claims:
        lines += ["accesses:", *accesses, "claims:", *claims]
    else:
        lines += [*(line.strip() for line in accesses), "claims: []"]
    return "\n".join(lines) + "\n"


def _name(access: ScannedAccess, taken: set[str]) -> str:
    """A name that no access has yet: of its kernel, its line, and the lines of the calls."""
    words = [_NOT_IN_NAMES.sub("_", access.kernel)[:60], *map(str, access.calls), str(access.line)]
    name = plain = "_".join(["k", *words])
    number = 1
    while name in taken:
        number += 1
        name = f"{plain}_{number}"
    taken.add(name)
    return name


def _keys(access: ScannedAccess) -> Iterator[str]:
    said = access.written
    yield f"instruction: {said.instruction}"
    yield f"block: {list(access.block or ())}"
    if said.loops:
        yield f"for: {{{', '.join(f'{name}: {text}' for name, text in said.loops.items())}}}"
    if said.lanes:
        yield f"lanes: {{{', '.join(f'{name}: {text}' for name, text in said.lanes.items())}}}"
    yield f"address: {json.dumps(said.address)}"
    yield f"base: {0 if said.base_align is None else f'{{align: {said.base_align}}}'}"
    if said.condition:
        yield f"if: {json.dumps(said.condition)}"

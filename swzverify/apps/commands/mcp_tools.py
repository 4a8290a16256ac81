"""What an agent may ask: each tool is a function whose docstring the agent reads."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from typing import Any

import click

from swzverify.apps.commands.explain import explain as explanations
from swzverify.apps.commands.scan_launch import launch_of
from swzverify.apps.commands.show import is_file
from swzverify.apps.commands.show import show as picture
from swzverify.apps.commands.synth import synthesize
from swzverify.apps.options.explain import ExplainOptions
from swzverify.apps.options.prove import STDIN, Settings
from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.options.shared import LayoutOptions
from swzverify.apps.options.show import ShowOptions
from swzverify.apps.options.synth import SynthOptions
from swzverify.apps.run.one_case import named
from swzverify.apps.run.reading import read_spec
from swzverify.apps.run.run import run_specs
from swzverify.apps.run.scan import scan_files
from swzverify.errors import SwzError
from swzverify.explain.pictures.text import render_text
from swzverify.report.escape import log_lines
from swzverify.report.explain_json import render_explanations_json
from swzverify.report.json import render_json
from swzverify.report.plain import json_text, to_json
from swzverify.report.scan import scan_json
from swzverify.report.synth_json import render_synth_json
from swzverify.search.costs import cost as cost_of
from swzverify.spec import Spec, load_spec
from swzverify.spec.beside import within

OUTSIDE = "SWZ612"
TOO_MUCH = "SWZ613"
MOST_CHARACTERS = 100_000
"""The longest answer."""
MOST_CLAIMS = 256
"""Claims of one call of `prove`, those of all cases."""
MOST_PTX_BYTES = 2**20
MOST_TRIALS = 200
MOST_ROWS = 32
COST_SCHEMA = "swzverify.cost/1"


def prove(path: str = "", text: str = "", select: list[str] | None = None) -> str:
    """Prove the claims of a spec: the file at a path, or the text of a spec that is no file yet.

    Answers with the JSON report: each claim with verdict, scope, cost, counterexample and proved cures.
    `select` takes kinds of claims, such as conflict_free. A kernel source is read for the contract in its
    comments.
    """
    if bool(path) == bool(text):
        raise SwzError(TOO_MUCH, "prove takes a path or a text, one of the two")
    data = text.encode("utf-8", "replace") if text else None
    file = STDIN if text else inside(path)
    spec = read_spec(file, None, data)
    kinds = tuple(select or ())
    if isinstance(spec, Spec):
        count = sum(not kinds or claim.kind in kinds for claim in spec.claims)
        if count > MOST_CLAIMS:
            hint = "select kinds of claims, or split the spec"
            raise SwzError(TOO_MUCH, f"{count} claims, at most {MOST_CLAIMS} are proved in one call", hint=hint)
    return render_json(run_specs([file], Settings(jobs=1, select=kinds, stdin=data)))


def scan(
    path: str,
    kernel: str = "",
    block: str = "",
    param: list[str] | None = None,
    assume: list[str] | None = None,
    smem: str = "",
    target: str = "sm_90",
) -> str:
    """Find bank conflicts, misaligned accesses and races of compiled kernels in a PTX file.

    `block` has the threads of a block, such as 32,8,1; `param` values of integer parameters, such as
    lda=128; `assume` C conditions on parameters; `smem` the bytes of dynamic shared memory.
    """
    file = inside(path)
    if not file.endswith(".ptx"):
        hint = "nvcc --ptx -lineinfo kernel.cu makes one; swzverify scan takes other files"
        raise SwzError(TOO_MUCH, f"'{path}' is no .ptx file: nothing is compiled for an agent", hint=hint)
    if os.path.getsize(file) > MOST_PTX_BYTES:
        message = f"{path} has more than {MOST_PTX_BYTES} bytes, the most that is scanned in one call"
        raise SwzError(TOO_MUCH, message, hint="swzverify scan takes larger files")
    options = ScanOptions(
        (file,),
        kernel=kernel or None,
        blocks=(block,) if block else (),
        target=target,
        smem=smem or None,
        parameters=tuple(param or ()),
        assumptions=tuple(assume or ()),
        suggest=False,
        trials=MOST_TRIALS,
        jobs=1,
    )
    return scan_json(scan_files(options, launch_of(options)))


def synth(path: str, family: str = "swizzle", tile: str = "") -> str:
    """Find the best layout of a tile for all accesses of a spec, and prove it; the spec stays as it is.

    `family` is swizzle, tma, pad, pad+swizzle or xor. The answer has the changed spec, CuTe C++ and CUDA.
    """
    return render_synth_json(synthesize(SynthOptions(inside(path), family=family, tile=tile or None)))


def explain(
    what: str,
    access: str = "",
    tile: str = "",
    claim: str = "",
    element: str = "",
    coord: str = "",
    instruction: str = "",
) -> str:
    """Explain why an access takes its wavefronts, and what other swizzles or pads would do.

    `what` is the path of a spec, or a layout in CuTe's notation, such as (32,32):(32,1); beside a layout
    `coord` says what each lane accesses, such as lane,0.
    """
    layout = LayoutOptions(element or None, coord or None, instruction or None)
    options = ExplainOptions(_what(what), access or None, tile or None, claim or None, layout)
    return render_explanations_json(explanations(options))


def show(
    what: str,
    access: str = "",
    tile: str = "",
    view: str = "",
    element: str = "",
    coord: str = "",
    instruction: str = "",
) -> str:
    """Draw a tile or an access as text: banks, lanes, offsets.

    `what` is as in explain. Views of a tile are logical, physical and swizzle, those of an access groups,
    ownership and swizzle.
    """
    layout = LayoutOptions(element or None, coord or None, instruction or None)
    accesses = (access,) if access else ()
    found = picture(ShowOptions(_what(what), view or None, tile or None, accesses, layout=layout), MOST_ROWS)
    return log_lines(render_text(found))


def cost(path: str, access: str = "") -> str:
    """The wavefronts and bank conflicts of the accesses of a spec, or of one, in each case of the constants.

    The costs are computed, not proved: they hold for the worst warp instruction of all.
    """
    spec = load_spec(inside(path))
    rows: list[dict[str, object]] = []
    for case in spec.cases:
        chosen = {access: named(case.accesses, access, "access", path)} if access else case.accesses
        for name, each in chosen.items():
            row: dict[str, object] = {"access": name, "case": dict(case.chosen)}
            try:
                found = cost_of(each)
            except SwzError as error:
                rows.append({**row, "error": f"{error.code}: {error.message}"})
                continue
            keys = ("wavefronts", "minimum", "bank_conflicts", "total_wavefronts", "instructions", "where")
            rows.append({**row, **{key: to_json(getattr(found, key)) for key in keys}})
    return json_text({"schema": COST_SCHEMA, "spec": path, "accesses": rows})


TOOLS: tuple[Callable[..., str], ...] = (prove, scan, synth, explain, show, cost)
"""The tools, in the order in which agents see them."""


def called(tool: Callable[..., str], arguments: Mapping[str, Any]) -> str:
    """The answer of a tool.

    Raises:
        SwzError: SWZ612 for a file outside of the root, SWZ613 for a question that is too large or is none;
            those of the command.
        SpecError: The spec cannot be read.
    """
    try:
        found = tool(**arguments)
    except click.ClickException as error:
        raise SwzError(TOO_MUCH, error.format_message()) from error
    except OSError as error:
        raise SwzError(OUTSIDE, f"cannot be read: {error.strerror}") from error
    if len(found) > MOST_CHARACTERS:
        message = f"the answer has {len(found)} characters, at most {MOST_CHARACTERS} are sent"
        raise SwzError(TOO_MUCH, message, hint="ask for one access, one kernel or some kinds of claims")
    return found


def inside(path: str) -> str:
    """The path of a regular file below the root, links followed, from the root.

    Raises:
        SwzError: SWZ612 for any other.
    """
    try:
        real = within(path)
    except ValueError:  # a zero byte, or another drive
        real = None
    if real is None:
        raise SwzError(OUTSIDE, f"{path!r} lies outside of the server's root", hint="name a file below it")
    if not os.path.isfile(real) or not stat.S_ISREG(os.stat(real).st_mode):
        raise SwzError(OUTSIDE, f"there is no file {path!r} below the server's root")
    return os.path.relpath(real).replace(os.sep, "/")


def _what(what: str) -> str:
    return inside(what) if is_file(what) else what

"""`swzverify synth`: the best layout of a tile in a family, or of a listing's code, proved."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from time import perf_counter
from typing import NoReturn

import click

from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.synth_listing import synthesize_listing, synthesize_operand
from swzverify.apps.commands.terminal import Failure, echo, terminal_style
from swzverify.apps.commands.writing import write_text
from swzverify.apps.options.declare import asked
from swzverify.apps.options.synth import OF_LISTINGS, OF_OPERANDS, SynthOptions
from swzverify.claims import ConflictFree
from swzverify.claims.likeness import likeness
from swzverify.errors import SwzError, nearest
from swzverify.hardware import Target
from swzverify.prover import Options
from swzverify.report.escape import visible
from swzverify.report.style import TextStyle
from swzverify.report.synth import SynthResult, render_synth
from swzverify.report.synth_json import render_synth_json
from swzverify.report.synth_listing import ListingResult, render_listing, render_listing_json
from swzverify.report.synth_operand import render_operand
from swzverify.search.synth.descriptors import FoundDescriptors
from swzverify.search.synth.problem import Form, Problem, Variant
from swzverify.search.synth.proof import check_premises, prove_member
from swzverify.search.synth.search import Member
from swzverify.search.synth.solution import find, xor_offset
from swzverify.spec import Spec, SpecError, load_spec, parse_spec
from swzverify.spec.build import SpecCase
from swzverify.spec.check import check
from swzverify.spec.patch import patch_tile
from swzverify.spec.problems import Problems
from swzverify.spec.readers import reader_of
from swzverify.spec.source import read_tree
from swzverify.spec.sources.languages import language_of
from swzverify.spec.tile_models import DenseLayoutPart, StagesPart, TilePart
from swzverify.subjects import Access, MemoryBase, OffsetMap, Tile


class ExitCode(IntEnum):
    """The exit codes of `swzverify synth`."""

    FREE = 0
    CONFLICTS = 1
    BROKEN = 2
    NOT_PROVED = 3


def synth_command(options: SynthOptions) -> NoReturn:
    """Find the best layout or code of a family, tell it, and write it where that is asked for."""
    check_output(options.output, [options.spec], "--output")
    if options.keep_aligned is not None and options.keep_aligned & (options.keep_aligned - 1):
        raise click.BadParameter(f"{options.keep_aligned} is no power of two", param_hint="--keep-aligned")
    if options.family in OF_LISTINGS or options.listing is not None:
        _check_listing(options)
        found = synthesize_listing(options.spec, options.listing, options.family, options.rlimit)
        write_text(render_listing_json(found) if options.form == "json" else render_listing(found), options.output)
        sys.exit(int(_listing_code(found)))
    if options.family in OF_OPERANDS or options.operand is not None:
        _check_operand(options)
        answers = synthesize_operand(options.spec, options.operand, options.rlimit)
        write_text("".join(map(render_operand, answers)), options.output)
        sys.exit(int(_operand_code([each.found for each in answers])))
    result = synthesize(options)
    _tell(result, options.form, options.output)
    if options.write:
        _write(result)
    sys.exit(int(_exit_code(result)))


def _check_listing(options: SynthOptions) -> None:
    if options.family not in OF_LISTINGS:
        message = f"{options.family} is no family of listings: {', '.join(OF_LISTINGS)}"
        raise click.BadParameter(message, param_hint="--family")
    if asked(options).keys() - {"--family", "--listing", "--format", "--output", "--rlimit"}:
        message = f"--family {options.family} goes with --listing, --format, --output and --rlimit only"
        raise click.UsageError(message)


def _check_operand(options: SynthOptions) -> None:
    if options.family not in OF_OPERANDS:
        message = f"{options.family} is no family of operands: {', '.join(OF_OPERANDS)}"
        raise click.BadParameter(message, param_hint="--family")
    if asked(options).keys() - {"--family", "--operand", "--output", "--rlimit"}:
        raise click.UsageError("--family descriptor goes with --operand, --output and --rlimit only")


def _operand_code(found: Sequence[FoundDescriptors]) -> ExitCode:
    if not all(each.is_decided for each in found):
        return ExitCode.NOT_PROVED
    return ExitCode.FREE if all(each.answers for each in found) else ExitCode.CONFLICTS


def _listing_code(found: ListingResult) -> ExitCode:
    if not found.confirmed or not found.found.is_least:
        return ExitCode.NOT_PROVED
    return ExitCode.CONFLICTS if found.found.price.conflicts else ExitCode.FREE


def _tell(result: SynthResult, form: str, output: str | None) -> None:
    if form == "json":
        write_text(render_synth_json(result), output)
        return
    if output is not None:
        write_text(render_synth(result, TextStyle()), output)
        return
    style = terminal_style(err=False, verbosity=0)
    echo(render_synth(result, style), style, err=False)


def _write(result: SynthResult) -> None:
    if result.not_patched:
        raise Failure(f"SWZ565 {result.path} is as it was: {result.not_patched}")
    if not result.confirmed:
        raise Failure(f"SWZ565 {result.path} is as it was: the answer was not proved")
    if result.spec_text != result.before:
        with open(result.path, "rb") as file:
            ends = "\r\n" if b"\r\n" in file.read() else "\n"
        write_text(result.spec_text.replace("\n", ends), result.path)
    done = "written" if result.spec_text != result.before else "as it was: it has this layout already"
    click.echo(f"{visible(result.path)}: {done}; now: swzverify prove {visible(result.path)}", err=True)


def _exit_code(result: SynthResult) -> ExitCode:
    if not result.confirmed or not result.solution.optimal:
        return ExitCode.NOT_PROVED
    return ExitCode.FREE if result.free else ExitCode.CONFLICTS


def synthesize(wanted: SynthOptions) -> SynthResult:
    """The best layout for the tile of a spec, with the verdicts on it, and the spec that has it.

    Raises:
        SpecError: The spec cannot be read.
        SwzError: SWZ561 to SWZ567 if there is no answer, SWZ206 if there is too much to price.
    """
    started = perf_counter()
    spec = load_spec(wanted.spec, target=wanted.target)
    name = _tile_name(spec, wanted.tile)
    part = _part(spec, name)
    options = Options() if wanted.rlimit is None else Options(rlimit=wanted.rlimit)
    problem, owners = problem_of(spec, name, wanted)
    check_premises(problem, options)
    solution = find(problem, every=wanted.every)
    proofs = tuple(prove_member(problem, member, options) for member in solution.members)
    text, why = "", "the spec stands in the comments of a kernel's source"
    if reader_of(wanted.spec) is not None:
        why = "a reader of another package made the spec of this file"
    elif language_of(wanted.spec) is None:
        tiles = [None if owner is None else solution.answer.tiles[owner] for owner in owners]
        changes = _changes(part, problem, solution.answer, wanted)
        text, why = _patched(spec, name, changes, tiles, wanted)
    spent = (perf_counter() - started) * 1000
    return SynthResult(spec.path, name, solution, proofs, spec.text, text, why, spent)


def _tile_name(spec: Spec, wanted: str | None) -> str:
    names = list(dict.fromkeys(name for case in spec.cases for name in case.tiles))
    if wanted is not None:
        if wanted not in names:
            hint = nearest(wanted, names) or f"tiles are {', '.join(names) or 'none'}"
            raise SwzError("SWZ561", f"{spec.path} has no tile '{wanted}'", hint=hint)
        return wanted
    used = [name for name in names if any(_accesses(case, name) for case in spec.cases)]
    if len(used) == 1:
        return used[0]
    if not used:
        raise SwzError(
            "SWZ561",
            f"{spec.path} has no access to a tile, so that there is no layout to choose",
            hint="a search needs `tiles:` and the `accesses:` that write and read them",
        )
    raise SwzError(
        "SWZ561",
        f"{spec.path} has accesses to {len(used)} tiles: which one?",
        hint=f"--tile {' or --tile '.join(used)}",
    )


def _accesses(case: SpecCase, tile: str) -> dict[str, Access]:
    return {name: each for name, each in case.accesses.items() if each.tile is not None and each.tile.name == tile}


def _part(spec: Spec, tile: str) -> TilePart:
    """The tile as the spec writes it."""
    problems = Problems(spec.path)
    root = read_tree(spec.text, problems)
    checked = None if root is None else check(root, problems)
    if checked is None or tile not in checked.spec.tiles:
        raise SwzError("SWZ562", f"tile {tile} cannot be found in the text of {spec.path}")
    return checked.spec.tiles[tile]


def problem_of(spec: Spec, name: str, wanted: SynthOptions) -> tuple[Problem, list[int | None]]:
    """The problem of a tile, and for each case of the constants its variant; equal cases share one.

    Errors of `Problem` are passed on.

    Raises:
        SwzError: SWZ563 for a tile without room.
    """
    part = _part(spec, name)
    variants: list[Variant] = []
    owners: list[int | None] = []
    seen: dict[object, int] = {}
    several = len(spec.cases) > 1
    for case in spec.cases:
        tile = _staged(case.tiles[name], part, wanted.stages)
        accesses = {key: replace(each, tile=tile) for key, each in _accesses(case, name).items()}
        owners.append(len(variants) if accesses else None)
        if not accesses:
            continue
        key = (
            tile.describe_base(),
            *(case.weights[label] for label in accesses),
            *(likeness(ConflictFree(each)) for each in accesses.values()),
        )
        if key in seen and None not in key:
            owners[-1] = seen[key]
            continue
        seen[key] = len(variants)
        chosen = ", ".join(f"{constant} = {value}" for constant, value in case.chosen.items())
        target = next(iter(accesses.values())).target
        form = Form(
            isinstance(part.layout, DenseLayoutPart),
            part.bytes is not None,
            isinstance(part.stages, StagesPart) and part.stages.pitch is not None,
            part.tma is not None,
        )
        labels = {label: f"{label} [{chosen}]" if several else label for label in accesses}
        labelled = {labels[label]: each for label, each in accesses.items()}
        weights = {labels[label]: wanted.weights.get(label, case.weights[label]) for label in accesses}
        variants.append(Variant(tile, labelled, form, _room(case, name, tile, target, wanted), weights))
    if not variants:
        raise SwzError("SWZ561", f"tile {name} has no access, so that every layout is as good as any other")
    if len(variants) == 1:
        only = variants[0]
        plain = {label: each.name for label, each in only.accesses.items()}
        accesses = {plain[label]: each for label, each in only.accesses.items()}
        weights = {plain[label]: weight for label, weight in only.weights.items()}
        variants = [replace(only, accesses=accesses, weights=weights)]
    known = {each.name for variant in variants for each in variant.accesses.values()}
    for other in wanted.weights:
        if other not in known:
            hint = nearest(other, known) or f"accesses to it are {', '.join(sorted(known))}"
            raise SwzError("SWZ561", f"tile {name} has no access '{other}' to weigh", hint=hint)
    first = variants[0].tile
    on = wanted.on or (first.swizzle_on if first.swizzle is not None else "offset")
    return Problem(wanted.family, tuple(variants), on, wanted.keep_aligned or 1), owners


def _staged(tile: Tile, part: TilePart, stages: int | None) -> Tile:
    if stages is None or stages == tile.stages:
        return tile
    pitch = tile.pitch_bytes if isinstance(part.stages, StagesPart) and part.stages.pitch is not None else None
    fields = (tile.name, tile.element_bits, tile.layout, tile.swizzle, tile.swizzle_on, tile.base)
    return Tile(*fields, stages, tile.allocation_bytes, pitch)


def _room(case: SpecCase, name: str, tile: Tile, target: Target, wanted: SynthOptions) -> int:
    """The most bytes that all stages of the tile may take.

    Raises:
        SwzError: SWZ563 if none are left.
    """
    others = [each for key, each in case.tiles.items() if key != name]
    rooms = [target.shared_bytes_per_block]
    outside = sum(each.total_bytes for each in others if not isinstance(each.base, MemoryBase))
    memories = {each.base.memory.name: each.base.memory for each in others if isinstance(each.base, MemoryBase)}
    if isinstance(tile.base, MemoryBase):
        begin, memory = tile.base.offset_bytes, tile.base.memory
        memories.pop(memory.name, None)
        rooms.append(memory.bytes - begin)
        # What lies behind it today stays behind it.
        behind = [
            each.base.offset_bytes - begin
            for each in others
            if isinstance(each.base, MemoryBase) and each.base.memory == memory and each.base.offset_bytes > begin
        ]
        rooms += [gap for gap in behind if gap >= case.tiles[name].total_bytes]
    outside += sum(memory.bytes for memory in memories.values())
    if wanted.smem_bytes is not None:
        rooms.append(wanted.smem_bytes)
    if wanted.blocks_per_sm is not None:
        rooms.append(target.room_of_blocks(wanted.blocks_per_sm) - outside)
    room = min(rooms)
    least = 8 * tile.allocation_bytes
    size = tile.size * tile.element_bits * tile.stages
    if 8 * room < min(size, least * tile.stages):
        raise SwzError(
            "SWZ563",
            f"tile {name} has {size // 8} bytes of elements in {tile.stages} stages, and room for {max(room, 0)}",
            hint="fewer stages, fewer blocks on a multiprocessor, or a larger --smem-bytes",
        )
    return room


def _patched(
    spec: Spec, name: str, changes: dict[str, str | None], tiles: list[Tile | None], wanted: SynthOptions
) -> tuple[str, str]:
    """The spec's text with the answer, read again and compared; else an empty text and why."""
    try:
        text = patch_tile(spec.text, name, changes)
        again = parse_spec(text, path=spec.path, target=wanted.target)
    except SwzError as error:
        return "", error.message
    except SpecError as error:
        return "", f"the text would no longer be a spec: {error.problems[0].message}"
    for case, tile in zip(again.cases, tiles, strict=True):
        if tile is not None and _shown(case.tiles[name]) != _shown(tile):
            return "", "one text cannot say it for every case of the constants: write the layout with the constants"
    return text, ""


def _shown(tile: Tile) -> tuple[object, ...]:
    """A tile by what it says; expressions by their text."""
    layout = str(tile.layout) if isinstance(tile.layout, OffsetMap) else (tile.layout.shape, tile.layout.stride)
    swizzle = None if tile.swizzle is None else (str(tile.swizzle), tile.swizzle_on)
    return (tile.element_bits, layout, swizzle, tile.base, tile.stages, tile.allocation_bytes, tile.pitch_bytes)


def _changes(part: TilePart, problem: Problem, answer: Member, wanted: SynthOptions) -> dict[str, str | None]:
    """The changes to the text of the tile, by key."""
    variant, tile = problem.variants[0], answer.tiles[0]
    changes: dict[str, str | None] = {}
    if wanted.stages is not None:
        changes["stages.count" if isinstance(part.stages, StagesPart) else "stages"] = str(wanted.stages)
    if answer.mode is not None:
        box = f"{{swizzle: {answer.mode}, box: [{', '.join(map(str, tile.extents))}]}}"
        if part.tma is not None:
            return {**changes, "tma.swizzle": str(answer.mode)}
        return {**changes, "layout": None, "swizzle": None, "tma": box}
    if answer.terms:
        shape = f"[{', '.join(map(str, tile.extents))}]"
        room = {} if variant.form.bytes_given else {"bytes": str(tile.allocation_bytes)}
        offset = xor_offset(variant, answer.terms)
        return {**changes, "layout": None, "swizzle": None, "shape": shape, "offset": offset, **room}
    if tile.layout != variant.tile.layout or (part.swizzle is None and variant.tile.swizzle is not None):
        rows = [stride for extent, stride in variant.packed.leaves if extent > 1 and stride > 1]
        first_level = isinstance(part.layout, DenseLayoutPart) and answer.pad_row in (0, min(rows, default=0))
        changes |= {"layout.pad": str(answer.pad_elements)} if first_level else {"layout": str(tile.layout)}
    if answer.swizzle is None:
        changes["swizzle"] = None
    elif answer.on == "offset":
        changes["swizzle"] = str(answer.swizzle)
    else:
        found = answer.swizzle
        changes["swizzle"] = f"{{bits: {found.bits}, base: {found.base}, shift: {found.shift}, on: address}}"
    return changes

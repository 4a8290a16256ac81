"""Writes a cure into the text of a spec, or into the contract in the comments of a kernel source.

Only the values that differ change; comments, order and style stay. The caller reads the result again
and proves every claim of it: nothing here is trusted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from swzverify.errors import SwzError
from swzverify.layout import Layout, padded_layout
from swzverify.layout.int_tuple import IntTuple
from swzverify.search.cures import Cure
from swzverify.spec.build import SpecCase
from swzverify.spec.guard import plain_lines
from swzverify.spec.load import read_checked
from swzverify.spec.models import SpecPart
from swzverify.spec.patch import Edit, edited, entry_edits, has_entry, step_edit
from swzverify.spec.place_models import AlignedBasePart, BaseValue
from swzverify.spec.problems import Problems
from swzverify.spec.sources.blocks import blocks
from swzverify.spec.sources.languages import Language
from swzverify.spec.tile_models import DenseLayoutPart, StagesPart, TilePart
from swzverify.subjects import Access, AlignedBase, Base, MemoryBase, OffsetMap, Operand, Phase, Tile
from swzverify.subjects.phase import Part, Step, Sync, WaitGroup

CODE = "SWZ565"
_MARK = "\ufeff"
_NAME = re.compile(r"[A-Za-z_]")
_FIELDS = {"lbo": "lbo_bytes", "sbo": "sbo_bytes", "base_offset": "base_offset", "swizzle": "swizzle"}
"""Keys of a descriptor, and the fields of `Descriptor`."""


def cured_text(raw: str, path: str, case: SpecCase, cure: Cure, language: Language | None = None) -> str:
    """The text of a file after a cure.

    Args:
        raw: The file's text with its own line ends and byte order mark.
        path: What messages call the file.
        case: The objects of the spec as they are, in the case in which the cure was found.
        cure: The change.
        language: The language of a kernel source; None for a spec.

    Raises:
        SwzError: SWZ565 if the text has a form in which the change cannot be written.
    """
    plain = plain_lines(raw.removeprefix(_MARK))
    if isinstance(cure.after, Phase):
        before = case.phases[cure.after.name]
        part, index, step, insert = _changed_step(before, cure.after)
        name = before.name
        edits = _placed(
            plain, language, "phases", name, lambda text: [step_edit(text, name, part, index, step, insert=insert)]
        )
        return _spliced(raw, edits)
    found = read_checked(plain, path, Problems(path), language)
    changes = {} if found is None else _changes(found.checked.spec, case, cure)
    if not changes:
        raise SwzError(CODE, f"the text of {cure.object} cannot state this change")
    edits = list[Edit]()
    for (section, name), keys in changes.items():
        edits += _placed(plain, language, section, name, _entry_edits(section, name, keys))
    return _spliced(raw, edits)


def _entry_edits(section: str, name: str, keys: Mapping[str, str]) -> Callable[[str], list[Edit]]:
    return lambda text: entry_edits(text, section, name, keys)


def _changed_step(before: Phase, after: Phase) -> tuple[str, int, str, bool]:
    """The list, the index and the text of the step that differs, and whether it is one more."""
    for part in Part if not before.roles else ():
        old, new = before.part(part), after.part(part)
        if old == new:
            continue
        index = next((at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(old))
        return part.value, index, _step_text(new[index]), len(new) > len(old)
    raise SwzError(CODE, f"the text of phase {before.name} cannot state this change")


def _step_text(step: Step) -> str:
    match step:
        case WaitGroup(pending=pending):
            return f"{{wait_group: {pending}}}"
        case Sync():
            return step.value
        case _:
            raise SwzError(CODE, f"no step of this form is written: {step}")


def _changes(spec: SpecPart, case: SpecCase, cure: Cure) -> dict[tuple[str, str], dict[str, str]]:
    """The values of keys that change, by the section and the name of their entry."""
    match cure.after:
        case Tile() as tile:
            return _by_constant(spec, tile.name, _tile_entries(spec, case.tiles[tile.name], tile))
        case Access() as access:
            part = spec.accesses[access.name]
            return {("accesses", access.name): _base_changes(part.base, access.base)}
        case Operand() as operand:
            return _operand_entries(spec, case.operands[operand.name], operand)
        case _:
            return {}


def _by_constant(
    spec: SpecPart, tile: str, changes: dict[tuple[str, str], dict[str, str]]
) -> dict[tuple[str, str], dict[str, str]]:
    """The same changes; where the pad of a tile is a constant of the spec, the constant changes."""
    layout, keys = spec.tiles[tile].layout, changes.get(("tiles", tile), {})
    pad = layout.pad if isinstance(layout, DenseLayoutPart) else 0
    if "layout.pad" not in keys or not isinstance(pad, str) or pad in spec.from_source:
        return changes
    if not isinstance(spec.constants.get(pad), int):
        return changes
    rest = {key: value for key, value in keys.items() if key != "layout.pad"}
    others = {entry: own for entry, own in changes.items() if entry != ("tiles", tile)}
    return {**others, **({("tiles", tile): rest} if rest else {}), ("constants", pad): {"": keys["layout.pad"]}}


def _tile_entries(spec: SpecPart, before: Tile, after: Tile) -> dict[tuple[str, str], dict[str, str]]:
    part, entries = spec.tiles[before.name], dict[tuple[str, str], dict[str, str]]()
    changes = _layout_changes(part, before, after)
    if after.base != before.base:
        if isinstance(after.base, MemoryBase):
            memory = after.base.memory
            entries["memories", memory.name] = {"align": str(memory.alignment_bytes)}
        else:
            changes |= _base_changes(part.base, after.base)
    return {("tiles", before.name): changes, **entries} if changes else entries


def _operand_entries(spec: SpecPart, before: Operand, after: Operand) -> dict[tuple[str, str], dict[str, str]]:
    if before.code is not None:
        return {}  # the kernel has to change, not the spec
    entries = _tile_entries(spec, before.tile, after.tile) if after.tile != before.tile else {}
    old, new = before.descriptor, after.descriptor
    changes = {
        f"descriptor.{key}": str(getattr(new, name))
        for key, name in _FIELDS.items()
        if getattr(old, name) != getattr(new, name)
    }
    if after.base != before.base and isinstance(after.base, AlignedBase):
        changes["descriptor.base"] = f"{{align: {after.base.align_bytes}}}"
    return {("operands", before.name): changes, **entries} if changes else entries


def _base_changes(part: BaseValue | None, after: Base | None) -> dict[str, str]:
    if not isinstance(after, AlignedBase):
        return {}
    if isinstance(part, AlignedBasePart):
        return {"base.align": str(after.align_bytes)}
    return {"base": f"{{align: {after.align_bytes}}}"}


def _layout_changes(part: TilePart, before: Tile, after: Tile) -> dict[str, str]:
    changes = dict[str, str]()
    if after.layout != before.layout:
        changes |= _padded(part, before, after)
        if part.bytes is not None and after.allocation_bytes != before.allocation_bytes:
            changes["bytes"] = str(after.allocation_bytes)
        if isinstance(part.stages, StagesPart) and part.stages.pitch is not None:
            changes["stages.pitch"] = str(after.pitch_bytes)
    swizzle = after.swizzle
    if swizzle is not None and (swizzle, after.swizzle_on) != (before.swizzle, before.swizzle_on):
        if part.swizzle is None and before.swizzle is not None:
            changes["layout"] = str(after.layout)  # the notation had the swizzle in front
        on_address = f"{{bits: {swizzle.bits}, base: {swizzle.base}, shift: {swizzle.shift}, on: address}}"
        changes["swizzle"] = on_address if after.swizzle_on == "address" else str(swizzle)
    return changes


def _padded(part: TilePart, before: Tile, after: Tile) -> dict[str, str]:
    """The layout with longer rows: as a larger pad, or as a notation that keeps the names of constants."""
    if isinstance(before.layout, OffsetMap) or isinstance(after.layout, OffsetMap):
        return {}
    layout = part.layout
    if isinstance(layout, DenseLayoutPart):
        extents = before.layout.shape
        shape = extents if isinstance(extents, tuple) else (extents,)
        for pad in range(1, after.layout.cosize):
            try:
                found, _ = padded_layout(shape, layout.order, pad)  # pyright: ignore[reportArgumentType]  # a flat shape
            except SwzError:
                break
            if found == after.layout:
                return {"layout.pad": str(pad)}
            if found.cosize > after.layout.cosize:
                break
        return {"layout": str(after.layout)}
    return {"layout": _named_notation(layout or "", before.layout, after.layout) or str(after.layout)}


def _named_notation(text: str, before: Layout, after: Layout) -> str:
    """The notation with other strides, in which names stay; empty where it has another form.

    >>> _named_notation("(BM,BK):(BK,1)", Layout((64, 32), (32, 1)), Layout((64, 32), (36, 1)))
    '(BM,BK):(BK + 4,1)'
    """
    shape, colon, strides = text.partition(":")
    if not colon or not _NAME.search(strides) or ":" in strides:
        return ""
    leaves = _leaves(strides, before.stride)
    new = _flat(after.stride)
    if leaves is None or len(leaves) != len(new):
        return ""
    changed = [(own, value) for (own, _, value), now in zip(leaves, new, strict=True) if now != value]
    row_text, row = min(changed, key=lambda each: each[1], default=("", 0))
    pad = next((now - value for (_, _, value), now in zip(leaves, new, strict=True) if value == row), 0)
    found, end = list[str](), 0
    for (own, at, value), now in zip(leaves, new, strict=True):
        if now == value:
            continue
        is_row = f"{own} + {pad}" if _NAME.search(own) else str(now)
        text_now = is_row if value == row else f"{value // row}*({row_text} + {pad})"
        found += [strides[end:at], text_now]
        end = at + len(own)
    return f"{shape}:{''.join(found)}{strides[end:]}"


def _flat(stride: IntTuple) -> list[int]:
    return [each for part in stride for each in _flat(part)] if isinstance(stride, tuple) else [stride]


def _leaves(text: str, stride: IntTuple, start: int = 0) -> list[tuple[str, int, int]] | None:
    """The text, the place and the value of each stride; None where the text is nested differently."""
    own = text.strip()
    at = start + len(text) - len(text.lstrip())
    if not isinstance(stride, tuple):
        return [(own, at, stride)]
    if not (own.startswith("(") and own.endswith(")")):
        return None
    parts, depth, begin = list[tuple[int, str]](), 0, 1
    for index in range(1, len(own)):
        sign = own[index]
        if (sign == "," and depth == 0) or index == len(own) - 1:
            parts.append((at + begin, own[begin:index]))
            begin = index + 1
        depth += (sign == "(") - (sign == ")")
    if len(parts) != len(stride):
        return None
    found = [_leaves(piece, each, place) for (place, piece), each in zip(parts, stride, strict=True)]
    return None if any(each is None for each in found) else [leaf for each in found for leaf in each or ()]


def _placed(
    plain: str, language: Language | None, section: str, name: str, make: Callable[[str], list[Edit]]
) -> list[Edit]:
    """The edits of an entry as edits of the file's text with plain line ends."""
    if language is None:
        return make(plain)
    lines = plain.split("\n")
    starts = _starts(lines)
    for block in blocks(plain, language):
        text = "\n".join(block.lines)
        if has_entry(text, section, name):
            own = _starts(block.lines)
            return [_in_source(edit, block.first - 1, own, lines, starts) for edit in make(text)]
    raise SwzError(CODE, f"no block of the contract has the {section.removesuffix('s')} {name}")


def _starts(lines: Iterable[str]) -> list[int]:
    """The offset at which each line begins."""
    found = [0]
    for line in lines:
        found.append(found[-1] + len(line) + 1)
    return found


def _in_source(edit: Edit, first: int, own: list[int], lines: list[str], starts: list[int]) -> Edit:
    """An edit of a block, whose columns are those of the file; new lines begin as the line beside them."""

    def at(offset: int) -> tuple[int, int]:
        row = max(index for index, start in enumerate(own[:-1]) if start <= offset)
        return first + row, offset - own[row]

    row, column = at(edit.start)
    end_row, end_column = at(edit.end)

    def with_sign(text: str) -> str:
        indent = len(text) - len(text.lstrip(" "))
        return lines[row][:indent] + text[indent:]

    pieces = edit.text.split("\n")
    if column == 0 and len(pieces) > 1:  # whole lines before this one
        pieces = [with_sign(each) if each else each for each in pieces]
    else:
        pieces[1:] = map(with_sign, pieces[1:])
    return Edit(starts[row] + column, starts[end_row] + end_column, "\n".join(pieces))


def _spliced(raw: str, edits: list[Edit]) -> str:
    """The file's own text after edits of its text with plain line ends."""
    mark, body = (_MARK, raw[1:]) if raw.startswith(_MARK) else ("", raw)
    places = [at for at, sign in enumerate(body) if not (sign == "\n" and at and body[at - 1] == "\r")]
    places.append(len(body))
    end = "\r\n" if "\r\n" in body else "\n"
    return mark + edited(
        body, [Edit(places[each.start], places[each.end], each.text.replace("\n", end)) for each in edits]
    )

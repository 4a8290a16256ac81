"""Changes an entry in the text of a spec, and nothing beside it: comments, order and style stay.

The places come from PyYAML's own parser; the text between them is not touched. The caller reads the
result again and compares: it does not trust the patch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

import yaml

from swzverify.errors import SwzError


class _Compose(Protocol):
    """PyYAML's `compose`, which has no types of its own."""

    def __call__(self, stream: str, Loader: type[yaml.SafeLoader]) -> yaml.Node | None: ...  # noqa: N803 - PyYAML's


_compose = cast("_Compose", yaml.compose)  # pyright: ignore[reportUnknownMemberType]


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of a text, by its first character and the one behind it, and what stands there afterwards."""

    start: int
    end: int
    text: str


def patch_tile(text: str, tile: str, changes: Mapping[str, str | None]) -> str:
    r"""The spec's text with keys of a tile set, or removed if the value is None.

    Values are YAML on one line. A new key follows the tile's `layout`, or the first removed key.
    `layout.pad` is the key `pad` inside of `layout`.

    Raises:
        SwzError: SWZ565 if the tile's text has another form than the patch expects.

    >>> print(patch_tile("tiles:\n  A:\n    layout: (8,64):(64,1)  # rows\n", "A", {"swizzle": "Swizzle<3,3,3>"}))
    tiles:
      A:
        layout: (8,64):(64,1)  # rows
        swizzle: Swizzle<3,3,3>
    <BLANKLINE>
    """
    return edited(text, entry_edits(text, "tiles", tile, changes))


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after the edits, of which no two overlap.

    >>> edited("a: b", [Edit(3, 4, "c"), Edit(0, 0, "- ")])
    '- a: c'
    """
    for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def has_entry(text: str, section: str, name: str) -> bool:
    """Whether a piece of a spec has an entry of that name in a section."""
    return _value(_value(_compose(text, Loader=yaml.SafeLoader), section), name) is not None


def entry_edits(text: str, section: str, name: str, changes: Mapping[str, str | None]) -> list[Edit]:
    """The edits that set keys of an entry, as `patch_tile`; the key "" is the value of the entry itself.

    Raises:
        SwzError: SWZ565 if the entry's text has another form than the patch expects.
    """
    holder = _value(_compose(text, Loader=yaml.SafeLoader), section)
    node = _value(holder, name)
    entry_name = f"{section.removesuffix('s')} {name}"
    own = changes.get("")
    if own is not None and isinstance(node, yaml.ScalarNode) and isinstance(holder, yaml.MappingNode):
        return [Edit(node.start_mark.index, _end(node), _styled(node, holder, own))]
    if not isinstance(node, yaml.MappingNode):
        raise SwzError("SWZ565", f"the text of {entry_name} cannot be changed: it is no mapping of keys")
    if node.flow_style and any(value is None and _entry(node, key) for key, value in changes.items()):
        return [Edit(node.start_mark.index, node.end_mark.index, _rebuilt(text, node, changes))]
    edits: list[Edit] = []
    new: list[tuple[str, str]] = []
    for path, value in changes.items():
        holder, key = _holder(node, entry_name, path)
        entry = _entry(holder, key)
        if entry is not None and value is not None:
            edits.append(Edit(entry[1].start_mark.index, _end(entry[1]), _styled(entry[1], holder, value)))
        elif entry is not None:
            edits.append(_taken_out(text, entry))
        elif value is not None and holder is node:
            new.append((key, value))
        elif value is not None:
            edits.append(_after(text, holder, holder.value[-1], [(key, value)]))
    if new:
        stays = [entry for entry in node.value if changes.get(entry[0].value, "") is not None]
        anchor = next((entry for entry in stays if entry[0].value == "layout"), stays[0])
        edits.append(_after(text, node, anchor, new))
    return edits


def step_edit(text: str, phase: str, part: str, index: int, step: str, *, insert: bool) -> Edit:
    r"""The edit that puts a step before the one of that index of a phase, or in its place.

    Raises:
        SwzError: SWZ565 if the list has another form than the patch expects.

    >>> text = "phases:\n  loop:\n    steps:\n    - write\n    - read  # back\n"
    >>> print(edited(text, [step_edit(text, "loop", "steps", 1, "barrier", insert=True)]), end="")
    phases:
      loop:
        steps:
        - write
        - barrier
        - read  # back
    """
    node = _value(_value(_value(_compose(text, Loader=yaml.SafeLoader), "phases"), phase), part)
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        raise SwzError("SWZ565", f"the text of phase {phase} cannot be changed: `{part}` is no list of steps")
    steps: list[yaml.Node] = node.value
    if not insert:
        return Edit(steps[index].start_mark.index, _end(steps[index]), step)
    if node.flow_style:
        if index < len(steps):
            return Edit(steps[index].start_mark.index, steps[index].start_mark.index, f"{step}, ")
        return Edit(_end(steps[-1]), _end(steps[-1]), f", {step}")
    indent = " " * node.start_mark.column
    if index < len(steps):
        at = text.rfind("\n", 0, steps[index].start_mark.index) + 1
        return Edit(at, at, f"{indent}- {step}\n")
    line_end = text.find("\n", _end(steps[-1]))
    at = len(text) if line_end < 0 else line_end
    return Edit(at, at, f"\n{indent}- {step}")


def _holder(node: yaml.MappingNode, entry_name: str, name: str) -> tuple[yaml.MappingNode, str]:
    """The mapping that a key stands in, and its name there."""
    if "." not in name:
        return node, name
    outer, key = name.split(".")
    inside = _value(node, outer)
    if not isinstance(inside, yaml.MappingNode):
        raise SwzError("SWZ565", f"the text of {entry_name} cannot be changed: `{outer}` has no keys")
    return inside, key


def _rebuilt(text: str, node: yaml.MappingNode, changes: Mapping[str, str | None]) -> str:
    """A mapping in braces with keys taken out, the others as they are written."""
    if "#" in text[node.start_mark.index : node.end_mark.index]:
        raise SwzError("SWZ565", "a tile in braces with a comment inside cannot be changed: write it on lines")
    kept = [(key, value) for key, value in node.value if key.value not in changes]
    parts = [text[key.start_mark.index : value.end_mark.index] for key, value in kept]
    parts += [f"{name}: {quoted(value)}" for name, value in changes.items() if value is not None]
    return "{" + ", ".join(parts) + "}"


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    entry = _entry(node, key)
    return None if entry is None else entry[1]


def _entry(node: yaml.Node | None, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((entry for entry in node.value if entry[0].value == key), None)


def _end(node: yaml.Node) -> int:
    """Where the text of a node ends; a block's own mark is where the next one begins."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _end(node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    return node.end_mark.index


def _styled(old: yaml.Node, holder: yaml.MappingNode, value: str) -> str:
    """The value as it may stand there: quoted where the line is inside brackets, or was quoted."""
    if holder.flow_style or (isinstance(old, yaml.ScalarNode) and old.style in ("'", '"')):
        return quoted(value)
    return value


def quoted(value: str) -> str:
    """The value for a place inside brackets: a text with commas needs quotes there.

    >>> quoted("Swizzle<3,3,3>"), quoted("{align: 64}"), quoted("8")
    ('"Swizzle<3,3,3>"', '{align: 64}', '8')
    """
    return value if value[0] in "{[" or not set(value) & set(",:<[{#&*!|>%@`\"' ") else f'"{value}"'


def _after(
    text: str, holder: yaml.MappingNode, anchor: tuple[yaml.Node, yaml.Node], entries: list[tuple[str, str]]
) -> Edit:
    end = _end(anchor[1])
    if holder.flow_style:
        return Edit(end, end, "".join(f", {key}: {quoted(value)}" for key, value in entries))
    line_end = text.find("\n", end)
    at = len(text) if line_end < 0 else line_end
    indent = " " * anchor[0].start_mark.column
    return Edit(at, at, "".join(f"\n{indent}{key}: {value}" for key, value in entries))


def _taken_out(text: str, entry: tuple[yaml.Node, yaml.Node]) -> Edit:
    """Takes a line out; a comment beside it stays, on a line of its own."""
    start, end = entry[0].start_mark.index, _end(entry[1])
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    line_start = text.rfind("\n", 0, start) + 1
    rest = text[end:line_end]
    if rest.strip():
        return Edit(start, end + len(rest) - len(rest.lstrip()), "")
    return Edit(line_start, min(line_end + 1, len(text)), "")

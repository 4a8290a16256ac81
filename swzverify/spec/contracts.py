"""Contracts in kernel sources: comment blocks of a file, pieces of its spec, joined into one tree.

A section may be spread over the blocks (a tile beside its declaration, an access beside its loads);
everything else is given once. Lines and columns are the source file's.
"""

from __future__ import annotations

from swzverify.errors import SwzError
from swzverify.spec.guard import MAX_BYTES
from swzverify.spec.problems import Problems
from swzverify.spec.source import read_tree
from swzverify.spec.sources.blocks import Block, BlockError, blocks
from swzverify.spec.sources.languages import Language
from swzverify.spec.tree import Mapping, Node, Place, Scalar, Sequence, place_of

_REPEATED = ("swzverify", "target")
"""May stand in every block, with one value."""
_JOINED = ("constants", "from_source", "let", "memories", "tiles", "accesses", "maps", "operands", "phases", "listings")


def contract_text(text: str, language: Language) -> str:
    r"""The contract in a source's text: its blocks on their lines, all other lines empty.

    >>> contract_text("int a;\n// swz:begin\n// swzverify: 1\n// swz:end\n", Language.C)
    '\n\n   swzverify: 1'
    """
    return "\n".join(_on_its_lines(blocks(text, language)))


def read_contract(text: str, language: Language, problems: Problems) -> Mapping | None:
    r"""The tree of a source's contract; None without one, or with the reason in `problems`.

    >>> source = "// swz:begin\n// swzverify: 1\n// swz:end\nint a;\n/* swz:begin\n claims: []\n swz:end */\n"
    >>> [key.line for key, _ in read_contract(source, Language.C, Problems("a.cu")).entries]
    [2, 6]
    """
    lines = text.split("\n")
    problems.lines = lines
    try:
        found = blocks(text, language)
    except BlockError as error:
        problems.add(error.code, error.message, Place(error.line, error.column, error.length), error.hint)
        return None
    except SwzError as error:
        problems.add(error.code, error.message, None, error.hint)
        return None
    characters = sum(len(line) + 1 for block in found for line in block.lines)
    if characters > MAX_BYTES:
        message = f"the contract has {characters} characters: at most {MAX_BYTES} are read"
        problems.add("SWZ107", message, Place(found[0].first, 1), "move a part of it to spec files")
        return None
    trees = [_tree(block, lines, problems) for block in found]
    whole = [tree for tree in trees if tree is not None]
    return None if not whole or len(whole) < len(trees) else _joined(whole, problems)


def _tree(block: Block, lines: list[str], problems: Problems) -> Mapping | None:
    if not any(line.strip() and not line.lstrip().startswith("#") for line in block.lines):
        hint = "a contract is a piece of a spec: tiles, accesses, claims"
        problems.add("SWZ101", "this block holds nothing", Place(block.first - 1, 1), hint)
        return None
    return read_tree("\n".join(_on_its_lines([block])), problems, shown=lines)


def _on_its_lines(found: list[Block]) -> list[str]:
    """The blocks' lines, each at its index (from 0) in the file."""
    lines: list[str] = []
    for block in found:
        lines += [""] * (block.first - 1 - len(lines))
        lines += block.lines
    return lines


def _joined(trees: list[Mapping], problems: Problems) -> Mapping:
    """One tree of several: sections have the entries of all, claims the items of all."""
    entries: dict[str, tuple[Scalar, Node]] = {}
    for tree in trees:
        for key, value in tree.entries:
            before = entries.get(key.text)
            joined = None if before is None else _join(key.text, before[1], value, problems)
            if before is None:
                entries[key.text] = (key, value)
            elif joined is not None:
                entries[key.text] = (before[0], joined)
            else:
                _refuse_again(before[0], key, problems)
    return Mapping(tuple(entries.values()), trees[0].line, trees[0].column)


def _join(name: str, first: Node, second: Node, problems: Problems) -> Node | None:
    """The value of a key that two blocks have; None where only one may have it."""
    if name == "claims":
        items = (*_items(first), *_items(second))
        return Sequence(items, first.line, first.column)
    if name in _JOINED and isinstance(first, Mapping) and isinstance(second, Mapping):
        known = {key.text: key for key, _ in first.entries}
        for key, _ in second.entries:
            if key.text in known:
                _refuse_again(known[key.text], key, problems)
        return Mapping((*first.entries, *second.entries), first.line, first.column)
    if name in _JOINED and isinstance(first, Sequence) and isinstance(second, Sequence):
        return Sequence((*first.items, *second.items), first.line, first.column)
    if name in _REPEATED and isinstance(first, Scalar) and isinstance(second, Scalar) and first.text == second.text:
        return first
    return None


def _items(claims: Node) -> tuple[Node, ...]:
    return claims.items if isinstance(claims, Sequence) else (claims,)


def _refuse_again(first: Scalar, again: Scalar, problems: Problems) -> None:
    place = place_of(first)
    hint = f"the first is at line {place.line}, column {place.column}"
    problems.add("SWZ103", f"key '{again.text}' is given twice", again, hint)

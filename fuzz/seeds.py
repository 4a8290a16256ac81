"""Writes the seed corpus: specs of the library, their expressions and layouts, and sources.

Each is one file. Run it by `python fuzz/seeds.py FOLDER`.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

from swzverify.spec.problems import Problems
from swzverify.spec.source import read_tree
from swzverify.spec.sources.languages import Language, language_of
from swzverify.spec.tree import Mapping, Node, Scalar, Sequence

ROOT = Path(__file__).resolve().parents[1]
_EXPRESSION = re.compile(r".*[-+*/%&|^<>~!?].*")
_NOTATION = re.compile(r".*\).*:\(?.*|Sw.*|S<.*")


def seeds(folder: Path) -> set[bytes]:
    """An input for every spec below a folder, and for every expression and layout in them."""
    found: set[bytes] = set()
    for path in sorted(folder.rglob("*.swz.yaml")):
        text = path.read_text(encoding="utf-8")
        found.add(b"s" + text.encode())
        root = read_tree(text, Problems(path.name))
        for value in _values(root) if root is not None else ():
            if _NOTATION.fullmatch(value):
                found.add(b"n" + value.encode())
            elif _EXPRESSION.fullmatch(value):
                found.add(b"e" + value.encode())
    return found


def source_seeds(folder: Path) -> set[bytes]:
    """An input for every kernel source below a folder, and for a spec written as a contract."""
    found: set[bytes] = set()
    for path in sorted(folder.rglob("*")):
        language = language_of(path)
        if language is not None and path.is_file():
            found.add((b"c" if language is Language.C else b"p") + path.read_bytes())
    return found


def contracts(specs: set[bytes]) -> set[bytes]:
    """Short specs as comments of C and Python."""
    found: set[bytes] = set()
    for spec in specs:
        lines = spec[1:].decode().split("\n")
        if spec[:1] == b"s" and len(spec) < 1500:
            for kind, sign in (("c", "//"), ("p", "#")):
                body = "\n".join(f"{sign} {line}" for line in lines)
                found.add(f"{kind}{sign} swz:begin\n{body}\n{sign} swz:end\n".encode())
    return found


def _values(node: Node) -> list[str]:
    match node:
        case Scalar():
            return [node.text] if len(node.text) < 200 and "\n" not in node.text else []
        case Sequence(items=items):
            children: list[Node] = list(items)
        case Mapping(entries=entries):
            children = [value for _, value in entries]
    return [value for child in children for value in _values(child)]


def main() -> None:
    """Write the files, named by what they hold."""
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    specs = seeds(ROOT / "specs")
    for data in specs | contracts(specs) | source_seeds(ROOT / "examples"):
        (target / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


if __name__ == "__main__":
    main()

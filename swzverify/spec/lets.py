"""Named expressions, `let:`: each name is written out where an access uses it.

A name stands for its text in parentheses. What is built from a spec has plain expressions only, so
that certificates, tests and comparisons need to know nothing of lets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from swzverify.errors import SwzError
from swzverify.ir.c_ast import Name, Span, nodes
from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_parse import MAX_CHARACTERS, parse
from swzverify.spec.tree import Node, Place, place_of


@dataclass(frozen=True, slots=True)
class Let:
    """A name, its text with all lets written out, and where it stands in the file."""

    name: str
    written: Written
    where: Node | Place


@dataclass(frozen=True, slots=True)
class Use:
    """A let in an expression.

    `name_span` is its name in the source text. `span` is its own text, brackets included, in the text
    that is written out.
    """

    let: Let
    name_span: Span
    span: Span


@dataclass(frozen=True, slots=True)
class Written:
    """An expression with its lets written out; `source` is what the file has."""

    text: str
    source: str
    uses: tuple[Use, ...] = ()

    def locate(self, span: Span) -> tuple[tuple[Let, ...], Span]:
        """The lets that contain a part of the text, the outermost first, and the part's span in the source.

        The source is that of the last let. There is no let if the part goes beyond one.

        >>> row = Let("row", Written("tid/8", "tid/8"), Place(1, 1))
        >>> written = write_out(parse("row*2 + lane"), {"row": row})
        >>> written.text
        '(tid/8)*2 + lane'
        >>> [let.name for let in written.locate((1, 6))[0]], written.locate((1, 6))[1], written.locate((0, 9))
        (['row'], (0, 5), ((), (0, 5)))
        """
        start, end = span
        for use in self.uses:
            first, last = use.span
            if first < start and end < last:
                inner, found = use.let.written.locate((start - first - 1, end - first - 1))
                return (use.let, *inner), found
        return (), (self._in_source(start, 0), self._in_source(end, 1))

    def _in_source(self, position: int, side: int) -> int:
        """Where a position of the text lies in the source; of one inside a let, the name's side."""
        shift = 0
        for use in self.uses:
            first, last = use.span
            if position <= first:
                break
            if position < last:
                return use.name_span[side]
            shift = use.name_span[1] - last
        return position + shift


def write_out(formula: CFormula, lets: Mapping[str, Let]) -> Written:
    """An expression with the text of each let, in parentheses, in place of its name.

    Raises:
        SwzError: SWZ302 if the text grows beyond what is read.
    """
    named = sorted((node.span, node.name) for node in nodes(formula.root) if isinstance(node, Name))
    found = [(span, lets[name]) for span, name in named if name in lets]
    size = len(formula.text) + sum(len(let.written.text) + 2 - (end - start) for (start, end), let in found)
    if found and size > MAX_CHARACTERS:
        raise SwzError(
            "SWZ302",
            f"with its lets written out the expression has {size} characters; at most {MAX_CHARACTERS} are read",
            hint="split it, or use shorter lets",
            text=formula.text,
            span=(0, len(formula.text)),
        )
    parts: list[str] = []
    uses: list[Use] = []
    done = length = 0
    for (start, end), let in found:
        before, own = formula.text[done:start], f"({let.written.text})"
        first = length + len(before)
        uses.append(Use(let, (start, end), (first, first + len(own))))
        parts += [before, own]
        length, done = first + len(own), end
    return Written("".join([*parts, formula.text[done:]]), formula.text, tuple(uses))


@dataclass(slots=True)
class Lets:
    """The lets that an access may use; those in `broken` have a mistake of their own, noted already.

    `seen` keeps what was written out, so that errors that name the long text find their places.
    """

    known: Mapping[str, Let] = field(default_factory=dict[str, Let])
    broken: Collection[str] = ()
    _seen: dict[str, tuple[Written, Node | Place, str]] = field(
        default_factory=dict[str, tuple[Written, "Node | Place", str]]
    )

    def __contains__(self, name: str) -> bool:
        """Whether a let has this name."""
        return name in self.known or name in self.broken

    def names(self) -> Sequence[str]:
        """The names, for hints."""
        return [*self.known, *self.broken]

    def is_broken(self, formula: CFormula) -> bool:
        """Whether an expression uses a let that has a mistake."""
        return not formula.names.isdisjoint(self.broken)

    def formula(self, formula: CFormula, where: Node | Place, key: str) -> CFormula:
        """The expression with its lets written out; `where` and `key` say which value it is.

        Raises:
            SwzError: SWZ302 if the result is too long or too deep.
        """
        written = write_out(formula, self.known)
        if not written.uses:
            return formula
        self._seen.setdefault(written.text, (written, where, key))
        try:
            return parse(written.text)
        except SwzError as error:
            message = f"with its lets written out: {error.message}"
            hint = "split it, or use shorter lets"
            span = (0, len(formula.text))
            raise SwzError(error.code, message, hint=hint, text=formula.text, span=span) from None

    def placed(self, error: SwzError) -> tuple[SwzError, Node | Place] | None:
        """The error with its place, in the let or in what uses it; None for any other error."""
        if error.text is None or error.text not in self._seen:
            return None
        written, where, key = self._seen[error.text]
        lets, span = written.locate(error.span or (0, len(error.text)))
        if not lets:
            return SwzError(error.code, error.message, hint=error.hint, text=written.source, span=span), where
        used = "".join(f", used in '{let.name}'" for let in reversed(lets[:-1]))
        note = f"in the let '{lets[-1].name}'{used}, used in `{key}` (line {place_of(where).line})"
        hint = f"{error.hint}\n{note}" if error.hint else note
        found = lets[-1]
        return SwzError(error.code, error.message, hint=hint, text=found.written.source, span=span), found.where


def circles(reads: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """The circles of names that read each other, each from its first name on.

    >>> list(circles({"a": ["b"], "b": ["c", "a"], "c": [], "d": ["d"]}))
    [('a', 'b'), ('d',)]
    """
    done: set[str] = set()
    for first in reads:
        path: list[str] = []
        pending = [(first, iter(reads[first]))] if first not in done else []
        while pending:
            name, rest = pending[-1]
            if len(path) < len(pending):
                path.append(name)
            following = next((other for other in rest if other in reads and other not in done), None)
            if following is None:
                done.add(name)
                pending.pop()
                path.pop()
            elif following in path:
                yield tuple(path[path.index(following) :])
            else:
                pending.append((following, iter(reads[following])))

"""The way in: a file or a text to its `Spec`, or to one `SpecError` with all that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from swzverify.core.shown import Shown, html_facts, text_facts
from swzverify.core.words import binding_text, counted
from swzverify.errors import Problem, SpecError, SwzError
from swzverify.spec.build import BuiltSpec, SpecClaim, build
from swzverify.spec.check import check
from swzverify.spec.guard import MAX_BYTES, decoded, refuse_size
from swzverify.spec.limits import check_limits
from swzverify.spec.patience import OutOfPatience, patience
from swzverify.spec.problems import Problems, TooManyProblems
from swzverify.spec.readers import read_outside, reader_of
from swzverify.spec.source import read_text, read_tree
from swzverify.spec.sources.languages import Language, language_of
from swzverify.spec.tree import Place

if TYPE_CHECKING:
    from swzverify.spec.check import Checked
    from swzverify.spec.from_source import Constants

Result = TypeVar("Result")
LOAD_SECONDS = 30.0
"""Processor time for reading one spec; ordinary ones take milliseconds."""
_SHOWN = 100
"""Claims that a notebook shows of a spec."""


@dataclass(frozen=True, slots=True)
class Spec(BuiltSpec, Shown):
    r"""A spec: its claims in order, each in all cases of the constants before the next one.

    `cases` have the tiles, accesses and maps that the claims are about, and those that no claim is
    about.

    >>> spec = Spec.from_text("swzverify: 1\ntiles: {A: {element: f16, layout: '(8,64):(72,1)'}}")
    >>> spec.cases[0].tiles["A"].read("ldmatrix.x4", coord=["lane%8", "lane/8*8"], threads=32).cost().wavefronts
    4
    """

    @classmethod
    def from_file(cls, path: str | PathLike[str], *, target: str | None = None) -> Spec:
        """The spec in a file, or in the comments of a kernel source, for `target` if given.

        Raises:
            SpecError: The file has mistakes; the error has every one.
            SwzError: SWZ402 for an unknown `target`.
        """
        if not isinstance(path, str | PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
            hint = 'Spec.from_file("a.swz.yaml"); Spec.from_text reads a text'
            raise SwzError("SWZ101", f"{path!r} ({type(path).__name__}) is no file's name", hint=hint)
        return load_spec(path, target=target)

    @classmethod
    def from_text(cls, text: str, *, path: str = "<text>", target: str | None = None) -> Spec:
        """The spec in a text; `path` is what messages and ids call it. Errors as for `from_file`.

        >>> print(Spec.from_text("swzverify: 1", path="a.yaml"))
        a.yaml: no claim
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
            shown = type(text).__name__
            raise SwzError(
                "SWZ101", f"a spec is read from text, not from {shown}", hint="Spec.from_file(path) opens one"
            )
        if "\n" not in text and text.endswith((".yaml", ".yml")):
            raise SwzError("SWZ101", f"{text!r} is the name of a file, not a spec", hint=f"Spec.from_file({text!r})")
        return parse_spec(text, path=path, target=target)

    def at(self, path: str) -> Spec:
        """The same spec in another file, for a text that names no other files.

        >>> Spec.from_text("swzverify: 1", path="a.yaml").at("b.yaml").path
        'b.yaml'
        """
        claims = tuple(replace(each, id=path + each.id.removeprefix(self.path)) for each in self.claims)
        return replace(self, path=path, claims=claims)

    def __str__(self) -> str:
        """The path, and the claims, a line each."""
        return text_facts(self._heading, [(each.kind, self._claim_text(each)) for each in self.claims])

    def _repr_html_(self) -> str:
        """The same for notebooks, of the first 100 claims."""
        shown, more = self.claims[:_SHOWN], len(self.claims) - _SHOWN
        rest = [("...", counted(more, "more claim"))] if more > 0 else []
        return html_facts(self._heading, [*((each.kind, self._claim_text(each)) for each in shown), *rest])

    @property
    def _heading(self) -> str:
        count = len(self.claims)
        claims = counted(count, "claim") if count else "no claim"
        return f"{self.path}: {claims}" + (f", {self.title}" if self.title else "")

    @staticmethod
    def _claim_text(claim: SpecClaim) -> str:
        case = binding_text(claim.case)
        expected = "" if claim.expected == "proved" else f", expected {claim.expected}"
        return claim.subject + (f" at {case}" if case else "") + expected


def load_spec(
    path: str | PathLike[str], *, target: str | None = None, parse: Callable[..., Spec] | None = None
) -> Spec:
    """The spec in a file, or in a kernel source's comments.

    `target` overrides the spec's own target. For a file of another package's reader, it is the spec that
    the reader makes. `parse` stands for `parse_spec`.

    Raises:
        SpecError: The file has mistakes; the error has every one.
        SwzError: SWZ402 for an unknown `target` argument.
    """
    shown = Path(path).as_posix()
    problems = Problems(shown)
    language = language_of(shown)
    file = Path(fspath(path))
    text = _text(file, language, problems)
    problems.raise_any()
    if text is None:
        raise SpecError((Problem("SWZ101", "cannot be read", file=shown),))
    return (parse or parse_spec)(text, path=shown, target=target, language=language)


def load_bytes(data: bytes, *, path: str, target: str | None = None) -> Spec:
    """The spec in these bytes, as `load_spec`; `path` is what messages and ids call it.

    Files that it names are looked for from the folder of `path`.

    >>> load_bytes(b"swzverify: 1", path="<stdin>").path
    '<stdin>'
    """
    problems = Problems(path)
    if len(data) > MAX_BYTES:
        refuse_size(data.count(b"\n", 0, MAX_BYTES) + 1, problems)
    text = None if len(problems) else decoded(data, problems)
    problems.raise_any()
    return parse_spec(text or "", path=path, target=target)


def _text(file: Path, language: Language | None, problems: Problems) -> str | None:
    if language is None:
        reader = reader_of(file)
        return read_text(file, problems) if reader is None else read_outside(file, reader, problems)
    from swzverify.spec.kernel_source import holds_contract, read_source  # noqa: PLC0415 - few specs are contracts

    if file.is_file() and not file.is_symlink() and not holds_contract(file):
        return ""  # a header of many megabytes is no error if it claims nothing
    return read_source(file, problems)


def parse_spec(text: str, *, path: str = "<text>", target: str | None = None, language: Language | None = None) -> Spec:
    """The spec in a text, as `load_spec`; `path` is what messages and ids call it.

    With a `language` the text is a kernel source, and the spec is the contract in its comments.

    >>> spec = parse_spec('''
    ... swzverify: 1
    ... tiles: {A: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>"}}
    ... claims: [{bijective: A}]
    ... ''', path="a.yaml")
    >>> [claim.id for claim in spec.claims]
    ['a.yaml::A::bijective']
    """
    problems = Problems(path)
    spec = finished(lambda: _read(text, path, problems, target, language), problems)
    return Spec(**{each.name: getattr(spec, each.name) for each in fields(spec)})


def finished(
    work: Callable[[], Result | None], problems: Problems, doing: str = "reading", done: str = "read"
) -> Result:
    """What `work` gives within `LOAD_SECONDS`; `doing` and `done` are its name in messages.

    Raises:
        SpecError: There are mistakes, or `work` returns None; the error has every mistake.
    """
    result: Result | None = None
    try:
        with patience(LOAD_SECONDS):
            result = work()
    except TooManyProblems:
        pass  # those that were found are raised below
    except OutOfPatience:
        message = f"{doing} this spec takes more than {LOAD_SECONDS:g} seconds"
        problems.add("SWZ107", message, Place(1, 1), "split it, or make its expressions simpler")
    problems.raise_any()
    if result is None:
        raise SpecError((Problem("SWZ101", f"cannot be {done}", file=problems.file),))
    return result


@dataclass(frozen=True, slots=True)
class Read:
    """A text as models, with the constants that were read from the code.

    `text` is the spec's own text, which a kernel source has in its comments.
    """

    checked: Checked
    text: str
    constants: Constants | None = None


def read_checked(text: str, path: str, problems: Problems, language: Language | None = None) -> Read | None:
    """The models of a text, within limits; None without a contract, or where `problems` say why."""
    if language is None:
        root = read_tree(text, problems)
    else:
        from swzverify.spec.contracts import contract_text, read_contract  # noqa: PLC0415 - few specs are contracts

        root = read_contract(text, language, problems)
        text = "" if root is None else contract_text(text, language)
    checked = None if root is None or (language is not None and len(problems)) else check(root, problems)
    if checked is None:
        return None
    size = len(text if language is None else text.strip())
    read: Constants | None = None
    if checked.spec.from_source:
        from swzverify.spec.from_source import read_constants  # noqa: PLC0415 - few specs read other files

        checked, read = read_constants(checked, path, problems)
        if len(read.read) < len(checked.spec.from_source):
            return None  # what the missing constants stand in would only be called wrong once more
    return Read(checked, text, read) if check_limits(checked, size, problems) else None


def _read(text: str, path: str, problems: Problems, target: str | None, language: Language | None) -> BuiltSpec | None:
    found = read_checked(text, path, problems, language)
    if found is None:
        return None if len(problems) else BuiltSpec(path, "", "", ())
    spec = replace(build(found.checked, path, problems, target), text=found.text)
    if found.checked.spec.sweep is not None:
        from swzverify.spec.sweep_axes import read_sweep  # noqa: PLC0415 - few specs have one

        read_sweep(found.checked, problems)
    if found.constants is None:
        return spec
    return replace(spec, claims=tuple(map(found.constants.told, spec.claims)))

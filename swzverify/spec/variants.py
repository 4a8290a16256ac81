"""A spec that is built again and again: with other constants, and other values at some places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from swzverify.spec.build import BuiltSpec, build
from swzverify.spec.check import Checked, check
from swzverify.spec.load import finished, read_checked
from swzverify.spec.problems import Problems
from swzverify.spec.sweep_axes import Place, Sweep, read_sweep
from swzverify.spec.tree import Mapping as MappingNode
from swzverify.spec.tree import Node, Scalar, Sequence


@dataclass(frozen=True, slots=True)
class Variant:
    """What differs from the file: constants, values at places, and tiles without their swizzle."""

    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    placed: tuple[tuple[Place, int | str], ...] = ()
    unswizzled: frozenset[str] = frozenset()
    with_claims: bool = False


class Variants:
    """The variants of one spec, by its text.

    >>> spec = Variants('''
    ... swzverify: 1
    ... constants: {N: 8}
    ... tiles: {A: {element: f16, layout: "(N,64):(64,1)"}}
    ... sweep: {over: {N: [8, 16]}}
    ... ''', "a.yaml")
    >>> [axis.values for axis in spec.sweep.axes], spec.build(Variant({"N": 16})).cases[0].tiles["A"].size
    ([(8, 16)], 1024)
    """

    def __init__(self, text: str, path: str, target: str | None = None) -> None:
        """Read the text of a spec with its sweep.

        Raises:
            SpecError: The text is no spec, or its sweep is wrong.
        """
        self.text, self.path, self.target = text, path, target
        problems = Problems(path)

        def read() -> tuple[Checked, Sweep | None] | None:
            found = read_checked(text, path, problems)
            return None if found is None else (found.checked, read_sweep(found.checked, problems))

        self.checked, self.sweep = finished(read, problems)
        self._lines = problems.lines
        self._placed: dict[tuple[tuple[Place, int | str], ...], Checked] = {(): self.checked}

    def build(self, variant: Variant) -> BuiltSpec:
        """The spec of one variant.

        Raises:
            SpecError: The variant is wrong; the error has every mistake.
        """
        problems = Problems(self.path, self._lines)

        def built() -> BuiltSpec | None:
            checked = self._at(variant.placed, problems)
            return None if checked is None else build(_changed(checked, variant), self.path, problems, self.target)

        return finished(built, problems, "building", "built")

    def _at(self, placed: tuple[tuple[Place, int | str], ...], problems: Problems) -> Checked | None:
        """The models with these values at their places."""
        if placed in self._placed:
            return self._placed[placed]
        root = self.checked.root
        for place, value in placed:
            root = _with(root, place, value)
        found = check(root, problems)
        if found is not None and not len(problems):
            self._placed[placed] = found
        return found


def _changed(checked: Checked, variant: Variant) -> Checked:
    spec = checked.spec
    changes: dict[str, object] = {"constants": {**spec.constants, **variant.constants}}
    places = checked.claim_places
    if not variant.with_claims:
        changes["claims"], places = [], ()
    if variant.unswizzled:
        bare = {name: spec.tiles[name].model_copy(update={"swizzle": None}) for name in variant.unswizzled}
        changes["tiles"] = {**spec.tiles, **bare}
    return replace(checked, spec=spec.model_copy(update=changes), claim_places=places)


def _with(node: Node, place: Place, value: int | str) -> MappingNode:
    """The tree with another scalar at a place, which it has."""
    changed = _changed_node(node, place, value)
    assert isinstance(changed, MappingNode)  # noqa: S101 - the root of a spec is one
    return changed


def _changed_node(node: Node, place: Place, value: int | str) -> Node:
    if not place:
        assert isinstance(node, Scalar)  # noqa: S101 - `read_sweep` takes no other place
        return replace(node, text=str(value), plain=isinstance(value, int), length=0, text_column=0)
    step, rest = place[0], place[1:]
    if isinstance(node, MappingNode):
        entries = tuple(
            (key, _changed_node(child, rest, value) if key.text == step else child) for key, child in node.entries
        )
        return replace(node, entries=entries)
    assert isinstance(node, Sequence)  # noqa: S101 - see above
    items = tuple(_changed_node(child, rest, value) if at == step else child for at, child in enumerate(node.items))
    return replace(node, items=items)

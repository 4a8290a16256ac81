"""What a claim is about: its tiles, accesses and maps, and their names."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from swzverify.errors import SwzError
from swzverify.subjects import Access, IndexMap, Tile

Subject: TypeAlias = Tile | Access | IndexMap
_WORDS: dict[type, str] = {Tile: "a Tile", Access: "an Access", IndexMap: "an IndexMap"}


class About:
    """The base of every claim; `subject_types` are the kinds of things that it can be about."""

    __slots__ = ()
    kind: ClassVar[str]
    subject_types: ClassVar[tuple[type, ...]]

    def __post_init__(self) -> None:
        """Refuse what the claim cannot be about."""
        self.check_subjects()

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What the claim is about, in the order in which it is stated."""
        raise NotImplementedError

    @property
    def subject(self) -> str:
        """The names of what the claim is about, with commas between."""
        return ",".join(subject.name for subject in self.subjects)

    def check_subjects(self) -> None:
        """Refuse, by SWZ105, anything but the claim's own kinds of subjects: a name in place of an object, say."""
        for subject in self.subjects:
            if not isinstance(subject, self.subject_types):
                wanted = " or ".join(_WORDS[each] for each in self.subject_types)
                raise SwzError(
                    "SWZ105",
                    f"{self.kind} is claimed of {wanted}, not of {subject!r} ({type(subject).__name__})",
                    hint="give the object itself, not its name",
                )

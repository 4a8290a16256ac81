"""What a spec takes from a file with code: an access of a compiled kernel, or a listing."""

from __future__ import annotations

import os
from dataclasses import dataclass

from swzverify.spec.beside import below


@dataclass(frozen=True, slots=True)
class Argument:
    """A value that the spec gives to a parameter of the kernel.

    `text` is the spec's name for it. `number` is its place in the kernel, -1 if the kernel has no such
    parameter.
    """

    text: str
    number: int
    value: int


@dataclass(frozen=True, slots=True)
class ReadCode:
    """Which code a subject of a claim is, apart from what the code says.

    - `subject`: the access or listing, such as `access read_A`.
    - `file`: the file as seen from here; `beside` as seen from the spec.
    - `stated`: the kernel or function that the spec names; empty if the file has only one.
    - `function`: the kernel or function that was found.
    - `places`: which ones of the kernel's `among` instructions of this name are meant, from 1, in the
      order of the file.
    - `array`: the array that the spec requires; empty if it names none.
    - `arguments`: the values of the kernel's parameters.
    - `assumed`: what the reading of the code takes for granted.
    """

    subject: str
    file: str
    beside: str
    stated: str
    function: str
    places: tuple[int, ...] = ()
    among: int = 0
    array: str = ""
    arguments: tuple[Argument, ...] = ()
    assumed: tuple[str, ...] = ()

    @property
    def has_every_instruction(self) -> bool:
        """Whether the kernel has no other instruction of this name."""
        return set(self.places) == set(range(1, self.among + 1))


def named_files(file: str, spec: str) -> tuple[str, str]:
    """A file that a spec names, as seen from here and from the spec.

    Raises:
        SwzError: SWZ124 if the file lies outside of the repository.

    >>> named_files("./build/../k.ptx", "specs/a.swz.yaml")
    ('specs/k.ptx', 'k.ptx')
    """
    return below(spec, file)[0], os.path.normpath(file).replace(os.sep, "/")

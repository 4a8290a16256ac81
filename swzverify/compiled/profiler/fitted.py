"""The kernel of the machine code that a profile belongs to.

The profile has the mangled name or, as ncu writes by default, the name in the source. The name
alone does not tell the build: the instructions that touch shared memory must stand at the same
places.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.profiler.export import Profile
from swzverify.compiled.sass import Section

_NO_KERNEL: Final = "the machine code has no kernel of this name"
_OTHER_BUILD: Final = "its instructions are not those of the machine code: profile what was built from this PTX"
_SEVERAL: Final = "several kernels have this name and these instructions: give --print-kernel-base mangled to ncu"


@dataclass(frozen=True, slots=True)
class Fit:
    """The number of the profile's section; where that is None, `reason` says why."""

    section: int | None
    reason: str = ""


def fitted(profile: Profile, sections: Sequence[Section]) -> Fit:
    r"""The kernel that was profiled, among the sections of all listings.

    >>> from swzverify.compiled.sass import read_listing
    >>> head = '.target sm_90\n.section .text.k,"ax",@progbits\n.other k,@"STO_CUDA_ENTRY STV_DEFAULT"\n'
    >>> code = read_listing(head + "/*0000*/ LDS R1, [R2] ;\n").sections
    >>> fitted(Profile("k", 16, {0: ("LDS R1, [R2]", None)}), code)
    Fit(section=0, reason='')
    >>> fitted(Profile("k", 16, {0: ("STS [R2], R1", None)}), code).section is None
    True
    """
    kernels = [number for number, each in enumerate(sections) if each.is_kernel]
    named = [number for number in kernels if sections[number].name == profile.kernel]
    is_exact = bool(named)
    if not is_exact:
        name = _source_name(profile.kernel)
        named = [number for number in kernels if name and may_be(sections[number].name, name)]
    if not named:
        return Fit(None, _NO_KERNEL)
    fits = [number for number in named if _codes(profile) == _codes_of(sections[number])]
    if not is_exact or len(fits) > 1:
        # Instances of a template have one name in the source, and may differ in a number only.
        fits = [number for number in fits if _texts(profile) == _texts_of(sections[number])]
    if len(fits) > 1 and len({sections[number].name for number in fits}) == 1:
        # The same code in several files is the same.
        fits = fits[:1]
    if not fits:
        return Fit(None, _OTHER_BUILD)
    return Fit(fits[0]) if len(fits) == 1 else Fit(None, _SEVERAL)


def may_be(mangled: str, name: str) -> bool:
    """Whether a kernel of the machine code or of the PTX can have this name in the source."""
    return mangled == name or f"{len(name)}{name}" in mangled


def _codes(profile: Profile) -> tuple[int, list[tuple[int, str]]]:
    return profile.size_bytes, [(place, _opcode(text)) for place, (text, _) in profile.instructions.items()]


def _codes_of(section: Section) -> tuple[int, list[tuple[int, str]]]:
    return section.size_bytes, [(each.offset_bytes, each.name) for each in section.instructions]


def _texts(profile: Profile) -> list[tuple[str, ...]]:
    return [spelled(text) for text, _ in profile.instructions.values()]


def _texts_of(section: Section) -> list[tuple[str, ...]]:
    return [spelled(each.text) for each in section.instructions]


def spelled(text: str) -> tuple[str, ...]:
    """An instruction in one spelling for all tools: without white space, and with sorted operands.

    Versions of nvdisasm write the operands of LDGSTS in different orders.

    >>> spelled("@P0  LDGSTS.E.128 [R3], desc[UR8][R4.64] ;") == spelled("@P0 LDGSTS.E.128 desc[UR8][R4.64], [R3]")
    True
    """
    words = text.rstrip("; ").split()
    head = words[:2] if words and words[0].startswith("@") else words[:1]
    operands = "".join(words[len(head) :]).split(",")
    return (*head, *sorted(operands))


def _opcode(text: str) -> str:
    words = text.split()
    return words[1] if words[0].startswith("@") else words[0]


def _source_name(text: str) -> str:
    """The last name of a function as C++ writes it.

    >>> _source_name("void a::columns<(int)0, b<c>>(float *, const float *)"), _source_name("k")
    ('columns', 'k')
    """
    plain = text.replace("(anonymous namespace)", "")
    while (shorter := re.sub(r"<[^<>]*>", "", plain)) != plain:
        plain = shorter
    found = re.match(r"(?:.*[\s:*&])?([A-Za-z_]\w*)\s*$", plain.split("(")[0])
    return found[1] if found else ""

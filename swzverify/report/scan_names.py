"""Names in the words of a scan, as people read them: mangled ones, and those of loops."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from swzverify.core.demangle import demangled
from swzverify.report.escape import shortened

_NAME: Final = re.compile(r"(?<![\w$./\\-])[A-Za-z_$%][\w$]*", re.ASCII)
_PARAMETER: Final = re.compile(r"(.+)_(param_\d+)", re.ASCII)
_OF_LOOP: Final = re.compile(r"\b(trips|loop)@(\d+)", re.ASCII)
_MEANINGS: Final = {
    "trips": "the number of the trip, from 0, in the loop at PTX line {}",
    "loop": "a value that the loop at PTX line {} carries from trip to trip",
}
_LONGEST: Final = 100


class ScanNames:
    """Short names for what PTX calls kernels, parameters and variables.

    A kernel has the last part of its name; if another kernel has this too, all of its name. A parameter
    loses the name of the kernel, which nvcc puts before it.

    >>> names = ScanNames(["_Z4gemmILi8EEvPfi"])
    >>> names.line("_Z4gemmILi8EEvPfi: free for _Z4gemmILi8EEvPfi_param_1 = 3")
    'gemm<8>: free for param_1 = 3'
    """

    def __init__(self, kernels: Iterable[str]) -> None:
        self._kernels = _apart(dict.fromkeys(kernels))

    def line(self, text: str) -> str:
        """A line with readable names; variables that are alike in it have their whole names."""
        found = dict.fromkeys(_NAME.findall(text))
        others = _apart(each for each in found if each.startswith("_Z") and each not in self._kernels)
        return _NAME.sub(lambda name: self._readable(name[0], others), text)

    def _readable(self, name: str, others: dict[str, str]) -> str:
        if name in self._kernels:
            return self._kernels[name]
        parameter = _PARAMETER.fullmatch(name)
        if parameter is not None and parameter[1] in self._kernels:
            return parameter[2]
        return others.get(name, name)


def names_of_loops(addresses: Iterable[str]) -> list[str]:
    """What the names of loops in addresses mean, each once.

    >>> names_of_loops(["address: tile + trips@18*2048"])
    ['trips@18: the number of the trip, from 0, in the loop at PTX line 18']
    """
    names = dict.fromkeys(name.groups() for each in addresses for name in _OF_LOOP.finditer(each))
    return [f"{kind}@{line}: {_MEANINGS[kind].format(line)}" for kind, line in names]


def _apart(names: Iterable[str]) -> dict[str, str]:
    """A readable name for each name, no two alike."""
    given = [*names]
    short = [shortened(demangled(each).short, _LONGEST) for each in given]
    whole = [demangled(each).whole for each in given]
    chosen = [one if short.count(one) == 1 else long for one, long in zip(short, whole, strict=True)]
    return {name: one if chosen.count(one) == 1 else name for name, one in zip(given, chosen, strict=True)}

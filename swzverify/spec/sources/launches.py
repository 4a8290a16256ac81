"""The blocks of launches that stand in a CUDA source: `kernel<<<grid, dim3(32, ROWS)>>>`.

The source is read as text. It is not compiled: a macro may launch another kernel than its text says,
a function may write a variable unseen, and other files may launch the same kernels. What is found is
a hint for an assumption that every verdict states, never a fact.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache
from typing import Final

from swzverify.compiled.scan.launch import LaunchedBlock
from swzverify.errors import SwzError
from swzverify.spec.sources.c_text import read_c
from swzverify.spec.sources.constants import constant
from swzverify.spec.sources.languages import Language
from swzverify.spec.sources.launch_sites import LaunchSite, launch_sites, template_arguments
from swzverify.spec.sources.launch_values import ConstantOf, LaunchValues
from swzverify.spec.sources.preprocessor import directives
from swzverify.spec.sources.scopes import declaration_at, is_local

_OTHER: Final = re.compile(r"\b(?:cuda|cu|hip)Launch\w*\s*\([^;]{0,400}", re.ASCII)
"""A launch by a function, which may state another block."""

_BLANKS: Final = re.compile(r"\s+", re.ASCII)
_NUMBER: Final = re.compile(r"\(?\s*([1-9]\d{0,8})[uU]?\s*\)?\Z", re.ASCII)


def constant_in(texts: tuple[str, ...], name: str) -> int | None:
    """The value of a constant in the first text, else the only value that the others give it."""
    own = _constant(texts[0], name)
    found = {each for text in dict.fromkeys(texts[1:]) if (each := _constant(text, name)) is not None}
    return own if own is not None else found.pop() if len(found) == 1 else None


@lru_cache(maxsize=4096)
def only_macro(texts: tuple[str, ...], name: str) -> int | None:
    r"""The number that every definition of a macro in some texts has, under whatever conditions; None for a variable.

    >>> text = "#ifdef GPU\n#define BLOCK 512\n#endif\n"
    >>> only_macro((text,), "BLOCK"), only_macro((text, "#define BLOCK 64\n"), "BLOCK")
    (512, None)
    """
    codes = [read_c(text).code for text in dict.fromkeys(texts) if name in text]
    macro = re.compile(rf"\s*{name}\b(.*)", re.ASCII | re.DOTALL)
    every = (each for code in codes for each in directives(code) if each.word in ("define", "undef"))
    bodies = {found[1].strip() for each in every if (found := macro.match(each.rest))}
    number = _NUMBER.match(bodies.pop()) if len(bodies) == 1 else None
    if number is None or any(re.search(rf"\b{name}\s*=(?!=)", code, re.ASCII) for code in codes):
        return None
    return int(number[1])


@lru_cache(maxsize=4096)
def _constant(text: str, name: str) -> int | None:
    try:
        return constant(text, Language.C, name).value if name in text else None
    except SwzError:
        return None


def launched_blocks(
    source: str, constant_of: ConstantOf, kernels: Collection[str], path: str = ""
) -> dict[str, LaunchedBlock]:
    """The block of each of some kernels, which have names without namespace, with their template arguments.

    An extent is an integer expression of numbers, of the file's constants and macros, of variables of the
    function whose value at the launch the text tells, and of template parameters of the function to which the
    kernel's template arguments give a value. The block is None if a launch has something else, or if launches
    differ. A kernel without a launch is left out.

    >>> text = "const int W = 32; void f() { dim3 b(W, 4 * 2); ns::k<8><<<n / 2, b>>>(p); k<4><<<1, n>>>(); }"
    >>> found = launched_blocks(text, lambda name: constant_in((text,), name), ["k<8>", "k<4>"])
    >>> found["k<8>"].extents, found["k<4>"].why_not
    ((32, 8, 1), '`n` threads, whose number is not clear from the source')
    """
    text = read_c(source).code
    sites: defaultdict[str, list[LaunchSite]] = defaultdict(list)
    for site in launch_sites(text):
        sites[site.kernel].append(site)
    others = {name for call in _OTHER.findall(text) for name in re.findall(r"\w+", call)}
    variables = {each.kernel for every in sites.values() for each in every if _is_variable(text, each)}
    # A source with comments and branches left out has thousands of blanks in a row, at each of which a search begins.
    short = _BLANKS.sub(" ", text)
    found: dict[str, LaunchedBlock] = {}
    for kernel in kernels:
        name, _, arguments = kernel.partition("<")
        is_given = name in others or ((variables or others) and _is_given(short, name))
        for site in sites[name] if name not in variables else ():
            values = LaunchValues(text, site.at, constant_of).of_instance(site, template_arguments(arguments[:-1]))
            if values is None:
                continue
            extents = values.block(site.block)
            why_not = "" if extents else f"`{site.block}` threads, whose number is not clear from the source"
            if is_given:
                extents, why_not = None, "a block that a function may change"
            agree(found, kernel, LaunchedBlock(extents, source.count("\n", 0, site.at) + 1, path, why_not))
    return found


def _is_variable(text: str, site: LaunchSite) -> bool:
    """Whether what a site launches is a variable or a parameter, which stands for some kernel."""
    found = declaration_at(text, site.kernel, site.at)
    return found is not None and found.start < site.at and is_local(text, found)


def _is_given(text: str, kernel: str) -> bool:
    """Whether a kernel is the value of a variable, or an argument, so that others may launch it."""
    given = (
        rf"(?:[=(,&?:{{]|\breturn)\s*(?:\([^()]*\*\s*\))?\s*&?\s*(?:\w+\s*::\s*)*{kernel}\s*(?:<[^;<>]*>)?\s*[,;):}}]"
    )
    return re.search(given, text, re.ASCII) is not None


def agree(found: dict[str, LaunchedBlock], kernel: str, block: LaunchedBlock) -> None:
    """Add the block of a launch; the kernel has no block if another launch has a different one."""
    first = found.setdefault(kernel, block)
    if first.extents and block.extents != first.extents:
        why_not = block.why_not or f"{_threads(first)} threads, and {block.place} with {_threads(block)}"
        found[kernel] = replace(first if block.extents else block, extents=None, why_not=why_not)


def _threads(block: LaunchedBlock) -> str:
    return ",".join(map(str, block.extents or ()))

"""What a name stands for at a place of C++ code that is not compiled: where it is declared, seen and written.

The code is text without comments and literals. What may declare or write a name counts as if it did, so that no
value is taken from a declaration that another one hides.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

_WORDS: Final = (
    r"(?:(?:static|const|constexpr|unsigned|signed|int|long|short|size_t|u?int\d\d_t|auto|dim3)\s{1,99}){1,9}"
)
_NO_TYPES: Final = frozenset(
    {"return", "else", "case", "goto", "throw", "new", "delete", "co_return", "typename"}
    | {"define", "undef", "ifdef", "ifndef", "defined"}
)
_ASSIGNS: Final = r"(?:=(?!=)|[-+*/%&|^]=|<<=|>>=)"
_WRITES: Final = rf"\s*(?:\.\s*[xyz]\s*)?(?:{_ASSIGNS}|\+\+|--|(?:xor|or|and)_eq\b|\.\s*operator\b)"
_READERS: Final = frozenset(
    {"dim3", "printf", "fprintf", "min", "max", "sizeof", "if", "while", "for", "return"}
    | {"int", "unsigned", "long", "size_t", "float", "double"}
)
"""What leaves a variable between round brackets as it is."""
_CAST: Final = re.compile(
    r"\(\s*(?:(?:unsigned|int|long|size_t|float|double)\s*){1,3}\)\Z|_cast\s*<[^<>&]{0,99}>\Z", re.ASCII
)
_CLASS: Final = re.compile(r"\b(?:struct|class|union)\b[^()=]*\Z", re.ASCII)
_NAMESPACE: Final = re.compile(r'\bnamespace\b[^()]*\Z|\bextern\s*"\s*"\s*\Z', re.ASCII)
_OF_CLASS: Final = re.compile(r"[\w>]\s*::\s*~?\w+\s*\(|\b(?:struct|class)\b[^()=]*[^:]:[^:]", re.ASCII)
"""The head of a function of a class that stands outside of it, or of a class with bases."""
_BY_REFERENCE: Final = re.compile(r"\[\s*&|\[[^\[\]]*[,\s]&|\[[^\[\]]*\bthis\b", re.ASCII)
"""What a lambda sees of the code around it as that is when it runs."""
_INITIALIZED: Final = re.compile(r"\}\s*[,{]", re.ASCII)
_ELSE: Final = re.compile(r"[};]\s*else\b", re.ASCII)
_STATEMENT: Final = re.compile(r"\b(?:for|if|switch)\s*(?:constexpr\s*)?\(([^{};]*)\Z", re.ASCII)
"""A statement whose head declares what it alone sees."""
_NAME: Final = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_MOST_LETTERS: Final = 2000
"""Letters of a head, and of a call's arguments."""
_MOST_DECLARED: Final = 1000
"""Places of a file that may declare a name."""
_MOST_BLOCKS: Final = 40
"""Blocks in one another whose heads are read."""
_MOST_USES: Final = 200
"""Brackets in which a variable may be given to a function."""


class Declaration(NamedTuple):
    """A place that may declare a name.

    Attributes:
        start: Where it begins.
        begin: Where the value begins, behind its sign.
        types: The words of the type; None if these are not known, or the value is not.
        sign: What stands behind the name: `=`, or a bracket.
        opening: Where the block begins in which the name is seen.
        closing: Where that block ends.
    """

    start: int
    begin: int
    types: str | None
    sign: str
    opening: int
    closing: int


def declaration_at(code: str, name: str, at: int) -> Declaration | None:
    """The declaration of a name that is seen at an offset; None for a name without one.

    >>> declaration_at("int n = 4; void f() { k(n); }", "n", 24).begin
    7
    >>> declaration_at("int n = 4; void f(std::vector<int> n) { k(n); }", "n", 42).types is None
    True
    """
    found = _declarations(code, name)
    if found is None:
        return Declaration(at, at, None, "", 0, len(code))
    seen = [each for each in found if each.opening <= at <= each.closing]
    before = [each for each in seen if each.start < at]
    last = before[-1] if before else None
    opening = before[-1].opening if before else 0
    # A class has members whose declarations stand behind its functions.
    later = [each for each in seen if each.start > at and each.opening > opening]
    if later:
        return later[0]._replace(types=None)
    is_member = (last is None or not is_local(code, last)) and any(_OF_CLASS.search(each) for each in _heads(code, at))
    is_unclear = is_member and any(_is_of_class(code, each) for each in found if each not in seen)
    if last is not None:
        # A macro of this name may stand for something else.
        is_unclear |= _is_macro(code, name) or _leaves_branch(code, last.start, at)
    return Declaration(at, at, None, "", 0, len(code)) if is_unclear else last


def sets(code: str, name: str, begin: int, end: int) -> bool:
    """Whether anything in a stretch of code may declare or write a name."""
    found = _declarations(code, name)
    return found is None or any(begin <= each.start < end for each in found) or _may_write(name, code, begin, end)


def is_local(code: str, found: Declaration) -> bool:
    """Whether a declaration is one of a function, of its parameters or of its template's."""
    return any(not _CLASS.search(each) and not _NAMESPACE.search(each) for each in _heads(code, found.opening))


def _is_of_class(code: str, found: Declaration) -> bool:
    return _CLASS.search(next(_heads(code, found.opening), "")) is not None


def _heads(code: str, at: int) -> Iterator[str]:
    """What stands before the blocks around an offset, from the innermost one."""
    for _ in range(_MOST_BLOCKS):
        if (opening := _around(code, at)[0]) == 0:
            return
        at = opening - 1
        before = code[max(0, at - _MOST_LETTERS) : at]
        yield before[max(map(before.rfind, ";{}")) + 1 :]


@lru_cache(maxsize=256)
def _is_macro(code: str, name: str) -> bool:
    """Whether a macro has this name, or writes what has it."""
    text = rf"^[ \t\v]*#[ \t\v]*define[ \t\v]+(?:{name}\b|[^\n]*(?<![\w.]){name}{_WRITES})"
    return re.search(text, code, re.ASCII | re.MULTILINE) is not None


@lru_cache(maxsize=16)
def _branches(code: str) -> list[tuple[int, str]]:
    """The directives that begin and end branches of conditions."""
    found = re.finditer(r"^[ \t\v]*#[ \t\v]*(if|el|endif)", code, re.MULTILINE)
    return [(each.start(), each[1]) for each in found]


def _leaves_branch(code: str, begin: int, at: int) -> bool:
    """Whether a branch of a condition has an offset, and ends before another."""
    depth, every = 0, _branches(code)
    for _, word in every[bisect_left(every, (begin, "")) : bisect_left(every, (at, ""))]:
        depth += (word == "if") - (word == "endif")
        if depth < (word == "el"):
            return True
    return False


def value_of(code: str, name: str, found: Declaration) -> str:
    """The text of the value that a declaration gives; empty if there is none, or if something may write the name."""
    if found.types is None:
        return ""
    if not {"static", "constexpr"} & {*found.types.split()} and _is_of_class(code, found):
        # A constructor may set it, and whoever has an object.
        return ""
    if found.sign == "=":
        end = code.find(";", found.begin)
        value = (parts_of(code[found.begin : end]) or [""])[0]
    else:
        end = _closing(code, found.begin - 1)
        value = code[found.begin : end]
        value = f"dim3({value})" if "dim3" in found.types else value
    return "" if "const" not in found.types and _may_write(name, code, end, found.closing) else value


def assigned_before(code: str, name: str, found: Declaration, at: int) -> tuple[str, int] | None:
    """What the last assignment before an offset gives a variable, and where; None if it is not clear which is the last.

    The assignment is a statement by itself in a block around the offset. Nothing between it and the end of
    the part of this block that has the offset may write the variable, since that part may be a loop.

    >>> code = "{ dim3 b; b = dim3(64); while (n) { k<<<1, b>>>(); } b = dim3(32); }"
    >>> assigned_before(code, "b", declaration_at(code, "b", 38), 38)
    ('dim3(64)', 13)
    """
    if not is_local(code, found):
        # Any function may assign it.
        return None
    last, behind = None, max(0, found.begin - 1)
    for number, each in enumerate(re.finditer(rf"[;{{}}]\s*{name}\s*=(?!=)", code[behind:at], re.ASCII)):
        last = each if number < _MOST_USES else None
    if (found.types is None and code[behind] not in ";,") or last is None:
        return None
    begin = behind + last.end()
    opening, closing = _around(code, begin)
    end = code.find(";", begin)
    if not opening <= at <= closing or not begin < end < at or _leaves_branch(code, begin, at):
        return None
    scope = code[found.opening : found.closing]
    if re.search(r"\bgoto\b", scope) or _BY_REFERENCE.search(scope) or re.search(r"\b(?:case|default)\b", code[end:at]):
        return None
    part = at
    while (inner := _around(code, part))[0] > opening:
        part = inner[0] - 2
        at = max(at, inner[1])
    is_alias = re.search(rf"(?<!&)&[\s(]*{name}\b|&\s*\w+\s*(?:=(?!=)|[({{])[^;]{{0,200}}\b{name}\b", scope)
    return None if is_alias or _may_write(name, code, end, at) else (code[begin:end].strip(), begin)


def parts_of(text: str) -> list[str]:
    """The text between commas outside brackets; nothing where brackets do not balance."""
    depth, parts, begin = 0, list[str](), 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return []
        if depth == 0 and letter == ",":
            parts.append(text[begin:at])
            begin = at + 1
    return [] if depth else [*parts, text[begin:]]


@lru_cache(maxsize=256)
def _declarations(code: str, name: str) -> list[Declaration] | None:
    """All places that may declare a name, in order; None if there are too many."""
    plain = rf"\b({_WORDS})?(\w+)?(?:(?<=\w)\s+|(?<=\s)|\s*&\s*){name}\s*(=(?!=)|[({{,;)>[]|:(?!:))"
    unknown = "|".join(
        (
            # A type that ends with a bracket or a sign, or a further name of a declaration.
            rf"(?:(?<!-)>|&)\s*{name}\s*(?:=(?!=)|[{{;,):](?!:))",
            rf"[)\[,(]\s*\(?{name}\)?\s*{_ASSIGNS}",
            rf"[;{{}}]\s*\({name}\)\s*{_ASSIGNS}",
            rf"\}}\s*{name}\s*{_ASSIGNS}",
            rf",\s*{name}\s*[{{(;]",
            rf"(?<![^;{{}}(])\s*{_WORDS}[^;{{}}()]*,\s*{name}\s*,",
            rf"\busing\s+[\w:]*::{name}\s*;",
            rf"\.\.\.\s*{name}\b",
            rf"\(\s*[*&]\s*{name}\s*\)\s*[(\[]",
            rf"\bauto\s*(?:const\s*)?&{{0,2}}\s*\[[^\]]*\b{name}\b",
        )
    )
    known = [
        (each.start(), each.end(), None if each[2] or each[3] in ",;)>[:" else each[1], each[3])
        for each in re.finditer(plain, code, re.ASCII)
        if (each[1] or each[2]) and each[2] not in _NO_TYPES
    ]
    further = rf"(?:^|[;{{}}])\s*({_WORDS})\w+\s*=[^;{{}}()]*,\s*{name}\s*=(?!=)"
    known += [(each.start(), each.end(), each[1], "=") for each in re.finditer(further, code, re.ASCII | re.MULTILINE)]
    ends = {end for _, end, _, _ in known}
    others = [
        (each.start(), each.end(), None, "")
        for each in re.finditer(unknown, code, re.ASCII)
        if each.end() not in ends and not _ends_statements(code, each)
    ]
    enumerators = [
        Declaration(each.start(), each.end(), None, "", *_around(code, each.start()))
        for each in re.finditer(rf"\benum\b[^{{}};()]*\{{[^{{}}]*\b{name}\b", code, re.ASCII)
    ]
    if len(known) + len(others) + len(enumerators) > _MOST_DECLARED:
        return None
    made = [Declaration(start, end, types, sign, *_seen(code, end - 1)) for start, end, types, sign in known + others]
    return sorted(made + enumerators, key=lambda each: each.begin)


def _ends_statements(code: str, found: re.Match[str]) -> bool:
    """Whether what is found begins behind a block of statements, and so declares nothing."""
    if code[found.start()] != "}":
        return False
    opening = _around(code, found.start())[0] - 1
    before = code[max(0, opening - _MOST_LETTERS) : opening]
    return code[opening : opening + 1] == "{" and re.search(r"[;{})]\s*(?:else|do|try)?\s*\Z", before) is not None


def _seen(code: str, declared: int) -> tuple[int, int]:
    """Where a name is seen that is declared at an offset: the block around it, or what its head belongs to."""
    head = _head_end(code, declared)
    if head is None:
        return _around(code, declared)
    begin, end = code.find("{", head), code.find(";", head)
    while ":" in code[head:begin] and (further := _INITIALIZED.match(code, _closing(code, begin))):
        # A constructor sets members before its block.
        begin = code.find("{", further.end() - 1)
    opening, closing = head, max(head, end)
    if not (begin < 0 or 0 <= end < begin):
        opening, closing = begin + 1, _around(code, begin + 1)[1]
    while further := _ELSE.match(code, closing):
        begin, end = code.find("{", further.end()), code.find(";", further.end())
        closing = max(further.end(), end) if begin < 0 or 0 <= end < begin else _around(code, begin + 1)[1]
    return opening, closing


def _head_end(code: str, at: int) -> int | None:
    """Where the round brackets end, or the list of a template, that an offset is in; None if it is in none."""
    depth = 0
    before = _STATEMENT.search(code, max(0, at - _MOST_LETTERS), at)
    has_parts = before is not None and before[1].count("(") == before[1].count(")")
    for place in range(at, min(at + _MOST_LETTERS, len(code))):
        if (code[place] in "{}" and depth == 0) or (code[place] == ";" and depth == 0 and not has_parts):
            break
        depth += (code[place] == "(") - (code[place] == ")")
        if depth < 0:
            return place
    begin = max(0, at - _MOST_LETTERS)
    is_template = re.search(r"\btemplate\s*<[^;{}()]*\Z", code[begin : at + 1], re.ASCII)
    return at if is_template else None


@lru_cache(maxsize=16)
def _blocks(code: str) -> tuple[list[int], list[int], list[int]]:
    """All braces, with the begin and the end of the innermost block around the text before each of them."""
    braces = [each.start() for each in re.finditer("[{}]", code)]
    begins, ends, around = list[int](), list[int](), [0]
    for each in braces:
        begins.append(around[-1])
        if code[each] == "{":
            around.append(each + 1)
        elif len(around) > 1:
            around.pop()
    begins.append(around[-1])
    around = [len(code)]
    ends.append(len(code))
    for each in reversed(braces):
        if code[each] == "}":
            around.append(each)
        elif len(around) > 1:
            around.pop()
        ends.append(around[-1])
    return braces, begins, ends[::-1]


def _around(code: str, at: int) -> tuple[int, int]:
    """The begin and the end of the innermost block around an offset."""
    braces, begins, ends = _blocks(code)
    place = bisect_left(braces, at)
    return begins[place], ends[place]


def _closing(code: str, opening: int) -> int:
    """The bracket that closes the one at an offset; the end of the code if none does."""
    depth = 0
    for at in range(opening, min(len(code), opening + _MOST_LETTERS)):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0:
            return at
    return len(code)


@lru_cache(maxsize=1024)
def _may_write(name: str, code: str, begin: int, end: int) -> bool:
    """Whether anything in a stretch of code assigns a variable, takes its address, or gives it to a function."""
    scope = code[begin:end]
    written = "|".join(
        (
            rf"\b{name}\b{_WRITES}",
            rf"(?:\+\+|--|(?<!&)&)[\s(]*{name}\b",
            rf"\(\s*{name}\s*(?:\.\s*[xyz]\s*)?\){_WRITES}",
            rf">>\s*{name}\b(?!\s*[-+*/,)])",
            # Assignments to brackets, and references to what is made of it.
            rf"\b{name}\b[^;{{}}=]{{0,200}}\)\s*{_ASSIGNS}",
            rf"&\s*\w+\s*(?:=(?!=)|[({{])[^;]{{0,200}}\b{name}\b",
        )
    )
    return re.search(written, scope, re.ASCII) is not None or any(
        called not in _READERS and not _takes_values(code, called) for called in _calls_with(name, scope)
    )


@lru_cache(maxsize=256)
def _takes_values(code: str, called: str) -> bool:
    """Whether a function is defined in the code, and no declaration of its name has a parameter that is a reference."""
    if not called:
        return False
    heads = re.findall(rf"\w[\s\v*]+{called}\s*\(([^;{{}}()]{{0,{_MOST_LETTERS}}})\)\s*([;{{])", code, re.ASCII)
    others = re.search(rf"#[ \t\v]*define\s+{called}\b|[&>]\s*{called}\s*\(", code, re.ASCII)
    return any(sign == "{" for _, sign in heads) and others is None and not any("&" in each for each, _ in heads)


def _calls_with(name: str, scope: str) -> Iterator[str]:
    """The functions that get a variable itself as an argument; empty for one without a name, or if there are many."""
    uses = re.finditer(rf"[({{,]\s*{name}\s*(?:\.\s*[xyz]\s*)?(?=[,)}}])", scope, re.ASCII)
    for number, found in enumerate(uses):
        if number == _MOST_USES:
            yield ""
            return
        depth, begin = 0, max(0, found.start() - _MOST_LETTERS)
        for at in range(found.start(), begin - 1, -1):
            depth += (scope[at] in ")}") - (scope[at] in "({")
            if depth == 0 and (scope[at] == ";" or scope.startswith("<<<", at)):
                break
            if depth < 0:
                yield _called(scope, at)
                break


def _called(scope: str, at: int) -> str:
    """The function to which the bracket at an offset gives arguments; `dim3` where it only makes a value."""
    before = scope[max(0, at - _MOST_LETTERS) : at]
    # `dim3 block(8, n), grid(m, n)` makes each of values.
    made = re.search(r"\bdim3\s+([^;{}]*)\Z", before, re.ASCII)
    if made is not None and made[1].count("(") == made[1].count(")"):
        return "dim3"
    called = _NAME.search(before := before.rstrip())
    is_call = called is not None or (before.endswith((")", "]", ">", "}", '"')) and not _CAST.search(before))
    return called[0] if called is not None else "" if is_call else "dim3"

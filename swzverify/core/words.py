"""Words that texts of many kinds share: a number with its noun, runs of numbers, lists, places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "lane"), counted(24, "lane"), counted(2, "access")
    ('1 lane', '24 lanes', '2 accesses')
    """
    return f"{count} {noun}" + ("" if count == 1 else "es" if noun.endswith("s") else "s")


def listed(words: Iterable[object], last: str = "and") -> str:
    """Words with commas between, and another word before the last.

    >>> listed([]), listed([3]), listed([0, 1, 2]), listed(["a", "b"], "or")
    ('', '3', '0, 1 and 2', 'a or b')
    """
    *some, end = [*map(str, words)] or [""]
    return f"{', '.join(some)} {last} {end}" if some else end


def runs(numbers: Iterable[int]) -> list[list[int]]:
    """Ascending numbers, those together that follow each other.

    >>> runs([0, 1, 2, 5, 7, 8])
    [[0, 1, 2], [5], [7, 8]]
    """
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def spans(numbers: Iterable[int], between: str = ", ") -> str:
    """Ascending numbers in short.

    >>> spans([0, 1, 2, 5, 7, 8]), spans([4, 6], ",")
    ('0-2, 5, 7-8', '4,6')
    """
    return between.join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs(numbers))


def binding_text(binding: Mapping[str, int]) -> str:
    """Variables with their values.

    >>> binding_text({"warp": 0, "k": 16})
    'warp = 0, k = 16'
    """
    return ", ".join(f"{name} = {value}" for name, value in binding.items())

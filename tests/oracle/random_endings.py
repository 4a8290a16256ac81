"""Random terms that leave the range in some iteration of an open loop, in every thread or in one."""

from __future__ import annotations

from dataclasses import dataclass

from .random_parts import WIDTH_BYTES, Draft
from .yaml_values import Yaml

LARGE = (100_000, 1_000_000, 50_000_000, 70_000_000, 2_147_483_647, 3_000_000_000, 4_294_967_295)


@dataclass(frozen=True, slots=True)
class OpenAccess:
    """An access in the making, and what its terms are made of."""

    fields: dict[str, Yaml]
    open_names: tuple[str, ...]
    threads: int
    width: int


def as_open(fields: dict[str, Yaml]) -> OpenAccess:
    """What `add_ending` needs of an access that is there already."""
    loops, threads = fields["for"], fields["threads"]
    assert isinstance(loops, dict)
    assert isinstance(threads, int)
    names = tuple(key for key in sorted(loops) if loops[key] == "any")
    return OpenAccess(fields, names, threads, WIDTH_BYTES[str(fields["instruction"])])


def ending(draft: Draft, drawn: OpenAccess, *, threads: bool = True) -> str:
    """A term that leaves the range from some iteration on, or up to one, in every thread or in one."""
    rng = draft.rng
    k = rng.choice(drawn.open_names)
    large = rng.choice(LARGE)
    of_loops = (
        f"{k}*{large}",
        f"(0 - {k})*{rng.choice((1, 2, large))}",
        f"({k} << {rng.choice((8, 20, 31))})",
        f"({k} - {rng.choice((2_147_483_649, 3_000_000_000, 4_294_967_295))})",
        f"({k} + {rng.choice((4_294_967_295, 4_294_967_290, 1))})",
        f"~{k}*2",
    )
    if not threads or draft.chance(0.3):
        return rng.choice(of_loops)
    who = rng.choice(
        (
            f"({drawn.threads - 1} - tid)",
            "(tid + 1)",
            f"(tid == {rng.choice((0, drawn.threads // 2, drawn.threads - 1))})",
            "tid",
            "(lane - 3)",
        )
    )
    return rng.choice((f"{who}*{k}*{large}", f"{k}*{who}*{large}", f"{who}*{large}*{k}"))


def hidden(draft: Draft, term: str) -> str:
    """The term where it changes no value: in what is not taken, or times 0."""
    return draft.rng.choice(
        (
            f"0*({term})",
            f"({term})*0",
            f"(tid < 0 ? {term} : 0)",
            f"(lane >= 0 ? 0 : {term})",
            f"(({term}) & 0)",
            f"(0 && ({term}))",
            f"((1 || ({term})) - 1)",
        )
    )


def add_ending(draft: Draft, drawn: OpenAccess) -> None:
    """A term that leaves the range put into one of the access's expressions."""
    rng = draft.rng
    fields = drawn.fields
    term = ending(draft, drawn)
    places = ["address"] if "address" in fields else ["coord", "coord", "stage" if "stage" in fields else "coord"]
    place = rng.choice((*places, *places, "if", "assume"))
    if place == "coord":
        coordinates = fields["coord"]
        assert isinstance(coordinates, list)
        at = rng.randrange(len(coordinates))
        changed = list(coordinates)
        changed[at] = f"{coordinates[at]} + {hidden(draft, term)}"
        fields["coord"] = changed
    elif place == "assume":
        assumptions = fields.get("assume", [])
        assert isinstance(assumptions, list)
        of_loops = ending(draft, drawn, threads=False)
        fields["assume"] = [*assumptions, f"{of_loops} {rng.choice(('>=', '!=', '<='))} {rng.choice((0, 1))}"]
    elif place == "if":
        condition = f"({fields.get('if', 1)})"
        fields["if"] = rng.choice(
            (f"{condition} || {term} < 0", f"{condition} && {term} != 1", f"{condition} && {term}")
        )
    else:
        fields[place] = f"({fields[place]}) + {hidden(draft, term)}"

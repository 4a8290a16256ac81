"""Random blocks of two and three dimensions, and warps that need unequally many wavefronts at the
least.
"""

from __future__ import annotations

from math import prod

from .random_parts import WIDTH_BYTES, Draft
from .yaml_values import Yaml

BLOCKS = (
    (5, 3),
    (7, 2, 3),
    (33, 1),
    (16, 1, 5),
    (8, 4),
    (1, 40),
    (3, 3, 3),
    (2, 17),
    (32, 2),
    (4, 4, 4),
    (1, 1, 33),
    (12, 3, 2),
    (9,),
    (40,),
)
AXES = "xyz"
WIDE = ("ld.shared.v4.b32", "st.shared.v4.b32", "ld.shared.b64", "st.shared.b64", "cp.async.16", "cp.async.ca.16")
ANY = (*WIDE, "ld.shared.b32", "st.shared.b8", "atom.shared.add.u32")
PARTIAL = (33, 34, 40, 50, 100, 36, 41, 65, 72, 31, 9)


def blocks(draft: Draft) -> None:
    """Accesses that read the axes of a block, alone or against the same in other words."""
    rng = draft.rng
    block = rng.choice(BLOCKS)
    instruction = rng.choice(ANY)
    width = WIDTH_BYTES[instruction]
    fields: dict[str, Yaml] = {"instruction": instruction, "block": list[Yaml](block)}
    fields["address"] = f"({_index(draft, block)})*{width}"
    if draft.chance(0.3):
        fields["address"] = f"{_place(draft, block)}*{width}"
    fields["bytes"] = rng.choice((prod(block) * width, 512, 1024, 128))
    if draft.chance(0.4):
        axis = rng.choice(AXES[: len(block)])
        fields["if"] = rng.choice(
            (f"tid_{axis} < {rng.choice((1, 2, 3))}", f"threadIdx.{axis}%2 == 0", f"tid_{axis} == blockDim.{axis} - 1")
        )
    name = draft.fresh("block")
    draft.accesses[name] = fields
    for kind in rng.sample(("aligned", "in_bounds", "conflict_free", "wavefronts"), 2):
        draft.claim(kind, {"access": name, "at_most": rng.choice((1, 2, 4, 8))} if kind == "wavefronts" else name)
    if draft.chance(0.6):
        _add_twin(draft, name, block, fields)
    if draft.chance(0.08):
        _read_too_much(draft)


def _add_twin(draft: Draft, name: str, block: tuple[int, ...], fields: dict[str, Yaml]) -> None:
    """The same threads, as a count or in the same block, with an index in other words or a wrong
    one.
    """
    rng = draft.rng
    width = WIDTH_BYTES[str(fields["instruction"])]
    twin = {key: value for key, value in fields.items() if key not in ("block", "if", "address")}
    twin["threads"] = prod(block)
    twin["address"] = f"{rng.choice(('tid', '(warp*32 + lane)', 'tid_x', 'threadIdx.x'))}*{width}"
    if "if" in fields or draft.chance(0.4):
        del twin["threads"]
        twin["block"] = list[Yaml](block)
        twin["address"] = f"({_index(draft, block)})*{width}"
        if "if" in fields:
            twin["if"] = fields["if"]
    other = draft.fresh("block")
    draft.accesses[other] = twin
    draft.claim("equivalent", [name, other] if draft.chance(0.5) else [other, name])


def _index(draft: Draft, block: tuple[int, ...]) -> str:
    """The linear index in the words of the axes; once in a while with the axes in a wrong order."""
    rng = draft.rng
    x, y, z = (rng.choice((f"tid_{axis}", f"threadIdx.{axis}")) for axis in AXES)
    wide = rng.choice(("blockDim.x", str(block[0])))
    if len(block) == 1:
        return rng.choice((x, "tid", f"{x}%{wide}"))
    if len(block) == 2:
        return rng.choice((f"{y}*{wide} + {x}", f"{x} + {wide}*{y}", f"{x}*blockDim.y + {y}"))
    plane = rng.choice(("blockDim.x*blockDim.y", f"{block[0] * block[1]}"))
    return rng.choice(
        (f"({z}*blockDim.y + {y})*{wide} + {x}", f"{x} + {y}*{wide} + {z}*({plane})", f"{z}*{wide} + {y}")
    )


def _place(draft: Draft, block: tuple[int, ...]) -> str:
    """Any place made of the axes."""
    rng = draft.rng
    axes = [rng.choice((f"tid_{axis}", f"threadIdx.{axis}")) for axis in AXES[: len(block)]]
    return "(" + " + ".join(f"{axis}*{rng.choice((1, 2, 8, 32, 33))}" for axis in axes) + ")"


def _read_too_much(draft: Draft) -> None:
    """An access that reads an axis of which its block says nothing."""
    rng = draft.rng
    shape: dict[str, Yaml] = rng.choice(({"threads": 32}, {"block": [32]}, {"block": [8, 4]}))
    axis = "z" if len(shape.get("block", [0])) == 2 else rng.choice("yz")  # type: ignore[arg-type]  # a list
    name = rng.choice((f"tid_{axis}", f"threadIdx.{axis}", f"blockDim.{axis}"))
    access: dict[str, Yaml] = {"instruction": "ld.shared.b32", **shape, "address": "tid*4"}
    if draft.chance(0.5):
        access["address"] = f"tid*4 + {name}*128"
    else:
        access["if"] = f"{name} < 2"
    draft.accesses[draft.fresh("flat")] = access


def _two_worst_cases(draft: Draft, instruction: str, threads: int) -> None:
    """A whole warp without conflicts takes the most wavefronts, and the few lanes of a partial one
    collide.
    """
    width = WIDTH_BYTES[instruction]
    stride = draft.rng.choice((8, 128 // width, 256 // width))
    name = draft.fresh("part")
    place = f"(tid < 32 ? tid : tid*{stride})*{width}"
    draft.accesses[name] = {"instruction": instruction, "threads": threads, "address": place}
    for kind in draft.rng.sample(("conflict_free", "wavefronts"), draft.rng.choice((1, 2))):
        claims: Yaml = name if kind == "conflict_free" else {"access": name, "at_most": draft.rng.choice((1, 2, 4, 8))}
        draft.claim(kind, claims)


def unequal_warps(draft: Draft) -> None:
    """A partial warp, and groups without an active lane: warps with other minimums, and other worst
    cases.
    """
    rng = draft.rng
    instruction = rng.choice((*WIDE, *WIDE, "ld.shared.b32", "cp.async.8"))
    width = WIDTH_BYTES[instruction]
    threads = rng.choice(PARTIAL)
    x = rng.choice(("tid", "lane"))
    if draft.chance(0.4):
        _two_worst_cases(draft, instruction, rng.choice((33, 34, 36, 40)))
        return
    place = rng.choice(
        (
            x,
            x,
            f"{x}*{rng.choice((2, 4, 8))}",
            f"({x} < {rng.choice((32, 8, 16))} ? {x} : {x}*{rng.choice((2, 8, 32 // max(1, width // 4)))})",
            f"({x} + warp*{rng.choice((1, 3))}*({x}%2))",
            f"({x}%8*{rng.choice((1, 8))} + {x}/8*{rng.choice((8, 1, 64))})",
            f"({x} ^ warp)",
            f"{x}/2",
        )
    )
    fields: dict[str, Yaml] = {"instruction": instruction, "threads": threads, "address": f"{place}*{width}"}
    if draft.chance(0.6):
        fields["if"] = rng.choice(
            (
                "lane >= 16",
                "tid%16 < 8",
                "tid >= 32 || lane < 4",
                "lane/8 != 1",
                "lane < 8 || warp == 1",
                "tid < 33",
                f"tid >= {threads - 2} || lane%8 < 3",
                "warp%2 == 0 || lane/8%2",
            )
        )
    if draft.chance(0.3):
        fields["for"] = {"i": rng.choice((2, 3))}
        fields["address"] = f"({place})*{width}*(1 + i) + i*{rng.choice((128, 16))}"
    name = draft.fresh("part")
    draft.accesses[name] = fields
    draft.claim("conflict_free", name)
    draft.claim("wavefronts", {"access": name, "at_most": rng.choice((1, 2, 3, 4, 4, 5, 8))})

"""The JSON Schema: draft 7, a description and examples on every key, and it accepts every spec that
loads.
"""

from __future__ import annotations

import copy
import json
import random
import re
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from swzverify.errors import SwzError
from swzverify.hardware import GLOBAL_INSTRUCTIONS, INSTRUCTIONS, TARGETS, find_any_instruction
from swzverify.spec import SpecError, load_spec, parse_spec
from swzverify.spec.fields import Part
from swzverify.spec.models import SpecPart
from swzverify.spec.schema import instruction_schema
from tests.editors.trees import data_of, keys, subschemas
from tests.oracle.random_parts import seeded
from tests.oracle.random_specs import random_spec

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "specs").rglob("*.swz.yaml"))
SHIPPED = ROOT / "docs" / "schemas" / "spec-1.schema.json"

KNOWN_TO_DRAFT_7 = {
    *("$schema", "$ref", "title", "description", "examples", "default", "definitions", "type", "enum", "const"),
    *("properties", "patternProperties", "additionalProperties", "required", "propertyNames", "maxProperties"),
    *("items", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern", "minimum", "maximum"),
    *("allOf", "anyOf", "not", "if", "then", "else", "minProperties"),
}


def loads(data: object) -> bool:
    try:
        parse_spec(json.dumps(data))
    except SpecError:
        return False
    return True


class TestForm:
    def test_it_is_draft_7(self, schema):
        assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
        Draft7Validator.check_schema(schema)

    def test_it_uses_no_keyword_of_another_draft(self, schema):
        used = {keyword for _, part in subschemas(schema, rules=True) for keyword in part}
        assert used <= KNOWN_TO_DRAFT_7
        assert {"if", "patternProperties", "propertyNames"} <= used

    def test_nothing_stands_beside_a_reference(self, schema):
        alone = [part for _, part in subschemas(schema) if "$ref" in part]
        assert len(alone) > 20
        assert all(len(part) == 1 for part in alone)
        assert {part["$ref"].removeprefix("#/definitions/") for part in alone} == set(schema["definitions"])

    def test_every_mapping_is_closed(self, schema):
        mappings = [part for _, part in subschemas(schema) if part.get("type") == "object"]
        assert len(mappings) > 30
        assert all(part["additionalProperties"] is False for part in mappings)

    def test_every_key_has_a_description_and_examples(self, schema):
        found = list(keys(schema))
        assert len(found) > 100
        poor = [
            f"{model}.{key}" for model, key, part in found if not (part.get("description") and part.get("examples"))
        ]
        assert not poor

    def test_the_names_of_the_tables_are_listed(self, schema):
        accesses = schema["definitions"]["AccessPart"]["properties"]
        assert accesses["instruction"]["anyOf"][0]["enum"] == [*INSTRUCTIONS, *GLOBAL_INSTRUCTIONS]
        assert schema["properties"]["target"]["anyOf"][0]["enum"] == list(TARGETS)

    def test_the_shipped_file_is_the_command_s_output(self, swzverify):
        assert SHIPPED.read_text(encoding="utf-8") == swzverify("schema").stdout

    def test_output_goes_to_a_file(self, swzverify, tmp_path):
        file = tmp_path / "a.json"
        file.write_text("old")
        assert swzverify("schema", "--output", str(file)).output == ""
        assert file.read_text() == SHIPPED.read_text(encoding="utf-8")

    def test_a_file_that_cannot_be_written(self, swzverify, tmp_path):
        result = swzverify("schema", "--output", str(tmp_path / "none" / "a.json"))
        assert (result.exit_code, result.stdout) == (2, "")
        assert "SWZ521 cannot write" in result.stderr
        assert "No such file" in result.stderr


CODE = '.section .text._Z4gemmPKfPf,"ax",@progbits\nFFMA R0, R4, R5, R0;\n'

WHOLE = {
    "swzverify": 1,
    "constants": {"BM": 64, "BK": 64},
    "memories": {"smem": {"bytes": 98304}},
    "tiles": {
        "A": {"element": "f16", "layout": "(64,64):(64,1)", "stages": 2},
        "B": {"element": "f16", "layout": "(64,64):(64,1)"},
    },
    "accesses": {
        "read_A": {
            "tile": "A",
            "instruction": "ldmatrix.x4",
            "threads": 128,
            "for": {"k": 4, "i": 4},
            "coord": ["warp*16 + lane%16", "k*16 + lane/16*8"],
        },
        "write_A": {
            "tile": "A",
            "instruction": "st.shared.v4.b32",
            "threads": 128,
            "for": {"i": 4},
            "coord": ["i*16 + tid/8", "tid%8*8"],
        },
        "walk_A": {
            "instruction": "ldmatrix.x4",
            "threads": 128,
            "for": {"k": 4},
            "walk": {"start": "lane*16", "xor": 32},
        },
        "copy_A": {
            "instruction": "cp.async.16",
            "threads": 128,
            "address": "tid*16",
            "source": {"address": "tid*16"},
        },
        "store_C": {"instruction": "st.global.v4.f32", "threads": 128, "address": "tid*16", "base": {"align": 256}},
    },
    "maps": {
        "grouped": {"over": {"bid": 128}, "value": ["bid%8 + bid/64*8", "bid/8%8"], "onto": [16, 8]},
        "strips": {"over": {"bid": 128}, "value": ["bid%16", "bid/16"], "onto": [16, 8]},
    },
    "listings": {
        "inner_loop": {"target": "sm_52", "text": CODE},
        "epilogue": {"target": "sm_52", "text": "FADD R0, R1, R2;"},
    },
    "claims": [],
}
"""A spec with everything that an example may name, but for operands."""

OPERANDS = {
    "swzverify": 1,
    "target": "sm_90a",
    "memories": {"smem": {"bytes": 98304}},
    "tiles": {"A": {"element": "f16", "layout": "(128,128):(128,1)", "stages": 3, "base": {"in": "smem"}}},
    "operands": {
        role: {
            "instruction": "wgmma.m64n128k16.f16",
            "role": role,
            "for": {"stage": 3, "k": 4},
            "descriptor": {"start": "k*32", "sbo": 1024, "swizzle": "128B"},
            "reads": {"tile": "A", "at": [0, "k*16"], "stage": "stage"},
        }
        for role in "AB"
    },
    "accesses": {
        "load_A": {
            "tile": "A",
            "instruction": "ldmatrix.x4",
            "threads": 32,
            "stage": 0,
            "coord": ["lane%16", "lane/16*8"],
            "fragment": {"mma": "m16n8k16.f16", "role": "A", "at": [0, 0]},
        }
    },
    "claims": [],
}
"""The same for operands of the tensor core."""

_OF_A = {"tile": "A", "threads": 128, "coord": ["tid/8*4", "tid%8*8"]}
ORDER = {
    "swzverify": 1,
    "target": "sm_90a",
    "tiles": {"A": {"element": "f16", "layout": "(64,64):(64,1)", "stages": 3}},
    "operands": {
        "A": {
            "instruction": "wgmma.m64n64k16.f16",
            "role": "A",
            "for": {"s": 3},
            "descriptor": {"start": "s*8192", "lbo": 1024, "sbo": 128, "swizzle": "none"},
            "reads": {"tile": "A", "at": [0, 0], "stage": "s"},
        }
    },
    "accesses": {
        "write_A": {**_OF_A, "instruction": "st.shared.v4.b32", "for": {"i": "any"}, "stage": "i%3"},
        "copy_A": {**_OF_A, "instruction": "cp.async.16", "for": {"k": "any"}, "stage": "k%3"},
        "read_A": {**_OF_A, "instruction": "ld.shared.v4.b32", "for": {"i": "any"}, "stage": "i%3"},
        "store_C": {**_OF_A, "instruction": "st.shared.v4.b32", "stage": 0},
    },
    "phases": {
        "mainloop": {
            "for": {"i": "any"},
            "steps": ["write_A", {"access": "copy_A", "at": {"k": "i + 2"}}, {"wait_group": 1}, "barrier", "read_A"],
        },
        "ring": {
            "for": {"i": "any"},
            "barriers": {"full": {"stages": 3, "arrivals": 1}, "empty": {"stages": 3, "arrivals": 1}},
            "roles": {
                "producer": {
                    "threads": "warp == 0",
                    "steps": [
                        {"wait": "empty", "stage": "i%3", "phase": "(i/3+1)%2"},
                        "write_A",
                        {"arrive": "full", "stage": "i%3"},
                        {"tma": "A", "stage": "i%3", "barrier": "full", "by": "tid == 0"},
                        {"fence": "proxy"},
                        {"bar_sync": 1, "threads": 64},
                        {"bar_arrive": 2, "threads": 64},
                    ],
                }
            },
        },
        "products": {
            "for": {"i": "any"},
            "threads": 128,
            "roles": {
                "all": {"threads": "tid < 128", "steps": [{"wgmma": "A", "at": {"s": "i%3"}}, {"wgmma_wait": 0}]}
            },
        },
    },
    "claims": [],
}
"""The same for the order of accesses."""

A, READ = ("tiles", "A"), ("accesses", "read_A")
PRODUCER = ("phases", "ring", "roles", "producer")
PLACES: dict[str, tuple[tuple[str | int, ...], object]] = {
    "SpecPart": ((), WHOLE),
    "MemoryPart": (("memories", "smem"), {"bytes": 98304}),
    "TilePart": (A, WHOLE["tiles"]["A"]),
    "AccessPart": (READ, WHOLE["accesses"]["read_A"]),
    "MapPart": (("maps", "grouped"), WHOLE["maps"]["grouped"]),
    "OperandPart": (("operands", "A"), OPERANDS["operands"]["A"]),
    "DescriptorPart": (("operands", "A", "descriptor"), OPERANDS["operands"]["A"]["descriptor"]),
    "CompiledOperandPart": (("operands", "A", "compiled"), {"file": "k.ptx", "line": 12}),
    "PhasePart": (("phases", "mainloop"), ORDER["phases"]["mainloop"]),
    "RunPart": (("phases", "mainloop", "steps", 1), {"access": "copy_A", "at": {"k": 0}}),
    "WaitPart": (("phases", "mainloop", "steps", 2), {"wait_group": 1}),
    "PassPart": ((*PRODUCER, "steps", 0), {"wait": "empty", "stage": "i%3", "phase": "(i/3+1)%2"}),
    "ArrivePart": ((*PRODUCER, "steps", 2), {"arrive": "full", "stage": "i%3"}),
    "CopyPart": ((*PRODUCER, "steps", 3), {"tma": "A", "stage": "i%3", "barrier": "full", "by": "tid == 0"}),
    "ProductPart": (("phases", "products", "roles", "all", "steps", 0), {"wgmma": "A", "at": {"s": "i%3"}}),
    "ProductWaitPart": (("phases", "products", "roles", "all", "steps", 1), {"wgmma_wait": 0}),
    "FencePart": ((*PRODUCER, "steps", 4), {"fence": "proxy"}),
    "BarSyncPart": ((*PRODUCER, "steps", 5), {"bar_sync": 1, "threads": 64}),
    "BarArrivePart": ((*PRODUCER, "steps", 6), {"bar_arrive": 2, "threads": 64}),
    "BarrierPart": (("phases", "ring", "barriers", "full"), {"stages": 3, "arrivals": 1}),
    "RolePart": (PRODUCER, ORDER["phases"]["ring"]["roles"]["producer"]),
    "ReadsPart": (("operands", "A", "reads"), OPERANDS["operands"]["A"]["reads"]),
    "FragmentPart": ((*READ, "fragment"), {"mma": "m16n8k16.f16", "role": "A", "at": ["warp*16", "k"]}),
    "ListingPart": (("listings", "inner_loop"), WHOLE["listings"]["inner_loop"]),
    "AlignedBasePart": ((*A, "base"), {"align": 16}),
    "MemoryBasePart": ((*A, "base"), {"in": "smem"}),
    "DenseLayoutPart": ((*A, "layout"), {"shape": [64, 64]}),
    "SwizzlePart": ((*A, "swizzle"), {"bits": 3, "base": 4, "shift": 3}),
    "TmaPart": (("tiles", "C"), {"element": "f16", "tma": {"swizzle": "128B", "box": [64, 64]}}),
    "StagesPart": ((*A, "stages"), {"count": 2}),
    "LoopPart": ((*READ, "for", "k"), {"stop": 4}),
    "WalkPart": (("accesses", "walk_A", "walk"), {"start": "lane*16", "xor": 32}),
    "SourcePart": (("accesses", "copy_A", "source"), {"address": "tid*16"}),
    "CompiledPart": (("accesses", "in_the_code", "compiled"), {"file": "k.ptx", "line": 12}),
    "LaneRangePart": ((*READ, "lanes", "row"), {"stop": 4}),
    "LaneBitsPart": ((*READ, "lanes", "index"), {"bits": 4}),
    "SourceConstantPart": (("from_source", "BK"), {"file": "../src/gemm.cu"}),
    "SweepPart": (("sweep",), {"over": {"BK": [32, 64]}}),
    "AxisPart": (("sweep", "over", "E"), {"at": "tiles.A.element", "values": ["i8", "f16"]}),
    "TileArgument": (("claims", 0), {"injective": {"tile": "A"}}),
    "AccessArgument": (("claims", 0), {"aligned": {"access": "read_A"}}),
    "MapArgument": (("claims", 0), {"permutation": {"map": "grouped"}}),
    "OperandArgument": (("claims", 0), {"delivers": {"operand": "A"}}),
    "PhaseArgument": (("claims", 0), {"race_free": {"phase": "mainloop"}}),
    "ReadsWhatWasWrittenArgument": (
        ("claims", 0),
        {"reads_what_was_written": {"read": "read_A", "write": "write_A"}},
    ),
    "ListingArgument": (("claims", 0), {"register_conflict_free": {"listing": "inner_loop"}}),
    "TilesArgument": (("claims", 0), {"equivalent": {"tiles": ["A", "B"]}}),
    "AccessesArgument": (("claims", 0), {"equivalent": {"accesses": ["read_A", "write_A"]}}),
    "OperandsArgument": (("claims", 0), {"delivers": {"operands": ["A", "B"]}}),
    "MapsArgument": (("claims", 0), {"equivalent": {"maps": ["grouped", "strips"]}}),
    "ContiguousArgument": (("claims", 0), {"contiguous": {"tile": "A", "elements": 8}}),
    "CoalescedArgument": (("claims", 0), {"coalesced": {"access": "store_C", "at_most": 8}}),
    "WavefrontsArgument": (("claims", 0), {"wavefronts": {"access": "read_A", "at_most": 8}}),
    "RegisterConflictsArgument": (
        ("claims", 0),
        {"register_conflicts": {"listing": "inner_loop", "at_most": 8}},
    ),
    "CoversArgument": (("claims", 0), {"covers": {"access": "read_A"}}),
    "InjectiveClaim": (("claims", 0), {"injective": "A"}),
    "BijectiveClaim": (("claims", 0), {"bijective": "A"}),
    "ContiguousClaim": (("claims", 0), {"contiguous": {"tile": "A", "elements": 8}}),
    "AlignedClaim": (("claims", 0), {"aligned": "read_A"}),
    "InBoundsClaim": (("claims", 0), {"in_bounds": "read_A"}),
    "ConflictFreeClaim": (("claims", 0), {"conflict_free": "read_A"}),
    "CoalescedClaim": (("claims", 0), {"coalesced": "store_C"}),
    "WavefrontsClaim": (("claims", 0), {"wavefronts": {"access": "read_A", "at_most": 8}}),
    "CoversClaim": (("claims", 0), {"covers": {"access": "read_A"}}),
    "EquivalentClaim": (("claims", 0), {"equivalent": ["A", "B"]}),
    "DisjointClaim": (("claims", 0), {"disjoint": "A"}),
    "DeliversClaim": (("claims", 0), {"delivers": "A"}),
    "PermutationClaim": (("claims", 0), {"permutation": "grouped"}),
    "RaceFreeClaim": (("claims", 0), {"race_free": "mainloop"}),
    "ReadsWhatWasWrittenClaim": (
        ("claims", 0),
        {"reads_what_was_written": {"read": "read_A", "write": "write_A"}},
    ),
    "RegisterConflictFreeClaim": (("claims", 0), {"register_conflict_free": "inner_loop"}),
    "RegisterConflictsClaim": (("claims", 0), {"register_conflicts": {"listing": "inner_loop", "at_most": 8}}),
}
"""Where in a spec each model stands, and a sound value of it; for an argument, the claim that it is
the argument of.
"""

BESIDE: dict[str, dict[str, object]] = {
    "PhasePart.roles": {"steps": None, "barriers": {"full": {"stages": 3, "arrivals": 32}}},
    "LoopPart.times": {"start": 1},
    "TilePart.bits": {"element": None},
    "TilePart.tma": {"layout": None},
    "AccessPart.block": {"threads": None},
    "AccessPart.address": {"tile": None, "coord": None},
    "AccessPart.base": {"tile": None, "coord": None, "address": "tid*16"},
    "AccessPart.source": {"tile": None, "coord": None, "address": "tid*16", "instruction": "cp.async.16"},
    "AccessPart.walk": {"tile": None, "coord": None, "for": {"k": 4}},
    "AccessPart.compiled": {"tile": None, "coord": None},
    "CompiledPart.source": {"line": None},
    "CompiledOperandPart.source": {"line": None},
    "FragmentPart.tile": {"stage": 0},
    "FragmentPart.stage": {"tile": "A"},
    "OperandPart.threads": {"descriptor": None, "compiled": {"file": "k.ptx", "line": 12}},
    "OperandPart.block": {"descriptor": None, "compiled": {"file": "k.ptx", "line": 12}},
    "OperandPart.base": {"descriptor": None, "compiled": {"file": "k.ptx", "line": 12}, "threads": 128},
    "OperandPart.compiled": {"descriptor": None, "threads": 128},
    "AccessPart.bytes": {"tile": None, "coord": None, "address": "tid%2*16"},
    "AccessPart.if": {"instruction": "ld.shared.v4.b32"},
    "AxisPart.start": {"values": None, "at": "tiles.A.stages", "stop": 64},
    "AxisPart.stop": {"values": None, "at": "tiles.A.stages"},
    "AxisPart.step": {"values": None, "at": "tiles.A.stages", "stop": 64},
    "AxisPart.times": {"values": None, "at": "tiles.A.stages", "start": 1, "stop": 64},
    "AccessPart.for": {"coord": ["warp*16 + lane%16", "lane/16*8"]},
    "SpecPart.from_source": {"constants": {}},
    "SpecPart.operands": {"tiles": {"A": {"element": "f16", "layout": "(64,64):(64,1)"}}},
    "ListingPart.file": {"text": None},
}
"""What has to stand beside an example; an empty value is as good as none."""


def examples() -> list[tuple[str, str, object]]:
    from swzverify.spec import json_schema

    found = [(model, key, part) for model, key, part in keys(json_schema()) if not key.startswith("^")]
    return [(model, key, example) for model, key, part in found for example in part["examples"]]


def spec_with(model: str, key: str, example: object) -> dict:
    """A whole spec with the example at its place."""
    path, value = PLACES[model]
    of_operands = path[:1] == ("operands",) or key == "operands" or "delivers" in str(value)
    of_order = path[:1] == ("phases",) or key == "phases" or "race_free" in str(value) or "what_was" in str(value)
    spec = copy.deepcopy(OPERANDS if of_operands else ORDER if of_order else WHOLE)
    if not path:
        return {**spec, **BESIDE.get(f"{model}.{key}", {}), key: example}
    part = copy.deepcopy(value)
    if model.endswith("Argument") or model == "TmaPart":
        (inner,) = (entry for entry in part.values() if isinstance(entry, dict))
        if key == "exactly":
            inner.pop("at_most")
        inner[key] = example
    else:
        if model == "TilePart" and key in ("shape", "offset", "address"):
            part.pop("layout", None)
            part.pop("swizzle", None)
            if key == "shape":
                part["offset"] = "0"
            else:
                part["shape"] = {"row": 8, "chunk": 8} if "row" in str(example) else [8, 8]
        part |= BESIDE.get(f"{model}.{key}", {}) | {key: example}
    if path[0] == "claims":
        spec["claims"] = [part]
        return spec
    holder = spec
    for step in path[:-1]:
        holder = holder[step] if isinstance(step, int) or step in holder else holder.setdefault(step, {})
    holder[path[-1]] = part
    if model == "CompiledPart":
        loops = {"i": 3} if isinstance(example, list) else {"i": 1} if key == "over" else {"k": 4}
        holder |= {"instruction": "ldmatrix.x4", "threads": 128, "for": loops}
    if model == "FragmentPart" and key in ("tile", "stage"):
        holder |= {"tile": None, "coord": None, "address": "tid*16", "base": {"align": 1024}}
    if model == "CompiledOperandPart":
        holder |= {"descriptor": None, "threads": 128}
    if model == "SourceConstantPart":
        spec["constants"] = {}
    return spec


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    for name in ("src", "specs/build"):
        (tmp_path / name).mkdir(parents=True)
    code = "constexpr int BM = 64, BK = 64;\nstruct Config { static constexpr int BK = 64; };\n"
    (tmp_path / "src" / "gemm.cu").write_text(code)
    (tmp_path / "specs" / "build" / "gemm.sass").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return code


def test_every_model_has_a_place_here(schema):
    assert set(PLACES) == {"SpecPart", *schema["definitions"]}


@pytest.mark.parametrize(("model", "key", "example"), examples())
def test_an_example_is_valid_at_its_place(model, key, example, schema, validator, repository):
    own = schema["properties"] if model == "SpecPart" else schema["definitions"][model]["properties"]
    assert not list(validator.evolve(schema={**own[key], "definitions": schema["definitions"]}).iter_errors(example))
    spec = spec_with(model, key, example)
    if "from_source" in spec:  # a constant of the code has to be used
        spec["maps"] = {"used": {"over": {"i": 8}, "value": [f"i + 0*{name}" for name in spec["from_source"]]}}
    assert not [error.message for error in validator.iter_errors(spec)]
    if isinstance(example, list) and key == "from_source":  # constants of the very file that the spec is a part of
        Path("src/own.cu").write_text(f"{repository}// swz:begin\n// {json.dumps(spec)}\n// swz:end\n")
        load_spec("src/own.cu")
    else:
        Path("specs/a.swz.yaml").write_text(json.dumps(spec))
        if (
            model in ("CompiledPart", "CompiledOperandPart")
            or "k.ptx" in str(spec.get("operands"))
            or key == "compiled"
        ):
            # All that is missing is the PTX.
            with pytest.raises(SpecError) as caught:
                load_spec("specs/a.swz.yaml")
            assert [problem.code for problem in caught.value.problems] == ["SWZ124"]
        else:
            load_spec("specs/a.swz.yaml")


def test_the_examples_of_the_models_are_those_of_the_schema(schema):
    models = [SpecPart]
    for model in models:
        models += model.__subclasses__()
    pending, seen = [Part], set()
    while pending:
        model = pending.pop()
        pending += model.__subclasses__()
        for name, info in model.model_fields.items():
            if model.__name__ in PLACES:
                own = schema if model is SpecPart else schema["definitions"][model.__name__]
                assert own["properties"][info.alias or name]["examples"] == info.examples
                seen.add(model.__name__)
    assert seen == set(PLACES)


class TestAccepts:
    @pytest.mark.parametrize("file", SPECS, ids=lambda path: path.relative_to(ROOT / "specs").as_posix())
    def test_every_shipped_spec(self, file, validator):
        data = data_of(file.read_text(encoding="utf-8"))
        assert data is not None
        assert not [error.message for error in validator.iter_errors(data)]

    @pytest.mark.parametrize(("seeds", "least"), [(40, 30), pytest.param(250, 200, marks=pytest.mark.nightly)])
    def test_random_specs(self, seeds, least, validator):
        accepted = 0
        for seed in range(seeds):
            spec = random_spec(seeded(seed))
            if loads(spec):
                assert not [error.message for error in validator.iter_errors(spec)], seed
                accepted += 1
        assert accepted > least

    @pytest.mark.parametrize(("draws", "least"), [(65, 15), pytest.param(400, 100, marks=pytest.mark.nightly)])
    def test_what_a_spec_becomes_by_any_small_change_and_still_loads(self, draws, least, validator):
        rng = random.Random(5)
        texts = [file.read_text(encoding="utf-8") for file in SPECS]
        refused = 0
        for _ in range(draws):
            data = data_of(rng.choice(texts))
            _change(rng, data)
            if validator.is_valid(data):
                continue
            refused += 1
            assert not loads(data), data
        assert refused > least

    @pytest.mark.parametrize(
        "odd",
        [
            {"tiles": {"A": {"bits": 8, "layout": "8:1", "element": None, "swizzle": None, "tma": None, "base": None}}},
            {"tiles": {"A": {"bits": "8", "element": None, "layout": None, "tma": {"box": ["1", "8 + 8"]}}}},
            {"tiles": {"A": {"bits": 1024, "layout": "1:1", "stages": " 2 "}}},
            {"tiles": {"A": {"bits": 8, "layout": "8:1", "swizzle": " Sw < 1 , 007,-1 > {} "}}},
            {"tiles": {"A": {"bits": 8, "layout": "8:1", "swizzle": "S<-0,0>"}}},
            {"tiles": {"A": {"bits": 8, "layout": "8:1", "base": {"align": 2**24}}}},
            {"memories": {"m": {"bytes": 64, "base": 4, "align": 2**31}}},
            {"target": " sm_80\n", "tiles": {}},
            {"accesses": {"r": {"instruction": " ldmatrix.x4 ", "threads": 1024, "address": 0, "for": {"i": "any"}}}},
            {
                "accesses": {
                    "r": {"instruction": "ld.volatile.shared.v4.f32 {%f0}, [%r1];", "block": [32], "address": 0}
                }
            },
            {
                "accesses": {
                    "r": {"instruction": "st.shared.b32", "threads": 1, "address": 0, "tile": None, "block": None}
                }
            },
            {
                "accesses": {
                    "r": {"instruction": "st.shared.b32", "threads": 1, "address": 0, "for": {"i": {"stop": -3}}}
                }
            },
            {"maps": {"m": {"over": {"lane": 4}, "value": ["lane", 0]}}},
            {"claims": ["standard", "standard"]},
            {"claims": "standard", "title": "", "source": ""},
        ],
    )
    def test_what_is_odd_but_loads(self, odd, validator):
        spec = {"swzverify": 1, **odd}
        assert loads(spec)
        assert not [error.message for error in validator.iter_errors(spec)]


JUNK = [None, True, 0, -1, 1, 2**32, 1.5, "", "x", "8", "any", [], ["A"], [1, 2], {}, {"tile": "A"}, {"align": 8}]


def _change(rng, data):
    """Take a key out, misspell it, add one, or put something else for its value, somewhere in a
    spec.
    """
    places = []

    def walk(node):
        entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in entries:
            places.append((node, key))
            walk(value)

    walk(data)
    holder, key = rng.choice(places)
    kind = rng.randrange(4)
    if kind == 0 or (kind < 3 and not isinstance(holder, dict)):
        holder[key] = copy.deepcopy(rng.choice(JUNK))
    elif kind == 1 and isinstance(holder, dict):
        del holder[key]
    elif kind == 2:
        other, taken = rng.choice(places)
        holder[rng.choice([f"{key}x", str(taken)])] = copy.deepcopy(other[taken])
    else:
        other, taken = rng.choice(places)
        holder[key] = copy.deepcopy(other[taken])


class TestInstructions:
    """The pattern of PTX spellings against the function that reads them."""

    TYPES = (
        *("b8", "b16", "b32", "b64", "b128", "u8", "s16", "u32", "s64", "f16", "f32", "f64", "bf16", "f16x2", "bf16x2"),
        *("f32x2", "u128", "b4", "f8", "s8x2", "x"),
    )
    ORDERS = ("", "", ".weak", ".volatile", ".relaxed.cta", ".sys", ".foo")
    OPERANDS = (
        *("", "", "", " ", " x", ";", " ;", ";;", " [%r1], [%r2], 16;", " [a], [b], 8", " [a], [b], 16 , 4;", " 16"),
        *(" 16;", " 4 ", " [a],[b]", " [a],[b],", " [a],[b],,3", " [a], [b], 16; ;", "  16", "\t16", " ,", "; x"),
        " a,\nb, 16",
    )

    def spelled(self, rng):
        order = rng.choice(self.ORDERS)
        space = rng.choice([".shared", ".shared", ".shared::cta", ".shared::cluster", ".global", ""])
        match rng.randrange(5):
            case 0:
                vector = rng.choice(["", ".v2", ".v4", ".v8", ".v3"])
                if space == ".global":
                    space += rng.choice(["", "", ".cg", ".nc", ".cg.nc", ".nc.cg", ".wt", ".cs", ".lu"])
                    space += rng.choice(["", "", ".L1::no_allocate", ".L2::evict_last", ".L2::128B", ".L3::128B"])
                name = f"{rng.choice(['ld', 'st', 'lds'])}{order}{space}{vector}.{rng.choice(self.TYPES)}"
            case 1:
                count = rng.choice(["x1", "x2", "x4", "x3"]) + rng.choice(["", ".trans"]) + rng.choice(["", space])
                shape = rng.choice([".sync.aligned.m8n8", ".sync.aligned.m8n8", ".sync.m8n8", ".sync.aligned.m16n8"])
                name = f"{rng.choice(['ldmatrix', 'stmatrix'])}{shape}.{count}{rng.choice(['.b16', '.b8'])}"
            case 2:
                does = rng.choice([".add", ".min"])
                name = f"{rng.choice(['atom', 'red'])}{order}{space}{does}.{rng.choice(self.TYPES)}"
            case 3:
                world = rng.choice(["", f"{space}.global", f"{space}.global.L2::128B", space])
                name = (
                    f"cp.async{rng.choice(['.ca', '.cg', ''])}{world}{rng.choice(['', '', '.4', '.8', '.16', '.32'])}"
                )
            case _:
                name = rng.choice([*INSTRUCTIONS, *GLOBAL_INSTRUCTIONS, "ldmatrix.x5", "cp.async.32"])
        return rng.choice(["", "", " ", "\n"]) + name + rng.choice(self.OPERANDS) + rng.choice(["", "", " ", "\n"])

    def test_it_takes_what_is_read_and_nothing_else(self):
        rng = random.Random(11)
        one = Draft7Validator(instruction_schema())
        taken = 0
        for _ in range(5000):
            name = self.spelled(rng)
            try:
                find_any_instruction(name)
                known = True
            except SwzError:
                known = False
            taken += known
            assert one.is_valid(name) == known, repr(name)
        assert 500 < taken < 4500

    def test_the_pattern_is_one_that_javascript_reads_too(self):
        for choice in instruction_schema()["anyOf"]:
            pattern = choice.get("pattern", "")
            assert not re.search(r"\(\?|\\[^sSw.]", pattern), pattern

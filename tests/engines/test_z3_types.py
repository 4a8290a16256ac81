"""The types in `typings/z3`: z3py has what they name, with these arguments; signed operators are left out."""

import ast
import inspect
from pathlib import Path

import pytest
import z3

STUB = ast.parse(Path(__file__).parents[2].joinpath("typings/z3/__init__.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = [(z3, node) for node in STUB.body if isinstance(node, ast.FunctionDef)]
METHODS = [
    (getattr(z3, name), node)
    for name, each in CLASSES.items()
    for node in each.body
    if isinstance(node, ast.FunctionDef)
]
SIGNED = {"__lt__", "__le__", "__gt__", "__ge__", "__rshift__", "__div__", "__truediv__", "__mod__"}


@pytest.mark.parametrize(
    ("owner", "stub"),
    FUNCTIONS + METHODS,
    ids=lambda each: each.name if isinstance(each, ast.FunctionDef) else each.__name__,
)
def test_what_the_stub_names_takes_these_arguments(owner: object, stub: ast.FunctionDef) -> None:
    real = inspect.signature(getattr(owner, stub.name))
    positional = [None] * (len(stub.args.posonlyargs + stub.args.args) + (stub.args.vararg is not None))
    real.bind(*positional, **{each.arg: None for each in stub.args.kwonlyargs})


def test_base_classes_and_constants_are_z3s() -> None:
    for name, each in CLASSES.items():
        for base in each.bases:
            assert issubclass(getattr(z3, name), getattr(z3, ast.unparse(base)))
    constants = [node for node in STUB.body if isinstance(node, ast.AnnAssign)]
    assert [ast.unparse(node.target) for node in constants] == ["sat", "unsat"]
    for node in constants:
        assert isinstance(getattr(z3, ast.unparse(node.target)), getattr(z3, ast.unparse(node.annotation)))


def test_attributes_are_those_of_a_term_and_a_solver() -> None:
    things = {"ExprRef": z3.BitVec("x", 8), "SortRef": z3.BitVecSort(8), "Solver": z3.Solver()}
    seen = []
    for name, each in CLASSES.items():
        for node in each.body:
            if isinstance(node, ast.AnnAssign):
                seen.append(name)
                assert isinstance(
                    getattr(things[name], ast.unparse(node.target)), getattr(z3, ast.unparse(node.annotation))
                )
    assert set(seen) == set(things)


def test_signed_operators_of_bit_vectors_are_left_out() -> None:
    told = {node.name for name in ("ExprRef", "BitVecRef") for node in CLASSES[name].body if hasattr(node, "name")}
    assert "__add__" in told
    assert not told & SIGNED
    assert all(hasattr(z3.BitVecRef, name) for name in SIGNED)

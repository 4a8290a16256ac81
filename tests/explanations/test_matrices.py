"""sympy's reading of the matrices, and how they are drawn."""

from __future__ import annotations

import re

import pytest

from swzverify.errors import InternalError
from swzverify.explain.explanations import explain_access
from swzverify.explain.explanations.gf2_matrix import matrix_latex, over_gf2
from swzverify.explain.explanations.statements import Bit, Explained, Explanation, Kernel, Matrix, Rank
from swzverify.report.explain_latex import render_explanations_latex
from swzverify.report.explain_text import render_explanations_text
from tests.explanations.test_planted import told

MATRIX = Matrix("access", (Bit("lane", 0), Bit("a_b", 7, 3, 5), Bit("k", 4)), ((1, 0, 1), (0, 1, 1)), (0, 1), 2)


def test_sympy_finds_the_rank_and_the_kernel() -> None:
    found = 0
    for _, explanation in told():
        for matrix in explanation.statements:
            if isinstance(matrix, Matrix) and matrix.columns:
                again = over_gf2(matrix)
                assert again.rank() == matrix.rank
                assert again.nullspace().shape[0] == len(matrix.columns) - matrix.rank
                found += 1
    assert found > 10


def test_kernel_vectors_are_in_sympy_s_null_space() -> None:
    """The lanes that collide are vectors that the matrix of the bank maps to 0."""
    found = 0
    for judge, explanation in told():
        matrices = [each for each in explanation.statements if isinstance(each, Matrix) and each.of == "access"]
        matrix = matrices[0] if matrices else None
        for kernel in (each for each in explanation.statements if isinstance(each, Kernel)):
            assert judge.access is not None
            assert matrix is not None
            lanes = [index for index, bit in enumerate(matrix.columns) if bit.variable == "lane"]
            flips = [i in lanes and kernel.vector >> bit.bit & 1 == 1 for i, bit in enumerate(matrix.columns)]
            vector = [[int(flip)] for flip in flips]
            import sympy
            from sympy.polys.matrices import DomainMatrix

            domain = sympy.GF(2, symmetric=False)
            column = DomainMatrix([[domain(entry) for entry in row] for row in vector], (len(vector), 1), domain)
            assert (over_gf2(matrix) * column).is_zero_matrix
            found += 1
    assert found >= 7


def test_a_wrong_rank_is_a_fault_of_ours() -> None:
    with pytest.raises(InternalError, match="sympy finds the rank 2"):
        over_gf2(Matrix(MATRIX.of, MATRIX.columns, MATRIX.entries, MATRIX.constants, 1))


def test_latex_has_the_entries_the_names_and_the_constants() -> None:
    text = matrix_latex(MATRIX)
    assert [row.split("&") for row in re.sub(r"\\left.*?}{ccc}|\\end.*|\s", "", text).split(r"\\")] == [
        ["1", "0", "1"], ["0", "1", "1"],
    ]  # fmt: skip
    page = render_explanations_latex([Explanation("access", "x", "x", (MATRIX,))])
    assert r"\text{((a\_b-{}3)/5)}_{7}" in page
    assert r"\oplus \left[\begin{array}{c}0 \\ 1\end{array}\right]" in page


def test_a_matrix_as_text() -> None:
    page = render_explanations_text(Explained("x", {}, (Explanation("access", "x", "x", (MATRIX,)),)))
    rows = page.splitlines()[-4:]
    assert [row.split() for row in rows] == [
        ["lane", "((a_b-3)/5)", "k"],
        ["0", "7", "4"],
        ["bank[0]", "1", ".", "1"],
        ["bank[1]", ".", "1", "1", "^", "1"],
    ]
    assert [rows[0].index(name) for name in ("lane", "((a", "k")] == [rows[1].index(bit) for bit in "074"]


def test_an_access_that_is_free_has_full_rank() -> None:
    ranks = [
        (each, explanation.statements[0])
        for _, explanation in told()
        for each in explanation.statements
        if isinstance(each, Rank)
    ]
    assert {each.each == 1 for each, _ in ranks} == {True, False}
    assert explain_access(told()[0][0].access).statements[1] == ranks[0][0]

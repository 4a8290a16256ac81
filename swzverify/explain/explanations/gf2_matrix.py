"""A matrix of an explanation as sympy's matrix over GF(2): a second count of its rank, and LaTeX.

sympy is imported when a matrix is asked for; the extra `explain` brings it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from swzverify.errors import InternalError, SwzError
from swzverify.explain.explanations.statements import Matrix


def over_gf2(matrix: Matrix) -> Any:
    """The matrix as a `sympy.polys.matrices.DomainMatrix` over GF(2).

    Raises:
        SwzError: SWZ592 if sympy is not installed.
        InternalError: sympy finds another rank.

    >>> from swzverify.explain.explanations.statements import Bit
    >>> lanes = (Bit("lane", 0), Bit("lane", 1), Bit("lane", 2))
    >>> over_gf2(Matrix("access", lanes, ((1, 0, 1), (0, 1, 1)), (0, 0), 2)).nullspace().to_Matrix().tolist()
    [[1, 1, 1]]
    """
    sympy = _sympy("sympy")
    domain = sympy.GF(2, symmetric=False)
    entries = [[domain(entry) for entry in row] for row in matrix.entries]
    found = _sympy("sympy.polys.matrices").DomainMatrix(entries, (len(entries), len(matrix.columns)), domain)
    if found.rank() != matrix.rank:
        raise InternalError(f"sympy finds the rank {found.rank()} of a matrix of which ours is {matrix.rank}: {matrix}")
    return found


def matrix_latex(matrix: Matrix) -> str:
    r"""The matrix as sympy writes it.

    >>> from swzverify.explain.explanations.statements import Bit
    >>> matrix_latex(Matrix("access", (Bit("lane", 0), Bit("lane", 1)), ((1, 1),), (0,), 1))
    '\\left[\\begin{array}{cc}1 & 1\\end{array}\\right]'
    """
    entries = over_gf2(matrix).to_Matrix()
    # an array has any number of columns; a matrix of amsmath has ten
    text: str = _sympy("sympy").latex(entries, mat_str="array")
    return text


def _sympy(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise SwzError(
            "SWZ592",
            "matrices in LaTeX need sympy, which is not installed",
            hint="pip install 'swzverify[explain]'; text and JSON have the same matrices without it",
        ) from error

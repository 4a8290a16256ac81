r"""Explanations as LaTeX: a document of its own for `pdflatex`, `lualatex` or `xelatex`, with amsmath.

The matrices are sympy's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from swzverify.explain.explanations import Explanation, Statement
from swzverify.explain.explanations.gf2_matrix import matrix_latex
from swzverify.explain.explanations.statements import BankBit, Bit, Matrix, TileBankBit
from swzverify.explain.pictures.latex import latex_text
from swzverify.report.explain_words import sections, sentence


def render_explanations_latex(explanations: Sequence[Explanation]) -> str:
    """The explanations as a LaTeX document.

    Raises:
        SwzError: SWZ592 if the document has a matrix and sympy is not installed.
    """
    lines = [
        r"\documentclass[a4paper]{article}",
        r"\usepackage[margin=20mm]{geometry}",
        r"\usepackage{amsmath,textcomp}",
        r"\allowdisplaybreaks",
        r"\setlength{\parindent}{0pt}",
        r"\begin{document}",
    ]
    for explanation in explanations:
        lines += _explanation(explanation)
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def _explanation(explanation: Explanation) -> Iterator[str]:
    yield rf"\section*{{{latex_text(explanation.heading)}}}"
    for title, statements in sections(explanation):
        yield rf"\subsection*{{{latex_text(title)}}}"
        for group in _runs(statements):
            yield from _formulas(group) if isinstance(group[0], BankBit | TileBankBit) else _sentences(group)


def _runs(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Formulas that follow each other, and other statements."""
    runs = groupby(statements, lambda each: isinstance(each, BankBit | TileBankBit))
    return [list(group) for _, group in runs]


def _formulas(statements: Sequence[Statement]) -> Iterator[str]:
    yield r"\begin{align*}"
    rows = [_formula(each) for each in statements if isinstance(each, BankBit | TileBankBit)]
    yield " \\\\\n".join(rows)
    yield r"\end{align*}"


def _formula(said: BankBit | TileBankBit) -> str:
    terms = [_bit(each) for each in said.terms] + (["1"] if said.constant else [])
    right = r" \oplus ".join(terms) or "0"
    return rf"\mathrm{{bank}}_{{{said.index}}} &= {right}"


def _bit(bit: Bit) -> str:
    return rf"\text{{{latex_text(bit.whole)}}}_{{{bit.bit}}}"


def _sentences(statements: Sequence[Statement]) -> Iterator[str]:
    yield r"\begin{itemize}"
    for each in statements:
        yield rf"\item {latex_text(sentence(each))}"
        if isinstance(each, Matrix):
            yield from _matrix(each)
    yield r"\end{itemize}"


def _matrix(matrix: Matrix) -> Iterator[str]:
    """The bits of the bank: the matrix times the bits of the variables, and the constants."""
    rows = r" \\ ".join(rf"\mathrm{{bank}}_{{{index}}}" for index in range(len(matrix.entries)))
    if not matrix.columns:
        return
    yield r"\[\scriptsize\setlength{\arraycolsep}{2pt}"
    yield rf"\left[\begin{{array}}{{c}}{rows}\end{{array}}\right] ="
    yield matrix_latex(matrix)
    columns = r" \\ ".join(map(_bit, matrix.columns))
    yield rf"\left[\begin{{array}}{{c}}{columns}\end{{array}}\right]"
    if any(matrix.constants):
        constants = r" \\ ".join(map(str, matrix.constants))
        yield rf"\oplus \left[\begin{{array}}{{c}}{constants}\end{{array}}\right]"
    yield r"\]"

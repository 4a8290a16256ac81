"""A PTX interpreter in plain Python and numpy: an oracle for claims about shared-memory accesses.

It shares nothing with the package. `run_kernel` runs one launch, `run_auto` chooses several
launches itself, and `summarize` joins launches to one verdict for each PTX line; see the README.
"""

from .buffers import Buffer, Field, Record
from .errors import BudgetError, FaultError, OracleError, ParseError, UnsupportedError
from .launch import Result, launch, run_kernel
from .record import Access, Violation, Witness
from .rule import Cost, cost
from .summary import Line, Summary, run_auto, summarize

__all__ = [
    "Access",
    "BudgetError",
    "Buffer",
    "Cost",
    "FaultError",
    "Field",
    "Line",
    "OracleError",
    "ParseError",
    "Record",
    "Result",
    "Summary",
    "UnsupportedError",
    "Violation",
    "Witness",
    "cost",
    "launch",
    "run_auto",
    "run_kernel",
    "summarize",
]

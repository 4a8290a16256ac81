"""What opcodes compute, as expressions of their operands.

An opcode is known only as it is spelled in a rule: with any modifier that no rule names it has no
meaning here, and its result is an unknown value. A file has the rules of one kind of opcodes; a new
rule stands in the file of its kind, and nothing else changes.
"""

from swzverify.compiled.kernel.opcodes import bits, comparisons, whole_numbers
from swzverify.compiled.kernel.opcodes.operation import Operation, operation

__all__ = ["Operation", "operation"]

KINDS = (whole_numbers, bits, comparisons)
"""The files whose rules stand in the table."""

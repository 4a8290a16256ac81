"""Machine code as `nvdisasm -gp` prints it: the instructions that touch shared memory.

Each has its width and the line of the PTX from which it came. `read_listing` is the entry point;
`opcodes` knows the instructions. Nothing here runs a tool.
"""

from swzverify.compiled.sass.listing import Listing, ListingError, SassInstruction, Section, read_listing, touches
from swzverify.compiled.sass.opcodes import Opcode, opcode_of

__all__ = ["Listing", "ListingError", "Opcode", "SassInstruction", "Section", "opcode_of", "read_listing", "touches"]

"""Machine code as `nvdisasm -gp` prints it: which instructions touch shared memory, how wide they
are, and which line of the PTX each came from.

`read_listing` is the way in; `opcodes` knows the instructions. Nothing here runs a tool. Imports
nothing of the package.
"""

from swzverify.compiled.sass.listing import Listing, ListingError, SassInstruction, Section, read_listing, touches
from swzverify.compiled.sass.opcodes import Opcode, opcode_of

__all__ = ["Listing", "ListingError", "Opcode", "SassInstruction", "Section", "opcode_of", "read_listing", "touches"]

"""The subjects of claims (tiles, accesses, maps, operands, listings), as functions and as expressions.

The plain functions are the definition that exhaustion and replay use; the other engines read the
lowering. The two share no code but the enumeration of thread names.
"""

from swzverify.subjects.access import Access
from swzverify.subjects.descriptor import Descriptor, operand_addresses
from swzverify.subjects.index_map import IndexMap
from swzverify.subjects.listed_loop import ListedLoop
from swzverify.subjects.listing import Listing
from swzverify.subjects.loop import Loop
from swzverify.subjects.memory import AlignedBase, Base, FixedBase, Memory, MemoryBase
from swzverify.subjects.offset_map import OffsetMap
from swzverify.subjects.operand import Operand
from swzverify.subjects.phase import Phase
from swzverify.subjects.tile import Tile
from swzverify.subjects.unknown import Unknown
from swzverify.subjects.walk import walked

__all__ = [
    "Access",
    "AlignedBase",
    "Base",
    "Descriptor",
    "FixedBase",
    "IndexMap",
    "ListedLoop",
    "Listing",
    "Loop",
    "Memory",
    "MemoryBase",
    "OffsetMap",
    "Operand",
    "Phase",
    "Tile",
    "Unknown",
    "operand_addresses",
    "walked",
]

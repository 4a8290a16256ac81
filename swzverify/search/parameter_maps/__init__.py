"""Parameter maps: what an access costs under every swizzle, or every pad, of its tile.

Each cell is an ordinary tile whose access `costs` prices; nothing here knows what a bank is.
`explain/pictures/views/parameter_map.py` draws the tables.
"""

from swzverify.search.parameter_maps.pads import sweep_pads
from swzverify.search.parameter_maps.price import Sweep
from swzverify.search.parameter_maps.swizzles import sweep_swizzles

__all__ = ["Sweep", "sweep_pads", "sweep_swizzles"]

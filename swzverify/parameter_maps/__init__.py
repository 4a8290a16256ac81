"""Parameter maps: what an access costs under every swizzle, or every pad, of its tile.

Each cell is an ordinary tile whose access `costs` prices; nothing here knows what a bank is. May
import `cures`, `pictures`, `costs`, `subjects`, `layout`, `errors`.
"""

from swzverify.parameter_maps.pads import sweep_pads
from swzverify.parameter_maps.picture import sweep_picture
from swzverify.parameter_maps.price import Price, Sweep, Table
from swzverify.parameter_maps.swizzles import sweep_swizzles

__all__ = ["Price", "Sweep", "Table", "sweep_pads", "sweep_picture", "sweep_swizzles"]

"""What an access costs as a whole, every warp instruction of it priced by the plain rule, and what
an order of thread blocks needs wave by wave.

May import `claims` (for its measures), `subjects`, `hardware`, `errors`.
"""

from swzverify.search.costs.access_costs import AccessCosts, cost, lanes_to_price
from swzverify.search.costs.waves import Locality, Wave, locality

__all__ = ["AccessCosts", "Locality", "Wave", "cost", "lanes_to_price", "locality"]

"""The cost of an access as a whole, and what an order of thread blocks needs in each wave.

Every warp instruction of an access is priced by the plain rule.
"""

from swzverify.search.costs.access_costs import AccessCosts, cost, lanes_to_price
from swzverify.search.costs.waves import Locality, Wave, locality

__all__ = ["AccessCosts", "Locality", "Wave", "cost", "lanes_to_price", "locality"]

"""What an access costs as a whole: every warp instruction of it, priced by the plain rule.

May import `claims` (for its measures), `subjects`, `hardware`, `errors`.
"""

from swzverify.costs.access_costs import AccessCosts, cost, lanes_to_price

__all__ = ["AccessCosts", "cost", "lanes_to_price"]

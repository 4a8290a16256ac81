"""The two ways in which the oracle declines to judge."""


class OracleError(Exception):
    """The page calls this spec an error; the tool must report one too."""


class OracleAmbiguousError(Exception):
    """The page does not settle this case, so no verdict may be compared."""

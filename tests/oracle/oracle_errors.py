"""The two ways in which the oracle declines to judge."""


class OracleError(Exception):
    """The page calls this spec an error; the tool must report one too, of the same `code` where the
    page gives one.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class OracleAmbiguousError(Exception):
    """The page does not settle this case, so no verdict may be compared."""

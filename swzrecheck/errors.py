"""What is wrong with a certificate, a folder of them, or the solvers that should judge it."""

from __future__ import annotations


class CertificateError(Exception):
    """One mistake: its code (docs/errors explains each), a sentence, and what to do about it.

    `hint` is what to do. `text` is the offending line, if there is one.

    >>> print(CertificateError("SWZ608", "cvc5 is not installed", hint="pip install cvc5"))
    SWZ608: cvc5 is not installed
      pip install cvc5
    """

    def __init__(self, code: str, message: str, *, hint: str = "", text: str = "") -> None:
        super().__init__(code, message, hint, text)
        self.code = code
        self.message = message
        self.hint = hint
        self.text = text

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}"]
        if self.text:
            lines += [f"  {self.text}", "  " + "^" * len(self.text)]
        return "\n".join([*lines, *([f"  {self.hint}"] if self.hint else [])])

"""What each command of the command line does, in the file and the function of its name.

`cli/` declares the arguments and options, and calls these functions by `apps/cli/body.py`; so a file here
imports at its top whatever it needs. Beside the commands: `terminal`, `writing`, `files`, `reports`,
`drawing` and others say how a command speaks and what it writes; `choices` has the words that options
offer.
"""

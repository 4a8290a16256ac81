"""The options of each command, as a dataclass in the file of the command's name.

They import click and no more than their defaults and choices need, so that `--help` is quick.
`declare` makes a click command of a dataclass; `shared` has the options of several commands.
"""

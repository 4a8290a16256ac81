"""What each command of the command line does, in the file of its name: a function that takes the options.

A file here imports at its top whatever it needs: it is imported when the command runs. Beside the
commands, `terminal`, `writing`, `files`, `reports` and `drawing` say how a command speaks and what it
writes.
"""

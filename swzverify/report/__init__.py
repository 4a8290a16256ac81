"""What a run ends in, and each format that it can be written as.

`result` is the report of a run; a format is a file, or a folder, that reads it, and `formats` is the
registry of formats. Other commands' records and renderers are here too.
"""

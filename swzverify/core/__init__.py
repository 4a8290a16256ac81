"""What every room needs and none owns: processes, names that are imported late, words, titles of errors.

Nothing here knows what a layout or a kernel is.
"""

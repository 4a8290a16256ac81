"""Two states of a repository's claims: what is added, deleted or weaker, and which verdicts
changed.

A claim of the newer state counts as *at least as strong* only where that is shown; everything else
counts as weaker.
"""

"""Compare the claims of two states of a repository: added, deleted and weaker ones, and verdicts.

A claim of the newer state counts as *at least as strong* only if that is shown; every other claim
counts as weaker.
"""

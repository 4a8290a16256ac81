"""Brute-force oracle: the meanings of docs/semantics.md as plain loops; imports nothing of the
package.
"""

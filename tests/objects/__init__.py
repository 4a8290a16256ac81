"""Accesses made in Python, whatever a caller does to them, against plain enumeration."""

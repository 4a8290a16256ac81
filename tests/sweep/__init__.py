"""Sweeps, against an expansion and a brute force that share no code with them."""

"""The best layout of a tile in a family, for every access to it together, and why none is better."""

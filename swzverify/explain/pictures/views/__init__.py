"""The views of a tile or an access, one per file."""

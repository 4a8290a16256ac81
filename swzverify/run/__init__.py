"""A run over spec files: which files they are, and proving their claims in one process or several."""

"""A run over spec files: finding them, and proving their claims in one or several processes."""

"""What may be drawn of a tile or an access, one view a file; `names` lists them."""

"""The grammar of spec files: which keys a kind has, of which form, and what is said of any other."""

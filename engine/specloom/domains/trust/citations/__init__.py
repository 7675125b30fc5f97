"""Whether a citation names a work that exists, and which: parsing, search, match, audit."""

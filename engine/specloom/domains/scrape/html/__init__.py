"""HTML before extraction: charset, parsing, sanitising, hidden text, tables, feeds."""

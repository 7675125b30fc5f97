"""PDF files: letters, lines, layout, tables, hidden text."""

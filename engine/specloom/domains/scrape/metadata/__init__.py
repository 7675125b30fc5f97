"""What a page says of itself: titles, authors, dates, identifiers, from markup and JSON-LD."""

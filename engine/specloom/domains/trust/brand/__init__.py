"""What a company says of its own brand: on its homepage, its brand portal, and pages that a search finds."""

"""A tree becomes Markdown."""

"""Which parts of a spec no example shows."""

"""Hand-written domain Python, reached through `plugins` and imported by no other room.

`text` is for all domains; `trust` stands on it, `scrape` on both, `sessions` and `papers` on all three.
"""

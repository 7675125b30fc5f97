"""Papers that are resolved, fetched once and kept in a store that people and other programs read.

Imports `storage`, `domains.text`, `domains.trust` and `domains.scrape`.
"""

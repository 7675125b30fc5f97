"""The scrape pipeline: what is at an address becomes clean Markdown, with what is hidden left out and counted.

Imports `domains.text` and `domains.trust`.
"""

"""The scrape pipeline: what is at an address becomes clean Markdown, with what is hidden left out and counted.

Importing this package registers its procedures.
"""

from specloom.scrape import procedures

__all__ = ["procedures"]

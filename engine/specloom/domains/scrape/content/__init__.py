"""Which part of a page is its content: each block is judged by a learned model, and the likeliest page is put together.

Imported by `scrape.extract` alone. numpy is imported with the first name that is asked for.
"""

from __future__ import annotations

from specloom.core.lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .finder import Content, find_content

__getattr__ = exports(__name__, {"finder": "Content find_content"})

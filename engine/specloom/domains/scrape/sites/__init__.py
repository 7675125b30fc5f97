"""Sites that tell their pages as data: an address is recognised, operations are asked, and rows become Markdown.

What the sites' APIs are asked and how their answers are read stands in specs; here is only what a page is made of.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from typing import Final
from .site import Route
from .site import SitePage
from .site import parse_address

if TYPE_CHECKING:
    from types import ModuleType
    from specloom.plugins import Context


__all__ = ["ASKS", "Route", "SitePage", "match", "read"]

ASKS: Final = (
    "post",
    "listing",
    "profile",
    "repository",
    "repository_count",
    "repository_health",
    "source_file",
    "gist",
    "video",
    "transcript",
)
"""The capabilities that `read` asks; who runs it declares them."""


def match(url: str) -> Route | None:
    """The route of an address that is read through an API; nothing for every other one, look-alikes included."""
    address = parse_address(url)
    if address is None:
        return None
    return next((site.match(address) for site in _sites().values() if address.host in site.HOSTS), None)


async def read(route: Route, context: Context, *, max_length: int) -> SitePage:
    """The page of a route, of at most `max_length` bytes; a fault where it is not to be had.

    Of `route.fallback` the same page can be read without the API, unless the fault is `not_found`.
    """
    from specloom.core import clean
    from ..html.markdown_source import strip

    page: SitePage = await _sites()[route.site].read(route, context, max_length=max_length)
    content, stripped = strip(page.content, markdown=page.is_markdown)
    return replace(page, content=content, title=clean(page.title)[0].strip(), stripped=stripped)


def _sites() -> dict[str, ModuleType]:
    from . import bluesky, github, hackernews, reddit, twitter, youtube

    return {
        "youtube": youtube,
        "twitter": twitter,
        "hackernews": hackernews,
        "bluesky": bluesky,
        "github": github,
        "reddit": reddit,
    }

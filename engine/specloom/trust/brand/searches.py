"""Finds brand pages by searching the web: of the company's own site, or at a host of brand portals under its name."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from specloom.faults import Fault
from specloom.trust.brand.portal import choose
from specloom.trust.brand.target import to_site
from specloom.trust.hosts import to_host

if TYPE_CHECKING:
    from collections.abc import Collection

    from specloom.desk import Desk
    from specloom.trust.brand.portal import BrandPage

RESULTS = 5
MOST_PAGES = 3
"""Pages that a search found and that are read."""
QUERIES = ("{name} brand guidelines colors typography", "{name} press kit logo download", "{name} brand tone of voice")
# Services that host brand portals for others; each portal is a name below them or the first part of a path.
PORTAL_HOSTS = frozenset(
    (
        "frontify.com", "brandfolder.com", "corebook.io", "bynder.com", "brandpad.io", "zeroheight.com", "brandkit.com",
        "brandkit.io", "lingoapp.com", "brandworkz.com", "baseline.is", "standards.site", "gingersauce.co",
    )
)  # fmt: skip


async def search_pages(desk: Desk, name: str, site: str, known: Collection[str]) -> list[BrandPage]:
    """Up to three brand pages that three searches find, without those that are known already.

    Raises the last fault when no search was answered.
    """
    asked = [desk.ask("web", {"query": query.format(name=name), "num_results": RESULTS}) for query in QUERIES]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    found: dict[str, None] = {}
    for answer in answers:
        if isinstance(answer, BaseException):
            continue
        for row in answer.rows:
            if is_own(str(row["url"]), site):
                found.setdefault(str(row["url"]).partition("#")[0])
    faults = [one for one in answers if isinstance(one, BaseException)]
    if len(faults) == len(answers) or any(not isinstance(one, Fault) for one in faults):
        raise faults[-1]
    seen = {url.rstrip("/") for url in known}
    fresh = [url for url in found if url.rstrip("/") not in seen][:MOST_PAGES]
    pages = await asyncio.gather(*[choose(desk, (url,), ("", "")) for url in fresh])
    return [page for page in pages if page is not None]


def is_own(url: str, site: str) -> bool:
    """Whether an address is the company's: on its site, or under its name at a host of brand portals."""
    if to_site(url) == site:
        return True
    label = site.partition(".")[0]
    below = to_host(url).partition(".")[0]
    first = url.partition("://")[2].partition("/")[2].partition("/")[0]
    names = {re.sub(r"[^a-z0-9]", "", part.lower()) for part in (below, first)}
    return to_site(url) in PORTAL_HOSTS and label.replace("-", "") in names

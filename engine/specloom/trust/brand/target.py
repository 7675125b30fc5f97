"""Which domain is meant: that of an address, or the one that belongs to a company's name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specloom.faults import Fault
from specloom.guard import check_url
from specloom.trust.folding import to_latin
from specloom.trust.hosts import is_address, to_host, to_registrable

if TYPE_CHECKING:
    from specloom.desk import Desk

_RESULTS = 5
_SHORTEST = 2
_LEGAL = frozenset(
    (
        "inc", "llc", "ltd", "corp", "co", "company", "corporation", "limited", "gmbh", "ag", "plc", "sa", "bv", "the",
        "and", "of", "group",
    )
)  # fmt: skip


def to_domain(text: str, *, allow_private: bool = False) -> str:
    """The host of a domain or an address, without "www."; a `validation` fault for anything else."""
    said = text.strip()
    parsed = check_url(said if "://" in said else f"https://{said}", allow_private=allow_private)
    if is_address(parsed.host) or "." not in parsed.host:
        raise Fault("validation", f"{parsed.host} is no domain; give one such as example.com, or a company_name.")
    return parsed.host.removeprefix("www.")


async def find_domain(desk: Desk, name: str) -> str:
    """The domain of a company by its name: what an index of brands says, else the site that a web search finds.

    A site counts only if its domain is the name, or begins with it and its title has the name in words of its own, so
    that Otterbox is not taken for Otter; a `not_found` fault says that none does.
    """
    if desk.offering("brand_domains"):
        try:
            answer = await desk.ask("brand_domains", {"company": name})
        except Fault:
            answer = None
        if answer is not None and answer.rows:
            return to_domain(str(answer.rows[0]["domain"]), allow_private=desk.allow_private)
    found = await desk.ask("web", {"query": f'"{name}" official website', "num_results": _RESULTS})
    words = _to_words(name)
    wanted = "".join(words)
    sites = [(to_site(str(row["url"])), _to_words(str(row.get("title") or ""))) for row in found.rows]
    labels = [(site, "".join(_to_words(site.partition(".")[0])), title) for site, title in sites]
    if len(wanted) >= _SHORTEST:
        for site, label, _ in labels:
            if label == wanted:
                return site
        for site, label, title in labels:
            if label.startswith(wanted) and set(words) <= set(title):
                return site
    raise Fault("not_found", f"no domain was found for {name!r}; give its url.")


def to_site(url: str) -> str:
    """The domain that somebody registered for an address; its host without "www." where none is known."""
    host = to_host(url).removeprefix("www.")
    return to_registrable(host) or host


def _to_words(name: str) -> list[str]:
    """The words of a name as domains spell them: Latin letters and digits, without what only tells its legal form."""
    return [word for word in re.findall(r"[a-z0-9]+", to_latin(name).lower()) if word not in _LEGAL]

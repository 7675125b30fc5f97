"""How to cite one page: what it says about itself, and the same in the styles that people paste."""

from __future__ import annotations

from typing import Any

from specloom.trust.bibliography.bibtex import to_bibtex
from specloom.trust.bibliography.entry import Entry, clean, from_source, parse_issued
from specloom.trust.bibliography.keys import assign_keys
from specloom.trust.bibliography.names import parse_names
from specloom.trust.bibliography.styles import to_apa, to_mla


def cite(url: str, title: str, author: str, site: str, published: str, accessed: str) -> dict[str, Any]:
    """The citation of a page: `url`, `accessedDate`, `metadata` {title, author, site, date} and `formatted` {apa, mla}.

    Every argument but the address may be "". `published` is a date in whatever form the page gives it: `metadata`
    keeps it as it is, the styles use the part of it that is certain. `accessed` is a day as YYYY-MM-DD.
    """
    title, author, site, published = clean(title), clean(author), clean(site), clean(published)
    entry = Entry(
        title=title,
        authors=parse_names(author),
        container=site,
        issued=parse_issued(published),
        url=url.strip(),
        kind="webpage",
    )
    day = parse_issued(accessed)
    seen = day if len(day) == 3 else ()
    return {
        "url": url,
        "accessedDate": accessed,
        "metadata": {"title": title, "author": author, "site": site, "date": published},
        "formatted": {"apa": to_apa(entry, seen), "mla": to_mla(entry, seen)},
    }


def cite_for_bibliography(
    url: str, title: str, author: str, site: str, published: str, accessed: str, *, doi: str = ""
) -> dict[str, Any]:
    """The same as `cite`, with `bibtex` among what is `formatted`: an entry that has the DOI, where one is given."""
    said = cite(url, title, author, site, published, accessed)
    entry = from_source({"url": url, "doi": doi, **said["metadata"]})
    said["formatted"]["bibtex"] = to_bibtex(assign_keys([entry]))
    return said

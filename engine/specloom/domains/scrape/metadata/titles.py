"""What a page is called, without the name of its site, and what the site is called where only the title says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from . import jsonld as graphs
from .authors import to_text
from .sources import to_line

if TYPE_CHECKING:
    from .sources import Sources


_LONGEST_TITLE: Final = 500
_MOST_CUTS: Final = 8
"""Places where a title may end."""
_MOST_LINKS: Final = 20
"""Links to the home page that are read."""

TITLE: Final = (
    "citation_title",
    "dc.title",
    "dcterms.title",
    "og:title",
    "twitter:title",
    "sailthru.title",
    "parsely-title",
)
"""Meta elements with a title, the surest first."""

_SEPARATOR: Final = re.compile(r"\s+[|–—»«·•:]+\s+|\s+-{1,2}\s+|(?<=\S)[|»]\s*|\s+::\s+|\s*_\s*(?=[^\W_]+$)")


def find_title(
    sources: Sources,
    main: graphs.Node | None,
    page: graphs.Node | None,
    *,
    site: str,
    marked: Callable[[], Iterable[str]],
) -> str:
    """What a page is called: `main` and `page` are the nodes of its work and of itself, `marked` gives the headline
    that its markup names, and is asked only where nothing before says a title."""
    declared = to_text(sources.first(*TITLE), _LONGEST_TITLE)
    headline = _find_headline(main, (declared, sources.title, sources.heading))[:_LONGEST_TITLE]
    if headline.endswith(("...", "…")) and _begins(declared, headline.rstrip(".… ")):
        headline = declared

    def read() -> Iterator[str]:
        yield headline
        yield declared
        yield sources.title
        yield from marked()
        yield graphs.text(page, "headline", "name")
        yield sources.heading

    shown = (_without_site(to_text(title, _LONGEST_TITLE), site, sources.heading) for title in read())
    return next((title for each in shown if (title := each.strip(" |–—-·•»«:"))), "")


def _find_headline(main: graphs.Node | None, titles: tuple[str, ...]) -> str:
    """What a work says it is called: its headline, unless only its name is one of these titles or begins one. What an
    encyclopedia gives for a headline is a description."""
    headline, name = graphs.text(main, "headline"), graphs.text(main, "name")
    if not (headline and name):
        return headline or name
    said = tuple(map(_to_key, titles))
    named, headed = _to_key(name), _to_key(headline)
    is_name = any(named and title.startswith(named) for title in said)
    return name if is_name and not any(headed and title.startswith(headed) for title in said) else headline


def _without_site(title: str, site: str, heading: str) -> str:
    """A title without what stands around the heading of the page in it, or without the site's name at either end."""
    cuts = list(_SEPARATOR.finditer(title))
    if not cuts:
        return title
    key, wanted = _to_key(site), _to_key(heading)
    if wanted and wanted != key:
        for start in (0, *(cut.end() for cut in cuts[:_MOST_CUTS])):
            for cut in cuts[:_MOST_CUTS]:
                # A heading at the end may be the name of a site that is not known.
                if cut.start() > start and _to_key(part := title[start : cut.start()]) == wanted:
                    return part.strip()
    first, last = title[: cuts[0].start()], title[cuts[-1].end() :]
    if key and _to_key(last) == key and len(first) > 1:
        return title[: cuts[-1].start()].rstrip()
    if key and _to_key(first) == key and len(last) > 1:
        return title[cuts[0].end() :].lstrip()
    return title


def find_home(sources: Sources, url: str) -> str:
    """What a page calls its site, as plain pages do: at either end of its title, and in the link to the home page."""
    cuts = list(_SEPARATOR.finditer(sources.title))
    if not cuts:
        return ""
    ends = sources.title[cuts[-1].end() :].strip(), sources.title[: cuts[0].start()].strip()
    keys = {key: end for end in reversed(ends) if (key := _to_key(end))}
    origin = "/".join(url.split("/", 3)[:3]) if "://" in url else ""
    homes = {"/", origin, origin + "/"} - {""}
    links = [link for link, address in sources.attributes.links if address in homes and link.tag == "a"]
    return next((end for link in links[:_MOST_LINKS] if (end := keys.get(_to_key(to_line(link))))), "")


def _begins(text: str, start: str) -> bool:
    return bool(start) and text.casefold().startswith(start.casefold())


def _to_key(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))

"""The procedures of this package as specs name them: what each takes and gives. The work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping

from specloom.plugins import CLOSERS, PROGRAMS, Context, WholeText, procedure

from . import sites  # noqa: F401 - registers the filter that templates of pages use
from .options import SETTINGS
from .records import MarkupResult, PageResult, SourcesRequest, SourcesResult

ASKS = ("reader", "contents")
"""The capabilities that reading an address may ask beside those of the sites whose pages providers read."""


@procedure("read_page", asks=(*ASKS, "retractions"), settings=SETTINGS, reads_pages=True)
async def read_page(
    context: Context,
    url: str,
    *,
    mode: str,
    max_length: int,
    max_tokens: int = 0,
    links: str = "inline",
    images: str = "inline",
) -> PageResult:
    """Reads one address: through its site's API, or through the tiers; `mode` is full, preview or raw.

    `max_length` is in bytes of content, `max_tokens` in tokens of the whole answer (0 for no bound). `links` (numbered,
    inline, none) and `images` (alt, inline, none) say how those of the content are told. A page is remembered for an
    hour, whatever is made of it, and for a while that it cannot be read.
    """
    from specloom.domains.text import LinkStyle

    from .present import tell_page

    style = LinkStyle(links, images)
    return await tell_page(context, url, mode=mode, most=max_length, budget=max_tokens, style=style)


@PROGRAMS.register("browser", otherwise="pages that scripts fill are read as they come")
def look_for_browser(environ: Mapping[str, str]) -> tuple[str, str]:
    """The browser that pages are shown in which scripts fill."""
    from .browser.browser import find_browser

    found = find_browser(environ.get("CHROME_PATH", "").strip())
    return found.path, found.why


@procedure("page_text", asks=ASKS, settings=SETTINGS, reads_pages=True, reads=("https://", "http://"))
async def page_text(context: Context, address: str) -> WholeText:
    """The whole text of the page or document at an address, from what is kept of it for an hour, else read anew."""
    from .read import read_kept, whole_text

    page, is_anew = await read_kept(context, address)
    if page.detour:
        context.notice(page.detour)
    text = whole_text(page)
    return WholeText(text=text, title=page.title, kind=page.content_type, is_anew=is_anew, page=page.url)


@procedure("read_markup", settings=SETTINGS)
async def read_markup(context: Context, url: str, html: str) -> MarkupResult:
    """Reads HTML that was fetched already: its title, and its content as Markdown, whole and by sections.

    `heading` is the first heading of the first level. Nobody is asked for anything.
    """
    from .excerpt import split_sections
    from .read import read_given

    page = await read_given(context, html, url)
    heading, sections = split_sections(page.content)
    return MarkupResult(title=page.title, content=page.content, heading=heading, sections=sections)


@procedure(
    "read_sources",
    asks=ASKS,
    settings={
        **SETTINGS,
        "SOURCE_RECOMMENDATIONS": {
            "type": "boolean",
            "default": True,
            "description": "Whether the best of the sources that were read are pointed out.",
        },
        "GENERATIVE_UI_ENABLED": {
            "type": "boolean",
            "default": False,
            "description": "Whether cards and a table of the sources are made for hosts that can show them.",
        },
    },
    reads_pages=True,
)
async def read_sources(context: Context, request: SourcesRequest) -> SourcesResult:
    """Reads the addresses of search results, five at a time, and scores, ranks, de-duplicates and joins what they say.

    `found` are rows with `url` and, where known, `title` and `published_at`. `named` puts the title and the address of
    each before its part of the joined text. One that cannot be read is told under
    `failures` and keeps no other from being read.
    """
    from .search.gather import gather_sources

    return await gather_sources(context, request)


@CLOSERS.register("scraping")
async def close() -> None:
    """End the browser and the processes that make pages, where any were started."""
    import sys

    if "specloom.domains.scrape.fetch.session" in sys.modules:
        from .fetch.session import close_session

        await close_session()

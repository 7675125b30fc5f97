"""Finds a company's brand portal: 26 likely addresses are asked for at once, and the first that is one is taken."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from specloom.core import Fault, Policy, Request, Response, dataclass, load_table
from specloom.domains.text import (
    find_links,
    is_address,
    is_called_missing,
    is_missing,
    parse,
    to_alternatives,
    to_host,
    to_latin,
    to_registrable,
    to_text,
    to_title,
    to_word_set,
)
from specloom.net import check_url
from specloom.plugins import Context

from ..sources.links import find_soft_failure

if TYPE_CHECKING:
    from lxml.html import HtmlElement


_TABLE = load_table(__file__, "brand.yaml")
SUBDOMAINS, PATHS = _TABLE["subdomains"].split(), _TABLE["paths"].split()
AT_ONCE = 8
"""Candidates that are asked side by side (the tool contract's figure)."""
PER_HOST = 4
"""Of those, how many at one host."""
MOST_FAILURES = 3
"""A host that has not answered so many requests, and none before, is left alone; so is one that asks to slow down."""
BUDGET = 15.0
"""Seconds for all candidates together; one that has not answered by then is not there."""
MOST_READ = 6
"""Candidates that answered and are read, at most, to find one that is a portal."""
TIMEOUT = 5.0
LOOKED_AT = 4096
"""Bytes of text by which a page is judged, and of markup that it has at least 200 (the tool contract's figures)."""
LEAST_BYTES = 200
_SAME = 300
_MOST_BYTES = 2 * 1024 * 1024
ACCEPT = (("Accept", "text/html,application/xhtml+xml"),)

_STRONG = re.compile(rf"\b(?:{'|'.join(_TABLE['strong'])})\b", re.IGNORECASE)
_WEAK = re.compile(rf"\b({to_alternatives(_TABLE['weak'])})\b", re.IGNORECASE)
_WEAK_NEEDED = 3
_LOGIN = re.compile("|".join(_TABLE["login"]), re.IGNORECASE)
_FRONT = re.compile(r"/(?:[a-z]{2}(?:[-_][A-Za-z]{2})?/?)?(?:index\.\w{2,5}|home/?)?")


@dataclass(frozen=True, slots=True)
class BrandPage:
    """A page that was read and accepted: where it is, its text, its links and the root of its markup."""

    url: str
    title: str
    text: str
    links: list[tuple[str, str]] = field(repr=False)
    root: HtmlElement = field(repr=False)


def to_candidates(site: str, host: str) -> list[str]:
    """The addresses at which portals are, the likeliest first: names below `site`, then paths of `host`."""
    return [f"https://{name}.{site}/" for name in SUBDOMAINS] + [f"https://{host}/{path}" for path in PATHS]


async def probe(context: Context, candidates: list[str]) -> tuple[tuple[str, ...], bool]:
    """Ask for each candidate with HEAD, within bounds for all together and for each host.

    Which of them answered, in their order, and whether any host answered at all.
    """
    turns = asyncio.Semaphore(AT_ONCE)
    rooms = {to_host(url): asyncio.Semaphore(PER_HOST) for url in candidates}
    failures: Counter[str] = Counter()
    alive: set[str] = set()
    closed: set[str] = set()
    hits: set[str] = set()

    async def ask(url: str) -> None:
        host = to_host(url)
        async with rooms[host], turns:
            if host in closed or (host not in alive and failures[host] >= MOST_FAILURES):
                return
            try:
                response = await fetch(context, url, "HEAD")
            except Fault:
                failures[host] += 1
                return
            alive.add(host)
            if response.status == 429:
                closed.add(host)
            if is_hit(url, response):
                hits.add(url)

    with suppress(TimeoutError):
        async with asyncio.timeout(BUDGET), asyncio.TaskGroup() as group:
            for url in candidates:
                group.create_task(ask(url))
    return tuple(url for url in candidates if url in hits), bool(alive)


def is_hit(url: str, response: Response) -> bool:
    """Whether an answer may be a page of the candidate's own: not elsewhere, not the front page, not a file.

    A server that does not know HEAD has said nothing against the page, so that is looked at.
    """
    if response.status in (405, 501):
        return True
    kind = response.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    return response.status < 300 and kind in ("text/html", "application/xhtml+xml", "") and not is_moved(url, response)


def is_moved(url: str, response: Response) -> bool:
    """Whether redirects led to another host, or from a page to a front page."""
    before, after = urlsplit(url), urlsplit(response.url or url)
    if to_host(url).removeprefix("www.") != to_host(response.url or url).removeprefix("www."):
        return True
    return not _FRONT.fullmatch(before.path) and _FRONT.fullmatch(after.path or "/") is not None


async def choose(context: Context, hits: tuple[str, ...], front: tuple[str, str]) -> BrandPage | None:
    """The first of the candidates whose page is about the brand, at most six of them being read.

    `front` is what `to_front` gives for the homepage, which is no portal.
    """
    for url in hits[:MOST_READ]:
        try:
            response = await fetch(context, url, "GET")
        except Fault:
            continue
        if response.status >= 300 or is_moved(url, response) or find_soft_failure(url, response):
            continue
        page = to_page(response, url)
        # Some sites show their front page whatever is asked for.
        if page is not None and (page.title, page.text[:_SAME]) != front:
            return page
    return None


def to_page(response: Response, url: str) -> BrandPage | None:
    """The page of a response if it is one about a brand, by its title and the first 4 KB of its text."""
    if len(response.body) < LEAST_BYTES:
        return None
    root = parse(response.body, response.headers.get("content-type", ""))
    text, title = to_text(root), to_title(root)
    heading = " ".join(str(root.xpath("string(//h1[1])")).split())
    locked = bool(root.xpath("//input[@type='password']"))
    at = response.url or url
    if not is_brand_text(title, heading, text, locked=locked):
        return None
    return BrandPage(at, title, text, find_links(root, at), root)


def is_brand_text(title: str, heading: str, text: str, *, locked: bool = False) -> bool:
    """Whether a page is about a brand: a sure phrase or three likely words, and neither missing nor locked."""
    start = text.encode("utf-8", "replace")[:LOOKED_AT].decode("utf-8", "ignore")
    short = len(text) < 2000
    if any(_LOGIN.search(said) or is_called_missing(said) for said in (title, heading)):
        return False
    if is_missing(text, titles=(title, heading)):
        return False
    if short and ((locked and _LOGIN.search(start)) or _LOGIN.match(start)):
        return False
    whole = f"{title}\n{heading}\n{start}"
    weak = {word.lower().rstrip("s").replace("colour", "color") for word in _WEAK.findall(whole)}
    return _STRONG.search(whole) is not None or len(weak) >= _WEAK_NEEDED


async def fetch(context: Context, url: str, method: str) -> Response:
    """One request for a page; redirects may lead anywhere public, so that it can be told where they led."""
    target = str(check_url(url, allow_private=context.allow_private))
    policy = Policy(timeout=TIMEOUT, max_bytes=_MOST_BYTES, any_host=True, allow_private=context.allow_private)
    return await context.send(Request(method, target, headers=ACCEPT, policy=policy))


def to_front(title: str, text: str) -> tuple[str, str]:
    """What a homepage is known again by: its title and how its text begins."""
    return title, text[:_SAME]


# --- Which domain is meant: that of an address, or the one that belongs to a company's name ---------------------------


_RESULTS = 5
_SHORTEST = 2
_LEGAL = to_word_set(_TABLE["legal"])


def to_domain(text: str, *, allow_private: bool = False) -> str:
    """The host of a domain or an address, without "www."; a `validation` fault for anything else."""
    address = text.strip()
    parsed = check_url(address if "://" in address else f"https://{address}", allow_private=allow_private)
    if is_address(parsed.host) or "." not in parsed.host:
        message = f"{parsed.host} is no domain; give one such as example.com, or a company_name."
        raise Fault("validation", message, action="fix_arguments")
    return parsed.host.removeprefix("www.")


async def find_domain(context: Context, name: str) -> str:
    """The domain of a company by its name: what an index of brands says, else the site that a web search finds.

    A site counts only if its domain is the name, or begins with it and its title has the name in words of its own, so
    that Otterbox is not taken for Otter; a `not_found` fault says that none does.
    """
    if context.offering("brand_domains"):
        try:
            answer = await context.ask("brand_domains", {"company": name})
        except Fault as fault:
            context.lack("brand_domains", fault)
            answer = None
        if answer is not None and answer.rows:
            return to_domain(str(answer.rows[0]["domain"]), allow_private=context.allow_private)
    results = await context.ask("web", {"query": f'"{name}" official website', "num_results": _RESULTS})
    words = _to_words(name)
    brand = "".join(words)
    sites = [(to_site(str(row["url"])), _to_words(str(row.get("title") or ""))) for row in results.rows]
    labels = [(site, "".join(_to_words(site.partition(".")[0])), title) for site, title in sites]
    named = [site for site, label, _ in labels if label == brand]
    titled = [site for site, label, title in labels if label.startswith(brand) and set(words) <= set(title)]
    if len(brand) < _SHORTEST or not (named or titled):
        raise Fault("not_found", f"no domain was found for {name!r}; give its url.")
    return (named or titled)[0]


def to_site(url: str) -> str:
    """The domain that somebody registered for an address; its host without "www." where none is known."""
    host = to_host(url).removeprefix("www.")
    return to_registrable(host) or host


def _to_words(name: str) -> list[str]:
    """The words of a name as domains spell them: Latin letters and digits, without what only tells its legal form."""
    return [word for word in re.findall(r"[a-z0-9]+", to_latin(name).lower()) if word not in _LEGAL]


# --- Finds brand pages by searching the web: of the company's own site, or at a host of brand portals under its
# name -----------------------------------------------------------------------------------------------------------------


RESULTS = 5
MOST_PAGES = 3
"""Pages that a search found and that are read."""
QUERIES = ("{name} brand guidelines colors typography", "{name} press kit logo download", "{name} brand tone of voice")
_PORTAL_HOSTS = to_word_set(_TABLE["hosts"])


async def search_pages(context: Context, name: str, site: str, known: Collection[str]) -> list[BrandPage]:
    """Up to three brand pages that three searches find, without those that are known already.

    Raises the last fault when no search was answered.
    """
    searches = [context.ask("web", {"query": query.format(name=name), "num_results": RESULTS}) for query in QUERIES]
    answers = await asyncio.gather(*searches, return_exceptions=True)
    urls: dict[str, None] = {}
    for answer in answers:
        if isinstance(answer, BaseException):
            continue
        for row in answer.rows:
            if is_own(str(row["url"]), site):
                urls.setdefault(str(row["url"]).partition("#")[0])
    faults = [one for one in answers if isinstance(one, BaseException)]
    if len(faults) == len(answers) or any(not isinstance(one, Fault) for one in faults):
        raise faults[-1]
    for fault in faults:
        assert isinstance(fault, Fault)
        context.lack("web", fault)
    seen = {url.rstrip("/") for url in known}
    fresh = [url for url in urls if url.rstrip("/") not in seen][:MOST_PAGES]
    pages = await asyncio.gather(*[choose(context, (url,), ("", "")) for url in fresh])
    return [page for page in pages if page is not None]


def is_own(url: str, site: str) -> bool:
    """Whether an address is the company's: on its site, or under its name at a host of brand portals."""
    if to_site(url) == site:
        return True
    label = site.partition(".")[0]
    below = to_host(url).partition(".")[0]
    first = url.partition("://")[2].partition("/")[2].partition("/")[0]
    names = {re.sub(r"[^a-z0-9]", "", part.lower()) for part in (below, first)}
    return to_site(url) in _PORTAL_HOSTS and label.replace("-", "") in names

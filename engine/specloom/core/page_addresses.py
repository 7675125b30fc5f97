"""What makes two addresses of pages one: the same page for telephones or printers, or with a mark of who linked it."""

from __future__ import annotations

import re
from functools import lru_cache

_DEFAULT_PORTS = frozenset({None, 80, 443})
_EDITIONS = frozenset({"m", "mobile", "amp"})
"""Labels before the name of a site that stand for another edition of the same pages."""
_TRACKER = re.compile(
    r"utm_.*|_g[al]|[gw]braid|gclid|dclid|fbclid|msclkid|yclid|ttclid|twclid|li_fat_id|igshid|igsh|mc_[ce]id|mkt_tok"
    r"|srsltid|_hs(?:enc|mi)|vero_id|p[df]_rd_.*|ref_src|click_(?:key|sum)|ved|sca_esv|spm",
    re.IGNORECASE,
)
_TRACKING_PART = re.compile(r"/ref=[^/?#]*(?=[?#]|$)")
_EDITION_NAMES = frozenset({"amp", "print"})
"""Parameters that say which edition of a page is wanted, and nothing of what it is about."""
_EDITION_PAIRS = frozenset({("outputtype", "amp"), ("output", "amp"), ("view", "print")})
_EDITION_ENDS = frozenset({"amp", "print"})
_INDEX = re.compile(r"/(?:index\.(?:html?|php)|default\.aspx?)$", re.IGNORECASE)


_PLAIN_ADDRESS = re.compile(r"https?://([a-z0-9.-]+)(/[!-\"$&->@-~]*+)?(?:\?([\w.~=&-]++))?(?:#[!-~]*+)?", re.ASCII)
"""Host, path and query of an address in which nothing is to be decoded, and that has no port."""
_PLAIN_QUERY = re.compile(r"[\w.~-]*+=[\w.~-]*+(?:&[\w.~-]*+=[\w.~-]*+)*+", re.ASCII)
_INDEX_ENDS = tuple("mlpxMLPX")
"""The last characters of what `_INDEX` finds."""


def canonical_url(url: str) -> str:
    """An address for comparison, and not to be opened; what is no address is given back as it is.

    Without scheme, `www.`, default port, fragment, trailing slash and `index.html`; without what stands for an edition
    for telephones or printers (`m.`, `/amp`, `?print=1`) and parameters that only track; its path decoded, its
    parameters in order.
    """
    plain = _PLAIN_ADDRESS.fullmatch(url)
    if plain is None:
        return _canonical_any(url)
    host, path, query = plain.groups("")
    path = path.rstrip("/")
    if path.endswith(_INDEX_ENDS):
        path = _INDEX.sub("", path)
    if path.endswith(("/amp", "/print")):
        path = _to_page(path)
    if not query:
        return _to_site(host) + path
    if _PLAIN_QUERY.fullmatch(query) is None:
        return _canonical_any(url)
    named = sorted((name, value) for name, _, value in (pair.partition("=") for pair in query.split("&")))
    kept = "&".join(f"{name}={value}" for name, value in named if not _is_idle(name, value))
    return f"{_to_site(host)}{path}{'?' if kept else ''}{kept}"


def _canonical_any(url: str) -> str:
    """The same of any address, at ten times the time."""
    from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return url
    path = _to_page(_INDEX.sub("", unquote(parts.path).rstrip("/")))
    place = _to_site(parts.hostname or "") + ("" if port in _DEFAULT_PORTS else f":{port}")
    if not parts.query:
        return f"{place}{path}"
    kept = sorted(
        (name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if not _is_idle(name, value)
    )
    return f"{place}{path}" + (f"?{urlencode(kept)}" if kept else "")


def _is_idle(name: str, value: str) -> bool:
    """Whether a parameter says nothing of what a page is about."""
    lowered = name.lower()
    return is_tracker(name) or lowered in _EDITION_NAMES or (lowered, value.lower()) in _EDITION_PAIRS


def is_tracker(name: str) -> bool:
    """Whether a parameter of an address says only who linked the page."""
    return _TRACKER.fullmatch(name) is not None


def strip_trackers(url: str) -> str:
    """An address without the parameters that say only who linked it; all else of it as it is written.

    A shop has one of them in the path (`/ref=…`), as its last part.
    """
    if "/ref=" in url:
        url = _TRACKING_PART.sub("", url)
    if "?" not in url:
        return url
    before, _, query = url.partition("?")
    query, mark, fragment = query.partition("#")
    parameters = query.split("&")
    kept = [one for one in parameters if not is_tracker(one.partition("=")[0].removeprefix("amp;"))]
    if len(kept) == len(parameters):
        return url
    return f"{before}{'?' if kept else ''}{'&'.join(kept).removeprefix('amp;')}{mark}{fragment}"


@lru_cache(maxsize=1024)
def _to_site(host: str) -> str:
    """A host without `www.` and without a first or second label for an edition, where the name of a site is left."""
    labels = host.rstrip(".").removeprefix("www.").split(".")
    for at in range(min(2, len(labels) - 2)):
        if labels[at] in _EDITIONS:
            return ".".join([*labels[:at], *labels[at + 1 :]])
    return ".".join(labels)


def _to_page(path: str) -> str:
    """A path without a last part for an edition, behind a name with a hyphen or a digit in it, as articles have.

    A page of its own may be called "amp", too.
    """
    before, _, last = path.rpartition("/")
    name = before.rpartition("/")[2]
    return before if last in _EDITION_ENDS and any(one == "-" or one.isdigit() for one in name) else path

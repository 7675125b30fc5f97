"""What makes two addresses of pages one: the same page for telephones or printers, or with a mark of who linked it."""

from __future__ import annotations

import re

_DEFAULT_PORTS = frozenset({None, 80, 443})
_EDITIONS = frozenset({"m", "mobile", "amp"})
"""Labels before the name of a site that stand for another edition of the same pages."""
_TRACKING = re.compile(
    r"utm_.*|_g[al]|[gw]braid|gclid|dclid|fbclid|msclkid|yclid|igshid|mc_[ce]id|mkt_tok|srsltid|_hs(?:enc|mi)|amp|print",
    re.IGNORECASE,
)
"""Parameters that say who linked the page, or which edition of it is wanted, and nothing of what it is about."""
_EDITION_PAIRS = frozenset({("outputtype", "amp"), ("output", "amp"), ("view", "print")})
_EDITION_ENDS = frozenset({"amp", "print"})
_INDEX = re.compile(r"/(?:index\.(?:html?|php)|default\.aspx?)$", re.IGNORECASE)


def canonical_url(url: str) -> str:
    """An address for comparison, and not to be opened; what is no address is given back as it is.

    Without scheme, `www.`, default port, fragment, trailing slash and `index.html`; without what stands for an edition
    for telephones or printers (`m.`, `/amp`, `?print=1`) and parameters that only track; its path decoded, its
    parameters in order.
    """
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
    kept = sorted(pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _changes_nothing(*pair))
    return f"{place}{path}" + (f"?{urlencode(kept)}" if kept else "")


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


def _changes_nothing(name: str, value: str) -> bool:
    return _TRACKING.fullmatch(name) is not None or (name.lower(), value.lower()) in _EDITION_PAIRS

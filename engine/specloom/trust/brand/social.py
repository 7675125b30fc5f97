"""Which account of a social network an address is: profile pages only, never buttons that share or show one post."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from specloom.trust.hosts import to_host, to_registrable

_NETWORKS = {
    "twitter.com": "twitter",
    "x.com": "twitter",
    "linkedin.com": "linkedin",
    "github.com": "github",
    "youtube.com": "youtube",
    "facebook.com": "facebook",
    "instagram.com": "instagram",
}
_PROFILES = {
    "twitter": re.compile(r"/@?([A-Za-z0-9_]{1,15})"),
    "linkedin": re.compile(r"/(?:company|school|showcase)/([^/]{1,100})(?:/about)?"),
    "github": re.compile(r"/([A-Za-z0-9][A-Za-z0-9-]{0,38})"),
    "youtube": re.compile(r"/(?:@|c/|user/|channel/)([^/]{1,100})"),
    "facebook": re.compile(r"/(?:pg/)?([A-Za-z0-9.\-]{2,80})"),
    "instagram": re.compile(r"/([A-Za-z0-9_.]{1,30})"),
}
_PAGES = frozenset(
    (
        "about", "accounts", "dialog", "events", "explore", "features", "groups", "hashtag", "help", "home", "i",
        "intent", "join", "legal", "login", "marketplace", "orgs", "p", "pages", "plugins", "policies", "pricing",
        "privacy", "profile.php", "reel", "search", "settings", "share", "share.php", "sharer", "sharer.php", "signup",
        "sponsors", "stories", "topics", "tos", "tr", "watch",
    )
)  # fmt: skip


def find_account(url: str) -> tuple[str, str]:
    """The network and the handle that an address leads to; two empty texts where it is nobody's profile."""
    host = to_host(url)
    network = _NETWORKS.get(to_registrable(host), "")
    # Names below a network are its own services ("gist.github.com"), those of a language or a small screen are not.
    if not network or (len(host.split(".")[0]) > 3 and host.count(".") > 1):
        return "", ""
    match = _PROFILES[network].fullmatch(urlsplit(url).path.rstrip("/"))
    if match is None or match[1].lower() in _PAGES:
        return "", ""
    return network, match[1].lower()


def choose_accounts(declared: list[str], linked: list[str], label: str) -> dict[str, str]:
    """The address of one account a network: a declared one, else the only one that is linked, else one with the name.

    `label` is the name in the domain. Of several strangers none is taken, because nothing says which is the brand's.
    """
    chosen: dict[str, str] = {}
    for url in declared:
        network, _ = find_account(url)
        if network:
            chosen.setdefault(network, _clean(url))
    handles: dict[str, dict[str, str]] = {}
    for url in linked:
        network, handle = find_account(url)
        if network and network not in chosen:
            handles.setdefault(network, {}).setdefault(handle, _clean(url))
    for network, found in handles.items():
        named = [handle for handle in found if label and label in handle]
        one = next(iter(found)) if len(found) == 1 else named[0] if named else ""
        if one:
            chosen[network] = found[one]
    return chosen


def _clean(url: str) -> str:
    parts = urlsplit(url)
    return f"https://{to_host(url)}{parts.path.rstrip('/')}"

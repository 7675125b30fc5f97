"""Hosts by whole labels: what DNS would ask for, what lies above it, and which part of it somebody registered.

The boundary is the Public Suffix List, as bundled by the `publicsuffixlist` library: nothing is fetched. Its ICANN
section says which suffixes registries run (gov.uk, ac.jp); its private section which hosts give names to strangers
(github.io).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from publicsuffixlist import PublicSuffixList

_LONGEST_HOST = 253
_NUMERIC = re.compile(r"(?:.*\.)?[0-9]+")
# Browsers end the host at a backslash, the standard library does not; who is meant cannot be said.
_AMBIGUOUS = re.compile(r"[\\\s\x00-\x1f\x7f]")


def to_host(url: str) -> str:
    """The host of a web address in the form that DNS uses, "" when there is none."""
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").removesuffix(".")
        if parts.scheme not in ("http", "https") or _AMBIGUOUS.search(parts.netloc) or len(host) > _LONGEST_HOST:
            return ""
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except ValueError:  # a malformed address or name; UnicodeError is one too
        return ""


def to_domains(host: str) -> Iterator[str]:
    """The host itself and every domain above it, the longest first; nothing for "" and for an IP address."""
    rest = "" if is_address(host) else host
    while rest:
        yield rest
        rest = rest.partition(".")[2]


def is_address(host: str) -> bool:
    """Whether a host is an IP address, which has no domains above it: top-level domains are never digits."""
    return ":" in host or bool(_NUMERIC.fullmatch(host))


def to_suffix(host: str) -> str:
    """The suffix under which a registry sells or grants names ("gov.uk" of "www.example.gov.uk"), "" when unknown."""
    return "" if not host or is_address(host) else (_load_list(icann=True).publicsuffix(host) or "")


def to_registrable(host: str) -> str:
    """The name that somebody registered ("example.co.uk" of "a.b.example.co.uk"), "" for suffixes and IP addresses.

    A name under a host that gives names away counts as registered: "someone.github.io" is not "github.io".
    """
    return "" if not host or is_address(host) else (_load_list(icann=False).privatesuffix(host) or "")


@cache
def _load_list(*, icann: bool) -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList

    # Unknown top-level domains have no suffix: a made-up name is nobody's.
    return PublicSuffixList(accept_unknown=False, only_icann=icann)

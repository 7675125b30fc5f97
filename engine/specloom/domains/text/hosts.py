"""Hosts by whole labels: what DNS would ask for, what lies above it, and which part of it somebody registered.

The boundary is the Public Suffix List, as bundled by the `publicsuffixlist` library: nothing is fetched. Its ICANN
section says which suffixes registries run (gov.uk, ac.jp); its private section which hosts give names to strangers
(github.io).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from specloom.core import load_table
from specloom.plugins import HOOKS, Row, to_json
from specloom.plugins.records import record

if TYPE_CHECKING:
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


# --- What is documented about a host: a tier, on what basis, and a note. Unknown hosts stay unknown -------------------


TIERS = ("high", "mixed", "low")


@record
class Reputation:
    """How dependable what a host publishes usually is, and what that judgement rests on."""

    tier: Literal["high", "mixed", "low"]
    basis: str
    note: str | None = None


@cache
def load_reputations() -> Mapping[str, Reputation]:
    """Every judged host of the bundled data set."""
    return {host: Reputation(**entry) for host, entry in load_table(__file__, "reputation.yaml")["hosts"].items()}


def find_reputation(url: str) -> Reputation | None:
    """What is known about the host of an address, or about the nearest domain above it; None when nothing is."""
    reputations = load_reputations()
    return next((reputations[domain] for domain in to_domains(to_host(url)) if domain in reputations), None)


@HOOKS.register(
    "source_reputation",
    parameters={},
    adds={
        "source_reputation": {
            "type": "object",
            "properties": {
                "tier": {"type": "string", "enum": list(TIERS)},
                "note": {"type": "string"},
                "basis": {"type": "string"},
            },
            "required": ["tier"],
            "additionalProperties": False,
        }
    },
    reads=("url",),
)
def source_reputation(rows: list[Row], _arguments: Mapping[str, Any]) -> list[Row]:
    """Give each row whose host is in the data set its tier and basis; a row without one is unknown, not bad."""
    judged = ((row, find_reputation(row["url"]) if isinstance(row.get("url"), str) else None) for row in rows)
    return [{**row, "source_reputation": to_json(reputation)} if reputation else row for row, reputation in judged]

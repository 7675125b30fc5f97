"""What is documented about a host: a tier, on what basis, and a note. Unknown hosts stay unknown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from specloom.hooks import Row, hook

if TYPE_CHECKING:
    from collections.abc import Mapping

TIERS = ("high", "mixed", "low")
_LONGEST_HOST = 253
# Browsers end the host at a backslash, the standard library does not; who is meant cannot be said.
_AMBIGUOUS = re.compile(r"[\\\s\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Reputation:
    """How dependable what a host publishes usually is, and what that judgement rests on."""

    tier: str
    basis: str
    note: str = ""


@cache
def load_reputations() -> Mapping[str, Reputation]:
    """Every judged host of the bundled data set."""
    from importlib.resources import files

    import yaml

    text = files("specloom.trust").joinpath("data", "reputation.yaml").read_text(encoding="utf-8")
    data = yaml.load(text, Loader=yaml.CSafeLoader)
    return {host: Reputation(**entry) for host, entry in data["hosts"].items()}


def find_reputation(url: str) -> Reputation | None:
    """What is known about the host of an address, or about the nearest domain above it; None when nothing is."""
    rest = _to_host(url)
    known = load_reputations()
    while rest:
        if rest in known:
            return known[rest]
        rest = rest.partition(".")[2]
    return None


def _to_host(url: str) -> str:
    """The host of a web address in the form that DNS uses, "" when there is none."""
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").removesuffix(".")
        if parts.scheme not in ("http", "https") or _AMBIGUOUS.search(parts.netloc) or len(host) > _LONGEST_HOST:
            return ""
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except ValueError:  # a malformed address or name; UnicodeError is one too
        return ""


@hook(
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
    return [_with_reputation(row) for row in rows]


def _with_reputation(row: Row) -> Row:
    url = row.get("url")
    reputation = find_reputation(url) if isinstance(url, str) else None
    if reputation is None:
        return row
    entry = {"tier": reputation.tier, "basis": reputation.basis}
    return {**row, "source_reputation": entry | ({"note": reputation.note} if reputation.note else {})}

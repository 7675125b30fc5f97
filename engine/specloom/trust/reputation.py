"""What is documented about a host: a tier, on what basis, and a note. Unknown hosts stay unknown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from specloom.hooks import Row, hook
from specloom.trust.hosts import to_domains, to_host

if TYPE_CHECKING:
    from collections.abc import Mapping

TIERS = ("high", "mixed", "low")


@dataclass(frozen=True, slots=True)
class Reputation:
    """How dependable what a host publishes usually is, and what that judgement rests on."""

    tier: str
    basis: str
    note: str = ""

    def to_json(self) -> dict[str, str]:
        """Tier and basis, and the note where there is one."""
        return {"tier": self.tier, "basis": self.basis} | ({"note": self.note} if self.note else {})


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
    known = load_reputations()
    return next((known[domain] for domain in to_domains(to_host(url)) if domain in known), None)


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
    return {**row, "source_reputation": reputation.to_json()}

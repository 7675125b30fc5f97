"""Publishers that give text miners more than everybody: each is asked about its own DOIs alone, under an agreement.

An operator has an agreement with a publisher and a key from it, and sets both; one without the other grants nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Publisher:
    """A publisher's service: the prefixes of its DOIs, the provider behind it, and where its documents are."""

    name: str
    title: str
    prefixes: tuple[str, ...]
    documents: str = ""
    """The address of a document before its DOI; empty where only records are given."""

    @property
    def source(self) -> str:
        """How the service is called in answers and in the log."""
        return f"tdm-{self.name}"

    @property
    def provider(self) -> str:
        """The provider that gives its records."""
        return f"tdm_{self.name}"

    @property
    def agreement(self) -> str:
        """The variable that is 1 where the operator has agreed."""
        return f"DOIGET_AGREE_TDM_{self.name.upper()}"

    @property
    def key(self) -> str:
        """The variable of the key."""
        return f"DOIGET_KEY_{self.name.upper()}"

    def missing(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """The variables that are still to be set before it may be asked; none when it is granted."""
        agreed = str(config.get(self.agreement) or "").strip() == "1"
        return (*(() if agreed else (self.agreement,)), *(() if config.get(self.key) else (self.key,)))

    def has(self, doi: str) -> bool:
        """Whether a DOI is one of its own."""
        return doi.partition("/")[0] in self.prefixes

    def url_of(self, doi: str) -> str:
        """Where the document of a DOI is."""
        return self.documents + quote(doi, safe="/")


PUBLISHERS = (
    Publisher("elsevier", "Elsevier", ("10.1016", "10.1006", "10.1053")),
    Publisher("aps", "APS", ("10.1103",), "https://harvest.aps.org/v2/journals/articles/"),
    Publisher("springer", "Springer Nature", ("10.1007", "10.1038", "10.1057", "10.1140")),
)
"""In the order in which they are told. One publisher has a DOI at most."""


def granted(config: Mapping[str, Any]) -> tuple[Publisher, ...]:
    """The publishers that may be asked with these settings."""
    return tuple(one for one in PUBLISHERS if not one.missing(config))


def publisher_of(doi: str) -> Publisher | None:
    """The publisher whose DOI this is, among those that are known here."""
    return next((one for one in PUBLISHERS if one.has(doi)), None)

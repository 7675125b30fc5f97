"""Who knows papers by their DOI: registries, indexes that an operator switches on, and publishers with an agreement.

An operator has an agreement with a publisher on text mining and a key from it, and sets both; one without the other
grants nothing. Each publisher is asked about its own DOIs alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class PaperSource:
    """A source as answers and the log call it, with the provider and the operation behind it."""

    name: str
    provider: str
    operation: str = "work"
    switch: str = ""
    """The variable without which it is not asked."""
    title: str = ""
    prefixes: tuple[str, ...] = ()
    """How the DOIs of a publisher begin; none for a source that knows those of everybody."""
    documents: str = ""
    """The address of a publisher's document before its DOI; empty where only records are given."""

    @property
    def agreement(self) -> str:
        """The variable that is 1 where the operator has agreed with a publisher."""
        return f"DOIGET_AGREE_{self.provider.upper()}"

    @property
    def key(self) -> str:
        """The variable of the key that a publisher gave."""
        return f"DOIGET_KEY_{self.provider.upper().removeprefix('TDM_')}"

    def missing(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """The variables that are still to be set before it may be asked; none when it is granted."""
        if not self.prefixes:
            return (self.switch,) if self.switch and config.get(self.switch) is None else ()
        agreed = str(config.get(self.agreement) or "").strip() == "1"
        return (*(() if agreed else (self.agreement,)), *(() if config.get(self.key) else (self.key,)))

    def has(self, doi: str) -> bool:
        """Whether a DOI is one that it may know."""
        return not self.prefixes or doi.partition("/")[0] in self.prefixes

    def url_of(self, doi: str) -> str:
        """Where the publisher's document of a DOI is."""
        return self.documents + quote(doi, safe="/")


PUBLISHERS = (
    PaperSource("tdm-elsevier", "tdm_elsevier", "publisher_record", "", "Elsevier", ("10.1016", "10.1006", "10.1053")),
    PaperSource(
        *("tdm-aps", "tdm_aps", "publisher_record", "", "APS", ("10.1103",)),
        documents="https://harvest.aps.org/v2/journals/articles/",
    ),
    PaperSource(
        *("tdm-springer", "tdm_springer", "publisher_record", "", "Springer Nature"),
        prefixes=("10.1007", "10.1038", "10.1057", "10.1140"),
    ),
)
"""In the order in which they are told. One publisher has a DOI at most."""

INDEXES = (
    PaperSource("datacite", "datacite", switch="DOIGET_ENABLE_DATACITE"),
    PaperSource("openalex", "openalex", switch="DOIGET_ENABLE_OPENALEX"),
    PaperSource("s2", "semanticscholar", switch="DOIGET_ENABLE_S2"),
    PaperSource("doaj", "doaj", switch="DOIGET_ENABLE_DOAJ"),
)
OPENALEX = INDEXES[1]

SOURCES = (PaperSource("crossref", "crossref", "publication"), *PUBLISHERS, *INDEXES)
"""Everybody who is asked for a record, in their order."""


def publisher_of(doi: str) -> PaperSource | None:
    """The publisher whose DOI this is, among those that are known here."""
    return next((publisher for publisher in PUBLISHERS if publisher.has(doi)), None)

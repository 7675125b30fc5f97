"""Who knows papers by their DOI, and what else of the outside is data: `sources.toml` with what it means.

An operator has an agreement with a publisher on text mining and a key from it, and sets both; one without the other
grants nothing. Each publisher is asked about its own DOIs alone.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import quote

DATA: Mapping[str, Mapping[str, Any]] = tomllib.loads(files(__package__).joinpath("sources.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class PaperSource:
    """A source as answers and the log call it, with the provider and the operation behind it."""

    name: str
    provider: str
    operation: str = "work"
    switch: str = ""
    """The variable without which it is not asked."""
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


SOURCES = tuple(
    PaperSource(name, **{**fields, "prefixes": tuple(fields.get("prefixes", ()))})
    for name, fields in DATA["sources"].items()
)
"""Everybody who is asked for a record, in their order."""
PUBLISHERS = tuple(source for source in SOURCES if source.prefixes)
"""In the order in which they are told. One publisher has a DOI at most."""
INDEXES = tuple(source for source in SOURCES if source.switch)
OPENALEX = next(source for source in INDEXES if source.name == "openalex")


def publisher_of(doi: str) -> PaperSource | None:
    """The publisher whose DOI this is, among those that are known here."""
    return next((publisher for publisher in PUBLISHERS if publisher.has(doi)), None)

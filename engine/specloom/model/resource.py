"""The resource's part of the model: its address, where what is read comes from, and what is answered. Only data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from urllib.parse import quote, unquote

from specloom.core import Place, dataclass, field

from .tool import AnswerKey
from .values import Pair, Value

HOLE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a resource comes from beside the engine: `kind` is collection, one_of, procedure or artifact; or nothing.

    `name` is that of the collection or the procedure, the field by which one of the rows is found, or the hole of the
    address that names the artifact.
    """

    kind: str = ""
    name: str = ""
    value: Value | None = None
    """The rows of `one_of`."""
    parameters: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """What may fill a hole: the keys of the newest items of a collection."""

    collection: str
    limit: int


@dataclass(frozen=True)
class Resource:
    """One resource, compiled; or, where its address has holes, a template of many."""

    name: str
    uri: str
    title: str
    description: str
    mime_type: str
    place: Place
    order: int
    ttl: float
    values: tuple[Pair, ...]
    source: Source
    missing: str
    complete: Mapping[str, Completion]
    changes_with: Mapping[str, str]
    answer: tuple[AnswerKey, ...] = ()
    whole: Value | None = None
    """The record that is the answer, where it is not put together from keys."""
    tables: frozenset[str] = field(default_factory=frozenset)
    """The tables of the engine that are looked into."""

    @property
    def is_template(self) -> bool:
        """Whether the address has holes."""
        return HOLE.search(self.uri) is not None

    @property
    def prefix(self) -> str:
        """The address up to its first hole."""
        return self.uri.partition("{")[0]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = HOLE.split(self.uri)
        return re.compile(
            "".join(f"(?P<{one}>.*)" if at % 2 else re.escape(one) for at, one in enumerate(parts)), re.DOTALL
        )

    def fill(self, holes: Mapping[str, str]) -> str:
        """The address with its holes filled, percent-encoded."""
        return HOLE.sub(lambda hole: quote(holes[hole[1]], safe=""), self.uri)

    def match(self, uri: str) -> dict[str, str] | None:
        """What fills the holes of an address, percent-decoded; None where it is no address of this resource."""
        found = self._pattern.fullmatch(uri)
        return None if found is None else {name: unquote(text) for name, text in found.groupdict().items()}

"""Collections in which nothing is (null object): for callers of whom nothing may be kept, such as those without a name.

Reading finds nothing, as if it had never been there; writing is refused with a sentence that says for whom things are
kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from specloom.core import Fault
from specloom.plugins import NOTHING, REASONS, Change, Collection, CollectionSpec, Event, Item, Json, Move, SearchHit


class NullCollections:
    """What `specloom.plugins.Collections` promises, for nobody in particular."""

    def __init__(self, collections: Mapping[str, CollectionSpec]) -> None:
        self._collections = collections

    def drawer(self, collection: str, owner: str, *, space: str = "") -> Collection:  # noqa: ARG002 - the same for all
        """An empty view on a collection."""
        return NullCollection(self._collections.get(collection) or CollectionSpec(collection))


class NullCollection:
    """One collection in which nothing is and nothing can be kept."""

    def __init__(self, spec: CollectionSpec) -> None:
        self._spec = spec

    @property
    def spec(self) -> CollectionSpec:
        """What is declared of the collection."""
        return self._spec

    async def get(self, key: str) -> Item | None:  # noqa: ARG002
        """Nothing."""
        return None

    async def put(self, key: str, value: Json, *, expect: int | None = None) -> Item:  # noqa: ARG002
        """A `validation` fault."""
        _refuse()

    async def update(self, key: str, change: Change, *, lasts: float | None = None) -> Item | None:  # noqa: ARG002
        """A `validation` fault."""
        _refuse()

    async def move(
        self,
        key: str,  # noqa: ARG002
        to: str,  # noqa: ARG002
        change: Move,  # noqa: ARG002
        *,
        lasts: float | None = None,  # noqa: ARG002
    ) -> Item | None:
        """A `validation` fault."""
        _refuse()

    async def append(
        self,
        key: str,  # noqa: ARG002
        event: Json,  # noqa: ARG002
        *,
        expect: int | None = None,  # noqa: ARG002
        change: Callable[[Json, int], Json] | None = None,  # noqa: ARG002
    ) -> Item:
        """A `validation` fault."""
        _refuse()

    async def events(self, key: str, *, first: int = 1, last: int | None = None) -> list[Event]:  # noqa: ARG002
        """Nothing."""
        return []

    async def items(self, *, where: Mapping[str, str] = NOTHING, limit: int = 100) -> list[Item]:  # noqa: ARG002
        """Nothing."""
        return []

    async def search(
        self,
        text: str,  # noqa: ARG002
        *,
        where: Mapping[str, str] = NOTHING,  # noqa: ARG002
        limit: int = 20,  # noqa: ARG002
    ) -> list[SearchHit]:
        """Nothing."""
        return []

    async def count(self) -> int:
        """None."""
        return 0

    async def delete(self, key: str) -> bool:  # noqa: ARG002
        """There was none."""
        return False


def _refuse() -> NoReturn:
    raise Fault("validation", REASONS["unavailable"])

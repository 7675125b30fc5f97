"""What a store of state promises: declared collections, one owner's view of each, and who has agreed to what is kept.

No database is named here. Collections are declared in YAML, a file each; `specloom.compiler.collection` compiles them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, Protocol

from specloom.core import Fault, dataclass

Json = Any
"""JSON data: None, bool, int, float, str, list, dict with text keys."""

PURPOSES = ("memory", "analytics", "workspace", "monitoring")
"""What consent is given for; the contract's words."""
DEFAULT_TENANT = "default"
ANONYMOUS = "anonymous"
NOTHING: Mapping[str, str] = MappingProxyType({})


class WriteConflict(Fault):
    """Somebody else wrote first: the version or the number of events is not the expected one."""

    def __init__(self, message: str) -> None:
        super().__init__("validation", message)


@dataclass(frozen=True, slots=True)
class CollectionSpec:
    """A declared collection: whose its items are, how long they live, how much there may be, and how they are found.

    Everything is sealed: there is no switch for that.
    """

    name: str
    scope: Literal["user", "shared"] = "user"
    """`user`: an item is seen by the owner who wrote it. `shared`: by everyone who is shown the space it lies in."""
    lifetime: float | None = None
    """Seconds an item lives after it was written; None is until it is deleted."""
    sliding: bool = False
    """Reading an item starts its lifetime anew."""
    max_items: int = 1000
    """Items of one owner, or of one space."""
    when_full: Literal["refuse", "evict"] = "refuse"
    """What a new item meets when there are `max_items`: a fault, or the room of the least recently used one."""
    max_value: int = 64 * 1024
    """Bytes of one value or event as JSON."""
    max_bytes: int = 64 * 1024 * 1024
    """Bytes of all items of one owner, or of one space."""
    max_events: int = 0
    """Events on the stream of one item; 0 is no stream."""
    indexes: tuple[str, ...] = ()
    """Fields of a value (text, or lists of text) that `where` finds exactly."""
    search: tuple[str, ...] = ()
    """Fields of a value (text, or lists of text) that `search` reads."""
    consent: str = ""
    """What an owner has to have agreed to before a plan reads or writes anything of them; empty: nothing."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables by which an operator sets a bound: pairs of a field above and a name."""
    missing: str = ""
    """What a caller may do who names an item that is not there; a sentence."""


@dataclass(frozen=True, slots=True)
class CollectionNeed:
    """What code relies on in a collection that it opens by this name; the declaration may say more than that."""

    name: str
    scope: Literal["user", "shared"] = "user"
    lifetime: bool = False
    """Items end by themselves."""
    events: bool = False
    """Items have a stream."""
    indexes: tuple[str, ...] = ()
    search: bool = False
    """Items are found by words."""


ARTIFACTS = CollectionNeed("artifacts", lifetime=True)
CONSENTS = CollectionNeed("consents")
MEMBERS = CollectionNeed("members", "shared")
ENGINE_NEEDS = (ARTIFACTS, CONSENTS, MEMBERS)
"""What the engine itself keeps: large answers, who has agreed to what, and who belongs to which workspace."""


@dataclass(frozen=True, slots=True)
class Item:
    """One record. Times are seconds since the epoch; `last` is the sequence number of the newest event, 0 for none."""

    key: str
    value: Json
    version: int
    created: float
    changed: float
    expires: float | None
    last: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of an item's stream: its number from 1 without gaps, when it was appended, and what it says."""

    seq: int
    at: float
    value: Json


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An item that a search found; a higher score fits better, and scores compare within one search only."""

    item: Item
    score: float


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure removed, in items by collection, and whether the files were compacted already."""

    deleted: dict[str, int]
    compacted: bool


Change = Callable[[Json], Json]
"""From the value (None where there is none) to the new one, or None to leave things as they are.

It runs inside a transaction and may run twice, so it has no effects and changes nothing in place.
"""


Move = Callable[[Json, Json], Json]
"""The same from the values of an item that moves and of the one that is where it goes, None where there is none."""


class Collection(Protocol):
    """One collection as one owner sees it. No method takes an owner, so nothing can cross by an argument.

    Every method raises `specloom.core.faults.Fault` and nothing else; each is atomic, also between processes.
    """

    @property
    def spec(self) -> CollectionSpec:
        """What is declared of the collection, with what the operator has set."""

    async def get(self, key: str) -> Item | None:
        """The item, or None when there is none, it has expired, or it is somebody else's."""

    async def put(self, key: str, value: Json, *, expect: int | None = None) -> Item:
        """Write a value in place of whatever is there; `expect` is the version that must be there, 0 for none."""

    async def update(self, key: str, change: Change, *, lasts: float | None = None) -> Item | None:
        """Write what `change` makes of the value; the item as it is afterwards.

        `lasts` is after how many seconds it ends, where that is earlier than its collection says.
        """

    async def move(self, key: str, to: str, change: Move, *, lasts: float | None = None) -> Item | None:
        """Write under another key what `change` makes of the values under both, and delete the item that was moved.

        The new item, or None where there is none to be moved or `change` gives None. Both is done or nothing, and what
        is deleted, with its events, makes room for what is written. `lasts` is as in `update`.
        """

    async def append(
        self, key: str, event: Json, *, expect: int | None = None, change: Callable[[Json, int], Json] | None = None
    ) -> Item:
        """Put one event on the stream of an item and change its value with it.

        `change` gets the value and the event's number. `expect` is how many events there must be before this one, else
        Conflict. A `not_found` fault when there is no such item.
        """

    async def events(self, key: str, *, first: int = 1, last: int | None = None) -> list[Event]:
        """The events of an item from number `first` to `last`, in order."""

    async def items(self, *, where: Mapping[str, str] = NOTHING, limit: int = 100) -> list[Item]:
        """Items, newest first; `where` maps declared indexes to the text that must be there."""

    async def search(self, text: str, *, where: Mapping[str, str] = NOTHING, limit: int = 20) -> list[SearchHit]:
        """Items about the words of a text, best first."""

    async def count(self) -> int:
        """How many items there are."""

    async def delete(self, key: str) -> bool:
        """Delete an item with its events; whether there was one."""


class Collections(Protocol):
    """Where drawers come from."""

    def drawer(self, collection: str, owner: str, *, space: str = "") -> Collection:
        """The view of an owner on a collection; `space` names the shared place where the collection is `shared`."""


class CollectionStore(Collections, Protocol):
    """The store behind drawers, for who looks after it: what is exported, erased and counted, and what has expired."""

    async def export(self, owner: str) -> dict[str, list[dict[str, Any]]]:
        """Everything that an owner wrote: items with their events, by collection."""

    async def export_tenant(self, tenant: str) -> dict[str, list[dict[str, Any]]]:
        """The same of every user of a tenant; whose each item is, is said only where the item says so itself."""

    async def erase(self, owner: str) -> Erased:
        """Remove everything that an owner wrote, from every answer at once and then every byte of it from the files.

        Of an owner who had decided about consents stays that they refuse every purpose, under their tag alone.
        """

    async def erase_tenant(self, tenant: str) -> Erased:
        """Remove what every user of a tenant wrote; refusals stay as they do for one of them."""

    async def erase_collection(self, collection: str, tenant: str | None, user: str = "") -> int:
        """Remove one collection of a user, of every user of a tenant, or with None of everybody; how many items."""

    async def count(self, collection: str) -> int:
        """How many items of everybody are in a collection, with those that have just expired."""

    async def expire(self) -> int:
        """Remove what has expired, seal anew what an earlier key sealed, finish erasures; how many items expired."""

    async def aclose(self) -> None:
        """Finish what is being written, and let go of what is held."""


def join_owner(tenant: str, user: str) -> str:
    """The owner text of a user of a tenant. No two pairs give the same text."""
    from urllib.parse import quote

    return f"{quote(tenant or DEFAULT_TENANT, safe='')}:{user or ANONYMOUS}"


def split_owner(owner: str) -> tuple[str, str]:
    """Tenant and user of an owner text; a text without a tenant belongs to the default one, and none to nobody."""
    tenant, colon, user = owner.partition(":")
    if not colon:
        return DEFAULT_TENANT, owner or ANONYMOUS
    if "%" in tenant:
        from urllib.parse import unquote

        tenant = unquote(tenant)
    return tenant or DEFAULT_TENANT, user or ANONYMOUS


def is_anonymous(owner: str) -> bool:
    """Whether nobody in particular is calling, so that nothing personal may be kept."""
    return split_owner(owner)[1] == ANONYMOUS


# --- Consent: who has agreed to what being kept, and who belongs to a space; asked before anything of theirs is read --


Refusal = Literal["unavailable", "no_consent"]
REASONS: Mapping[Refusal, str] = MappingProxyType(
    {
        "unavailable": (
            "This is kept for signed-in users only, and nobody is signed in; "
            "on a local server, STDIO_USER_ID names the user."
        ),
        "no_consent": (
            "The user has not agreed to this being kept. The host application records their consent; "
            "on a local server, `specloom data consent` does."
        ),
    }
)
NOT_MEMBER = (
    "This user is not a member of that workspace. The host application manages who is; "
    "on a local server, `specloom data members` does."
)
_MEMBER = "member"


async def find_decision(drawer: Collection, purpose: str) -> dict[str, Any] | None:
    """The latest decision about a purpose, or None when there was none."""
    item = await drawer.get(purpose)
    return None if item is None else item.value


async def find_refusal(drawer: Collection, owner: str, purpose: str) -> Refusal | None:
    """Why nothing may be kept for this owner and purpose, or None when it may."""
    if is_anonymous(owner):
        return "unavailable"
    decision = await find_decision(drawer, purpose)
    return None if decision and decision["granted"] else "no_consent"


def member_key(owner: str) -> str:
    """Under which key a member's entry lies in a workspace."""
    return f"{_MEMBER}:{owner}"


async def is_member(members: Collection, owner: str) -> bool:
    """Whether the owner belongs to the workspace that the drawer shows."""
    return await members.get(member_key(owner)) is not None

"""Where items lie: keyed tags in place of owners, spaces, keys and indexed texts, the same in every store."""

from __future__ import annotations

from specloom.core import dataclass
from specloom.plugins import CollectionSpec, join_owner, split_owner

from .keys import make_tag


@dataclass(frozen=True, slots=True)
class ViewAddress:
    """Where the items of one view lie, and who writes them; tags instead of names."""

    spec: CollectionSpec
    place: bytes
    author: bytes
    tenant: bytes


class Tags:
    """What stands for owners, tenants, keys and indexed texts in a store with this key of tags."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def address(self, spec: CollectionSpec, owner: str, space: str) -> ViewAddress:
        """Where an owner's view of a collection is."""
        tenant, user = split_owner(owner)
        author = self.owner(tenant, user)
        place = author if spec.scope == "user" else make_tag(self._key, "space", space)
        return ViewAddress(spec, place, author, self.tenant(tenant))

    def owner(self, tenant: str, user: str) -> bytes:
        """What stands for a user of a tenant."""
        return make_tag(self._key, "owner", join_owner(tenant, user))

    def tenant(self, tenant: str) -> bytes:
        """What stands for a tenant."""
        return make_tag(self._key, "tenant", tenant)

    def name(self, place: ViewAddress, key: str) -> bytes:
        """What stands for the key of an item; no two views have one in common."""
        return make_tag(self._key, "name", place.spec.name, place.place.hex(), key)

    def mark(self, place: ViewAddress, field: str, text: str) -> bytes:
        """What stands for a text in an indexed field; no two views have one in common."""
        return make_tag(self._key, "mark", place.spec.name, place.place.hex(), field, text)


def bind(kind: str, place: ViewAddress, name: bytes, author: bytes, number: int) -> bytes:
    """What a sealed value is bound to: it opens nowhere else, so values cannot be swapped between rows."""
    return f"{kind}\0{place.spec.name}\0".encode() + place.place + name + author + number.to_bytes(8, "big")

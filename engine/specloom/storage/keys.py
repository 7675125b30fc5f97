"""The keys of a store: values open under a key of their owner, and names are found by tags that only we can make.

From the master key come one key for values and one for wrapping. A value's own key is made from the first and a salt of
its author, so that without the salt, which an erasure removes, not even the holder of the master key can open it. Tags
(owners, names, index terms) come from a random key that is wrapped in the database, so they outlive a rotation.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING

from specloom.core import KEY_FILE, KEY_VARIABLE, dataclass, load_key, seal, unseal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


PREVIOUS_VARIABLE = "SPECLOOM_CACHE_KEY_PREVIOUS"
TAG_KEY_SALT, TAG_KEY_CONTEXT = b"tags", b"specloom state: key of the tags"
"""What the key of the tags is sealed with, beside the master key."""
TAG_BYTES = 16
SALT_BYTES = 16
_NAME_BYTES = 4


@dataclass(frozen=True, slots=True, repr=False)
class MasterKeys:
    """The key that seals, and the one it replaced, which still opens."""

    current: bytes
    previous: bytes | None = None

    @property
    def all(self) -> tuple[bytes, ...]:
        """The keys that open, the current one first."""
        return (self.current,) if self.previous is None else (self.current, self.previous)


def load_master_keys(folder: Path, environ: Mapping[str, str]) -> MasterKeys:
    """The keys from the environment, else from a file of mode 0600 in the folder; a ValueError says what to do.

    The environment's key may replace the file's: then the file's is the previous one, unless another is named.
    """
    current = load_key(folder, environ)
    named = environ.get(PREVIOUS_VARIABLE, "").strip()
    if named:
        try:
            return MasterKeys(current, load_key(folder, {KEY_VARIABLE: named}))
        except ValueError:
            raise ValueError(f"{PREVIOUS_VARIABLE} is not a key: give 64 hex digits, or 32 bytes in base64") from None
    if environ.get(KEY_VARIABLE, "").strip() and (folder / KEY_FILE).exists():
        return MasterKeys(current, load_key(folder, {}))
    return MasterKeys(current)


def name_key(key: bytes) -> bytes:
    """Four bytes that tell which key sealed a value, and nothing about the key."""
    return hmac.digest(key, b"specloom state: name of a key", "sha256")[:_NAME_BYTES]


def seal_value(key: bytes, salt: bytes, plain: bytes, context: bytes) -> bytes:
    """A value under the key that belongs to this salt, with the name of the master key before it."""
    return name_key(key) + seal(_derive(key, salt), plain, context)


def unseal_value(keys: MasterKeys, salt: bytes, sealed: bytes, context: bytes) -> bytes | None:
    """The value, or None when none of the keys opens it in this place."""
    for key in keys.all:
        if sealed[:_NAME_BYTES] == name_key(key):
            return unseal(_derive(key, salt), sealed[_NAME_BYTES:], context)
    return None


def is_current(keys: MasterKeys, sealed: bytes) -> bool:
    """Whether a value is sealed with the current key."""
    return sealed[:_NAME_BYTES] == name_key(keys.current)


def make_tag(tag_key: bytes, *parts: str) -> bytes:
    """Sixteen bytes that stand for these texts; equal texts have equal tags, and no text can be read from one."""
    digest = hmac.new(tag_key, digestmod=hashlib.sha256)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(4, "big") + encoded)
    return digest.digest()[:TAG_BYTES]


def _derive(key: bytes, salt: bytes) -> bytes:
    return hmac.digest(key, b"specloom state: values of " + salt, "sha256")

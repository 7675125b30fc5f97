"""The keys of a store: values open under a key of their owner, and names are found by tags that only we can make.

From the master key come one key for values and one for wrapping. A value's own key is made from the first and a salt of
its author, so that without the salt, which an erasure removes, not even the holder of the master key can open it. Tags
(owners, names, index terms) come from a random key that is wrapped in the database, so they outlive a rotation.
"""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import TYPE_CHECKING

from specloom.core import KEY_FILE, KEY_VARIABLE, dataclass, load_key, seal, unseal

if TYPE_CHECKING:
    from collections.abc import Mapping


PREVIOUS_VARIABLE = "SPECLOOM_CACHE_KEY_PREVIOUS"
_TAG_KEY_SALT, _TAG_KEY_CONTEXT = b"tags", b"specloom state: key of the tags"
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
    previous = load_previous_key(environ)
    if previous is not None:
        return MasterKeys(current, previous)
    if environ.get(KEY_VARIABLE, "").strip() and (folder / KEY_FILE).exists():
        return MasterKeys(current, load_key(folder, {}))
    return MasterKeys(current)


def load_previous_key(environ: Mapping[str, str]) -> bytes | None:
    """The key that the environment names as the previous one, if it does; a ValueError when it is none."""
    named = environ.get(PREVIOUS_VARIABLE, "").strip()
    if not named:
        return None
    try:
        return load_key(Path(), {KEY_VARIABLE: named})
    except ValueError:
        raise ValueError(f"{PREVIOUS_VARIABLE} is not a key: give 64 hex digits, or 32 bytes in base64") from None


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


def wrap_tag_key(keys: MasterKeys, tag_key: bytes) -> bytes:
    """The key of the tags as a store keeps it: sealed with the current master key."""
    return seal_value(keys.current, _TAG_KEY_SALT, tag_key, _TAG_KEY_CONTEXT)


def unwrap_tag_key(keys: MasterKeys, wrapped: bytes) -> bytes:
    """The key of the tags; a ValueError when the store has other master keys."""
    tag_key = unseal_value(keys, _TAG_KEY_SALT, wrapped, _TAG_KEY_CONTEXT)
    if tag_key is None:
        raise ValueError(
            f"the state was sealed with another key: give that one as {PREVIOUS_VARIABLE}, or restore its key file"
        )
    return tag_key


def make_tag(tag_key: bytes, *parts: str) -> bytes:
    """Sixteen bytes that stand for these texts; equal texts have equal tags, and no text can be read from one."""
    digest = hmac.new(tag_key, digestmod=hashlib.sha256)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(4, "big") + encoded)
    return digest.digest()[:TAG_BYTES]


def _derive(key: bytes, salt: bytes) -> bytes:
    return hmac.digest(key, b"specloom state: values of " + salt, "sha256")

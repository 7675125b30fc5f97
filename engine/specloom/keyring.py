"""The settings of a provider, once for each of its keys: keys are used in turn, and a spent one is passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .grant import Tokens
from .model_providers import Provider
from .vault import Secret

SPENT = frozenset({"rate_limited", "quota_exhausted", "auth_required"})
"""Kinds of fault for which the next key is worth a try."""


@dataclass(frozen=True, slots=True)
class Key:
    """One set of settings, with the tokens that were got with it."""

    settings: Mapping[str, Any]
    tokens: Tokens = field(default_factory=dict)

    def secrets(self) -> list[Secret]:
        """Everything secret in it, tokens included."""
        values = [
            one for value in self.settings.values() for one in (value.values() if isinstance(value, dict) else [value])
        ]
        return [one for one in values if isinstance(one, Secret)] + [token for token, _ in self.tokens.values()]


class Keyring:
    """Hands out a provider's keys, each call beginning with the next one."""

    def __init__(self, provider: Provider, values: Mapping[str, Any]) -> None:
        turning = {
            one.name: parts
            for one in provider.settings.values()
            if one.rotate and len(parts := _parts(values.get(one.name))) > 1
        }
        count = max((len(parts) for parts in turning.values()), default=1)
        sets = ({**values, **{name: parts[at % len(parts)] for name, parts in turning.items()}} for at in range(count))
        self._keys = [Key(settings) for settings in sets]
        self._next = 0

    def __len__(self) -> int:
        return len(self._keys)

    def secrets(self) -> list[Secret]:
        """Everything secret in all the keys."""
        return [one for key in self._keys for one in key.secrets()]

    def turn(self) -> Iterator[Key]:
        """Every key once, beginning with the one whose turn it is."""
        start = self._next
        self._next = (start + 1) % len(self._keys)
        for at in range(len(self._keys)):
            yield self._keys[(start + at) % len(self._keys)]


def _parts(value: Any) -> list[Any]:
    text = value.reveal() if isinstance(value, Secret) else value
    if not isinstance(text, str):
        return []
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return [Secret(part) for part in parts] if isinstance(value, Secret) else parts

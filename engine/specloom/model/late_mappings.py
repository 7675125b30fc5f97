"""Mappings of which the names are known before, and the values when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

S = TypeVar("S")
T = TypeVar("T")


class LazyMapping(Mapping[str, T]):
    """Specs by name, each loaded when it is first asked for; names and their order are known before."""

    __slots__ = ("_load", "_loaded", "_names")

    def __init__(self, names: tuple[str, ...], load: Callable[[str], T]) -> None:
        self._names = dict.fromkeys(names)
        self._load = load
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            if name not in self._names:
                raise KeyError(name)
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class DerivedMapping(Mapping[str, T]):
    """What is made of each item of another mapping, anew whenever it is asked for."""

    __slots__ = ("_items", "_make")

    def __init__(self, items: Mapping[str, S], make: Callable[[S], T]) -> None:
        self._items: Mapping[str, Any] = items
        self._make: Callable[[Any], T] = make

    def __getitem__(self, name: str) -> T:
        return self._make(self._items[name])

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

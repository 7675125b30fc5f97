"""Compiled specs as other specs see them: every read is recorded as a path, with what stood there.

Nobody lists what a verdict hangs on. A check is given views instead of compiled specs; a view has the class of what it
shows and notes each attribute, name or item that is read, so a read that is not recorded cannot be made. What stands
under a path is its fact: plain data as it is, the kind and the names of what has parts, and a digest of the rest. From
facts that still hold a view is made without compiling the spec again.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from importlib import import_module
from typing import Any

from specloom.core import PageTemplate, Place, ViewSlot, ViewTemplate
from specloom.language import made_by
from specloom.plugins import CollectionSpec

Fact = list[Any]
SEPARATOR = "\t"
MISSING: Fact = ["missing"]
"""The fact of a name under which nothing is."""
_KEPT = (Place, PageTemplate, CollectionSpec, ViewSlot, ViewTemplate)
"""Records of plain data that are kept as they are; the others of the model have parts of their own."""
_SCALARS = (str, int, float, bool, type(None))


def join(*parts: str) -> str:
    """The path of these names."""
    return SEPARATOR.join(parts)


class Facts:
    """What is true of compiled specs by path, beside what was true at the last check, and who reads it."""

    def __init__(
        self,
        remembered: Mapping[str, Fact],
        derive: Callable[[str], Fact | None],
        holds: Callable[[str], bool],
        find: Callable[[str, str], Any],
    ) -> None:
        """`derive` gives the fact of a path that is not below a spec, `find` the spec by its kind and name.

        `holds` says whether all that was true at a path below a spec still is.
        """
        self.known: dict[str, Fact] = {}
        """Of every path that was looked at in this run."""
        self._remembered = remembered
        self._derive, self._holds, self._find = derive, holds, find
        self._readers: list[set[str]] = []
        self._shown: dict[str, Any] = {}
        self._unlike = 0

    @contextmanager
    def recording(self) -> Iterator[set[str]]:
        """The paths that are read until this ends; what is read in a recording within is not among them."""
        reads: set[str] = set()
        self._readers.append(reads)
        try:
            yield reads
        finally:
            self._readers.pop()

    def has_changed(self, path: str) -> bool:
        """Whether something else stands under a path than at the last check."""
        now, before = self.fact(path), self._remembered.get(path)
        # 1, 1.0 and true are equal, and not the same.
        return now is not before and (now != before or repr(now) != repr(before))

    def read(self, path: str) -> Any:
        """What stands under a path: plain data, or a view; a KeyError where nothing does."""
        if self._readers:
            self._readers[-1].add(path)
        return self.show(path)

    def show(self, path: str) -> Any:
        """The same without a record, for what is read by way of it is recorded by itself."""
        if path in self._shown:
            return self._shown[path]
        kind, *said = self.fact(path)
        if kind == "items":  # each is read by whoever reads them
            items = [self.read(join(path, str(at))) for at in range(said[0])]
            return items if said[1] == "list" else tuple(items)
        if kind == "link":
            return self.show(said[0])
        self._shown[path] = made = self._make(path, kind, said)
        return made

    def fact(self, path: str) -> Fact:
        """The fact of a path, which is `MISSING` where nothing stands under it."""
        found = self.known.get(path)
        if found is None:
            found = self._derive(path)
        if found is None and self._holds(path):
            found = self._remembered.get(path)
        if found is None:
            found = self._work_out(path)
        self.known[path] = found
        return found

    def _work_out(self, path: str) -> Fact:
        above, _, name = path.rpartition(SEPARATOR)
        kind, *said = self.fact(above)
        has_it = (
            kind == "record" or (kind == "mapping" and name in said[0]) or (kind == "items" and int(name) < said[0])
        )
        return self._describe(self._look_up(path)) if has_it else MISSING

    def _look_up(self, path: str) -> Any:
        """What really stands under a path; what compiled it notes nothing for whoever asks."""
        with self.recording():
            kind, spec, *parts = path.split(SEPARATOR)
            found = self._find(kind, spec)
            for part in parts:
                if isinstance(found, Mapping):
                    found = found[part]
                else:
                    found = found[int(part)] if isinstance(found, (tuple, list)) else getattr(found, part)
            return found

    def _describe(self, value: Any) -> Fact:
        if (target := path_of(value)) is not None:
            return ["link", target]
        try:
            return ["plain", pack(value)]
        except TypeError:
            pass
        if is_model(value):
            return ["record", type(value).__module__, type(value).__name__]
        if isinstance(value, Mapping):
            return ["mapping", list(value)]
        if isinstance(value, (tuple, list)):
            return ["items", len(value), type(value).__name__]
        try:
            return ["digest", digest(value)]
        except TypeError:
            self._unlike += 1
            return ["unlike", id(self), self._unlike]  # what cannot be compared is never the same

    def _make(self, path: str, kind: str, said: list[Any]) -> Any:
        if kind == "missing":
            raise KeyError(path.rpartition(SEPARATOR)[2])
        if kind == "plain":
            return unpack(said[0])
        if kind == "record":
            return view_of(getattr(import_module(said[0]), said[1]), self, path)
        if kind == "mapping":
            return MappingView(self, path)
        return self._look_up(path)


class MappingView(Mapping[str, Any]):
    """A mapping whose names and items are read by path; to ask for one name is to read no other."""

    __slots__ = ("_facts", "_path")

    def __init__(self, facts: Facts, path: str) -> None:
        self._facts, self._path = facts, path

    def __getitem__(self, name: str) -> Any:
        if type(name) is not str or SEPARATOR in name:
            raise KeyError(name)  # nothing is called that, whatever there is
        return self._facts.read(join(self._path, name))

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _names(self) -> list[str]:
        self._facts.read(self._path)
        names: list[str] = self._facts.fact(self._path)[1]
        return names


# --- Views of the records of the model --------------------------------------------------------------------------------


def is_model(value: Any) -> bool:
    """Whether a value is a record of the model, whose fields are read one by one."""
    return dataclasses.is_dataclass(value) and type(value).__module__.startswith("specloom.model.")


def view_of(kind: type, facts: Facts, path: str) -> Any:
    """A record of this class whose fields are read by path."""
    view: Any = object.__new__(_view_class(kind))
    object.__setattr__(view, "_facts_", facts)
    object.__setattr__(view, "_path_", path)
    return view


def path_of(value: Any) -> str | None:
    """The path that a view of a record shows; None for what is no view."""
    if not hasattr(type(value), "_path_"):
        return None
    path: str = object.__getattribute__(value, "_path_")
    return path


@cache
def _view_class(kind: type) -> type:
    """A class of the same fields, properties and methods; a field is read when it is asked for, each time anew."""
    fields = frozenset(one.name for one in dataclasses.fields(kind))

    def get(self: Any, name: str) -> Any:
        if name in fields:
            facts = object.__getattribute__(self, "_facts_")
            return facts.read(join(object.__getattribute__(self, "_path_"), name))
        if name == "__class__":
            return kind
        if name == "__dict__":
            return {}  # where a property is kept that was worked out once: for nobody else
        return object.__getattribute__(self, name)

    return type(f"{kind.__name__}View", (kind,), {"__slots__": ("_facts_", "_path_"), "__getattribute__": get})


# --- What facts are made of -------------------------------------------------------------------------------------------


def pack(value: Any) -> Any:
    """Plain data as JSON has it; a TypeError for what is not."""
    if type(value) in _SCALARS:
        return value
    if type(value) is list:
        return [pack(one) for one in value]
    if type(value) is tuple:
        return {"tuple": [pack(one) for one in value]}
    if type(value) is frozenset:
        return {"set": sorted(map(pack, value), key=repr)}
    if type(value) in _KEPT:
        return {"record": [_KEPT.index(type(value)), *(pack(getattr(value, one.name)) for one in _fields(value))]}
    if isinstance(value, Mapping):
        return {"mapping": [[pack(key), pack(one)] for key, one in value.items()]}
    raise TypeError(f"a {type(value).__name__} is no plain data")


def unpack(said: Any) -> Any:
    """What `pack` was given; mappings as dictionaries."""
    if isinstance(said, list):
        return [unpack(one) for one in said]
    if not isinstance(said, dict):
        return said
    ((kind, inner),) = said.items()
    if kind == "tuple":
        return tuple(unpack(one) for one in inner)
    if kind == "set":
        return frozenset(unpack(one) for one in inner)
    if kind == "record":
        return _KEPT[inner[0]](*(unpack(one) for one in inner[1:]))
    return {unpack(key): unpack(one) for key, one in inner}


def digest(value: Any) -> str:
    """The same for what does the same; a TypeError for what cannot be compared."""
    seen = blake2b(digest_size=16)
    _feed(value, seen.update)
    return seen.hexdigest()


def _feed(value: Any, write: Callable[[bytes], None]) -> None:
    if path_of(value) is not None:
        raise TypeError("what a view shows may change")
    write(type(value).__name__.encode())
    if type(value) in (*_SCALARS, bytes):
        write(repr(value).encode())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, one.name) for one in _fields(value)]
        _feed(parts, write)
    elif isinstance(value, Mapping):
        _feed([[key, one] for key, one in value.items()], write)
    elif isinstance(value, (tuple, list)):
        write(b"%d:" % len(value))
        for one in value:
            _feed(one, write)
    elif isinstance(value, (frozenset, set)):
        _feed(sorted(map(digest, value)), write)
    elif isinstance(value, re.Pattern):
        _feed([value.pattern, value.flags], write)
    elif callable(value):
        made = made_by(value)
        if made is None:
            raise TypeError(f"nothing says what {value!r} was made of")
        _feed([made[0], tuple(made[1])], write)
    else:
        raise TypeError(f"a {type(value).__name__} cannot be compared")


def _fields(value: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(value)

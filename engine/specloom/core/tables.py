"""Tables that are data: in YAML beside the module that reads them, for who adds a row and knows no Python."""

from __future__ import annotations

import os
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Find = Callable[[str], Any]
    _Table = Mapping[str, Any]
else:
    _Table = Mapping  # typing takes longer to import than a command may take for its help

ENGINE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of the engine, below which its tables are."""
_finders: list[Find] = []


def load_table(module: str, name: str) -> dict[str, Any]:
    """The data of a YAML file that lies beside a module, which is named by its `__file__`."""
    path = os.path.join(os.path.dirname(os.path.abspath(module)), name)
    for find in _finders:
        kept: dict[str, Any] | None = find(table_name(path))
        if kept is not None:
            return kept
    return read_table(path)


def read_table(path: str) -> dict[str, Any]:
    """The data of a YAML file."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with open(path, "rb") as file:
        loaded: dict[str, Any] = yaml.load(file.read().decode(), Loader=loader)  # noqa: S506
    return loaded


def table_name(path: str) -> str:
    """The name under which a table is kept: its place in the engine; the whole path for one that is elsewhere."""
    return os.path.relpath(path, ENGINE).replace(os.sep, "/") if path.startswith(ENGINE + os.sep) else path


def find_tables(leave_out: str) -> dict[str, str]:
    """The paths of all tables of the engine but for those below one folder, by name."""
    found = {}
    for folder, inner, files in os.walk(ENGINE):
        inner[:] = sorted(one for one in inner if os.path.join(folder, one) != leave_out)
        for path in (os.path.join(folder, file) for file in sorted(files) if file.endswith(".yaml")):
            found[table_name(path)] = path
    return found


def keep_tables(find: Find) -> None:
    """Let tables come from whoever has read them before, by name; None is given for one that is not there."""
    _finders[:] = [find]


class LateTable(_Table):
    """A table that is read when something is first looked up in it."""

    def __init__(self, module: str, name: str) -> None:
        self._place = (module, name)
        self._table: dict[str, Any] | None = None

    def _read(self) -> dict[str, Any]:
        if self._table is None:
            self._table = load_table(*self._place)
        return self._table

    def __getitem__(self, key: str) -> Any:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

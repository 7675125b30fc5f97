"""Hosts that start MCP servers, out of `hosts.yaml`: where each keeps which ones, and what an entry of them is."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specloom.core import dataclass, load_table

SYSTEMS = {"darwin": "macos", "win32": "windows"}
ENTRY_KEYS = {"command": "$command", "args": "$args", "argv": "$argv", "env": "$env"}


@dataclass(frozen=True, slots=True)
class HostCommand:
    """How a host starts a server: the program with its arguments, and the variables it is given."""

    argv: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class McpHost:
    """One host: its files, their form, and the form of an entry."""

    name: str
    title: str
    files: tuple[str, ...]
    format: str
    at: tuple[str, ...]
    entry: Mapping[str, Any]
    next: str
    """What a person does for the host to take the server."""
    gone: str
    """What they do for it to let go of one that was taken out."""
    project: str = ""

    def find_file(self, environ: Mapping[str, str], system: str = sys.platform) -> Path:
        """The file that this host reads for its user: the first that is there, else the one that is usual."""
        places = [place for one in self.files if (place := _expand(one, environ, system)) is not None]
        return next((one for one in places if one.exists()), places[0])

    def merge(self, entry: Mapping[str, Any], command: HostCommand) -> dict[str, Any]:
        """The entry that starts this command: one that is there keeps its other keys and its variables."""
        values = {"command": command.argv[0], "args": list(command.argv[1:]), "argv": list(command.argv)}
        merged = dict(entry)
        for key, form in self.entry.items():
            if form == ENTRY_KEYS["env"]:
                env = {**self.read_env(entry), **command.env}
                if env or key in entry:
                    merged[key] = env
            elif isinstance(form, str) and form.startswith("$"):
                merged[key] = values[form[1:]]
            else:
                merged.setdefault(key, form)
        return merged

    def read_env(self, entry: Mapping[str, Any]) -> Mapping[str, str]:
        """The variables that an entry gives the server."""
        key = next(key for key, form in self.entry.items() if form == ENTRY_KEYS["env"])
        env = entry.get(key)
        return env if isinstance(env, Mapping) else {}

    def read_command(self, entry: Mapping[str, Any]) -> HostCommand:
        """What this host starts for an entry."""
        keys = {form: key for key, form in self.entry.items() if isinstance(form, str)}
        if ENTRY_KEYS["argv"] in keys:
            argv = tuple(entry[keys[ENTRY_KEYS["argv"]]])
        else:
            argv = (entry[keys[ENTRY_KEYS["command"]]], *entry.get(keys[ENTRY_KEYS["args"]], ()))
        return HostCommand(argv, self.read_env(entry))


def load_hosts(system: str = sys.platform) -> dict[str, McpHost]:
    """Every host by its name, with the files that it has on a system, which is named as `sys.platform` names it."""
    return {name: _to_host(name, row, system) for name, row in load_table(__file__, "hosts.yaml").items()}


def _to_host(name: str, row: Mapping[str, Any], system: str) -> McpHost:
    files = row["files"]
    if isinstance(files, Mapping):
        files = files[SYSTEMS.get(system, "linux")]
    return McpHost(
        name, row["title"], tuple(files), row["format"], tuple(row["at"]), row["entry"], row["next"],
        row.get("gone") or row["next"].partition(";")[0], row.get("project", ""),
    )  # fmt: skip


def _expand(place: str, environ: Mapping[str, str], system: str) -> Path | None:
    """A place of the table as a path; None where it names a variable that is not set."""
    home = Path(environ.get("USERPROFILE" if system == "win32" else "HOME") or Path.home())
    if system == "win32":
        config = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    elif system == "darwin":
        config = home / "Library" / "Application Support"
    else:
        config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    first, _, rest = place.partition("/")
    if first.startswith("$"):
        value = environ.get(first[1:], "").strip()
        return Path(value, rest) if value else None
    return {"~": home, "{config}": config}[first] / rest


def mask_entry(host: McpHost, entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry to be shown: the values of its variables are not to be read."""
    return {
        key: dict.fromkeys(value, "…") if host.entry.get(key) == ENTRY_KEYS["env"] and value else value
        for key, value in entry.items()
    }

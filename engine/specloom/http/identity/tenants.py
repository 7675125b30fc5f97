"""What tenants have of their own, such as keys of providers: from one YAML file, or from secrets mounted as files.

The YAML file is `{tenant: {VARIABLE: value}}`, in which every value is text as it stands there. A folder has a folder
for each tenant (percent-encoded where its name is no file name) and in it a file for each variable.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import unquote

from specloom.core import VARIABLES, VariableError, dataclass, find_nearest, read_variable

from .identity import is_name

if TYPE_CHECKING:
    from specloom.model import Setting

VARIABLE = "SPECLOOM_TENANTS"
OF_THE_ENGINE = ("SEARCH_ROUTING", "SEARCH_PROVIDER", "SPECLOOM_TEXT", "SPECLOOM_MAX_TOKENS")
"""The engine's own variables that a tenant may have; the others are for the whole server."""
MOST_TENANTS = 10_000
MOST_BYTES = 4 * 1024 * 1024
MOST_BYTES_OF_A_VALUE = 64 * 1024
_NAME = re.compile(r"[A-Z][A-Z_]{2,60}")


@dataclass(frozen=True, slots=True, repr=False)
class Tenants:
    """What each tenant has set for itself; one that is not there has what the server has."""

    own: Mapping[str, Mapping[str, str]] = MappingProxyType({})

    def environ_of(self, tenant: str, environ: Mapping[str, str]) -> Mapping[str, str]:
        """The environment of a tenant: its own values over those of the server, where an empty one takes those away.

        The very mapping that was given, for a tenant that has nothing of its own.
        """
        own = self.own.get(tenant)
        return environ if not own else {**environ, **own}

    def __repr__(self) -> str:
        return f"<Tenants: {len(self.own)}>"


def load_tenants(path: str | os.PathLike[str], settings: Mapping[str, Setting]) -> Tenants:
    """What the file or folder says; a VariableError for what is wrong in it, with one sentence that shows no value."""
    if not os.fspath(path):
        return Tenants()
    place = Path(path).expanduser()
    try:
        stated = _read_folder(place) if place.is_dir() else _read_file(place)
        own: dict[str, dict[str, str]] = {}
        for tenant, name, value, where in stated:
            if not is_name(tenant):
                raise VariableError(f"{where}: a tenant has 1 to 255 characters without line breaks, not 'anonymous'")
            _check(name, value, settings, where)
            own.setdefault(tenant, {})[name] = value
    except OSError as error:
        raise VariableError(f"{VARIABLE}: {error.filename or place} cannot be read: {error.strerror}") from None
    if len(own) > MOST_TENANTS:
        raise VariableError(f"{VARIABLE}: {place} has {len(own)} tenants and {MOST_TENANTS} are allowed")
    return Tenants(MappingProxyType({tenant: MappingProxyType(values) for tenant, values in own.items()}))


_Stated = tuple[str, str, str, str]
"""A tenant, a variable, its value, and where that is said."""


def _read_folder(folder: Path) -> Iterator[_Stated]:
    for of_tenant in sorted(folder.iterdir()):
        # Where secrets are mounted, what begins with a dot is how the mount changes them all at once.
        if of_tenant.name.startswith("."):
            continue
        if not of_tenant.is_dir():
            raise VariableError(f"{VARIABLE}: {of_tenant} is no folder of a tenant; write {folder}/TENANT/VARIABLE")
        for file in sorted(of_tenant.iterdir()):
            if not file.name.startswith("."):
                value = _read(file, MOST_BYTES_OF_A_VALUE).rstrip("\r\n")
                yield unquote(of_tenant.name), file.name, value, f"{VARIABLE}: {file}"


def _read_file(file: Path) -> Iterator[_Stated]:
    import yaml

    text = _read(file, MOST_BYTES)
    try:
        # Only as nodes: a key that looks like a number or a date is a text all the same.
        root = yaml.compose(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise VariableError(f"{VARIABLE}: {file}:{mark.line + 1 if mark else 1} is not valid YAML") from None
    except yaml.YAMLError:
        raise VariableError(f"{VARIABLE}: {file} is not valid YAML") from None
    if root is None:
        return
    for tenant, values, at in _entries(root, file, 1):
        for name, value, line in _entries(values, file, at):
            where = f"{VARIABLE}: {file}:{line}"
            if not isinstance(value, yaml.ScalarNode):
                raise VariableError(f"{where}: a variable has one value, which is a text")
            yield tenant, name, value.value, where


def _entries(node: object, file: Path, line: int) -> Iterator[tuple[str, object, int]]:
    """The keys of a mapping with their values and lines."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        raise VariableError(f"{VARIABLE}: {file}:{line}: write it as {{tenant: {{VARIABLE: value}}}}")
    seen: set[str] = set()
    for key, value in node.value:
        at = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or key.value in seen:
            why = "stands twice" if isinstance(key, yaml.ScalarNode) else "is no text"
            raise VariableError(f"{VARIABLE}: {file}:{at}: the name in this line {why}")
        seen.add(key.value)
        yield key.value, value, at


def _read(file: Path, most: int) -> str:
    with file.open("rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise VariableError(f"{VARIABLE}: {file} is no plain file")
        if os.name != "nt" and status.st_mode & stat.S_IWOTH:
            raise VariableError(f"{VARIABLE}: everybody may write {file}, so it is not believed; run chmod o-w on it")
        data = opened.read(most + 1)
    if len(data) > most:
        raise VariableError(f"{VARIABLE}: {file} has more than the {most} bytes that are allowed")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise VariableError(f"{VARIABLE}: {file} is not UTF-8") from None


def _check(name: str, value: str, settings: Mapping[str, Setting], where: str) -> None:
    """Nothing for a variable that a tenant may have with a value that can be read; the value is shown to nobody."""
    from specloom.runtime import read_settings

    kind = ""
    if name in settings:
        _, problems = read_settings({name: settings[name]}, {name: value})
        kind = settings[name].kind if problems else ""
    elif name in OF_THE_ENGINE:
        try:
            read_variable(name, {name: value})
        except VariableError:
            kind = VARIABLES[name].kind
    elif name in VARIABLES:
        raise VariableError(f"{where}: {name} is for the whole server and not for one tenant")
    else:
        # What stands in the place of a name may be a key that was put into the wrong line.
        shown = f"variable {name}" if _NAME.fullmatch(name) else "such variable"
        near = find_nearest(name, (*settings, *OF_THE_ENGINE))
        raise VariableError(f"{where}: there is no {shown}" + (f"; did you mean {near}?" if near else ""))
    if kind:
        raise VariableError(f"{where}: {name} cannot be read as {kind}")

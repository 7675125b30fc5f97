"""What a project's server is called: the file `project.yaml` in the folder of its specs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from specloom.core import PROJECT_FILE, PROJECT_VARIABLE, Report, command_name, dataclass, did_you_mean, project_id

from .yaml import Map, parse_source, to_plain

_KEYS = ("spec", "name", "title", "version", "id")
_KIND = "project/1"
NAME_RULE = "lower case, digits and hyphens; start with a letter, end with a letter or a digit, 40 characters at most"
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?")
_ID_RULE = "lower case, digits, hyphens and underscores; start with a letter, 60 characters at most"
_ID = re.compile(r"[a-z][a-z0-9_-]{0,59}")
_VERSION = re.compile(r"[0-9]+(\.[0-9]+){1,3}([a-z.+-][a-z0-9.+-]{0,30})?")


@dataclass(frozen=True, slots=True)
class Project:
    """A server of specs of its own: its name and version as clients are told, and a title for people.

    Its users' folders are called as the `id`; without one they are called as the folder of the specs is.
    """

    name: str
    title: str
    version: str
    id: str = ""


def is_project_name(name: str) -> bool:
    """Whether a project, its package and its command can be called so."""
    return _NAME.fullmatch(name) is not None and "--" not in name


def read_project(folder: str) -> Project:
    """What the file of a project says; ValueError says in one sentence what is wrong with it and where."""
    path, report = Path(folder, PROJECT_FILE), Report()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; a project has this file beside its specs") from None
    source = parse_source(str(path), data, report)
    if report.errors or source.root is None:
        first = report.errors[0]
        raise ValueError(f"{first.place}: {first.message}")
    for entry in source.root:
        if entry.key not in _KEYS:
            hint = did_you_mean(entry.key, _KEYS) or f"it has {', '.join(_KEYS)}"
            raise ValueError(f"{entry.place}: a project has no key {entry.key!r}; {hint}")
    said = {key: to_plain(source.root.get(key)) for key in _KEYS}
    if said["spec"] != _KIND:
        raise ValueError(f"{path}: the first line of a project is `spec: {_KIND}`")
    if not isinstance(said["name"], str) or not is_project_name(said["name"]):
        raise ValueError(f"{path}: `name` is {said['name']!r}; use {NAME_RULE}")
    if not isinstance(said["title"], str) or not said["title"].strip():
        raise ValueError(f"{path}: `title` is {said['title']!r}; say in a few words what people call it")
    if not isinstance(said["version"], str) or not _VERSION.fullmatch(said["version"]):
        raise ValueError(f'{path}: `version` is {said["version"]!r}; write it as a text such as "0.1.0"')
    _check_lines(path, said, source.root)
    if said["id"] is None and "id" not in source.root:
        return Project(said["name"], said["title"].strip(), said["version"])
    if not isinstance(said["id"], str) or not _ID.fullmatch(said["id"]):
        raise ValueError(f"{path}: `id` is {said['id']!r}; use {_ID_RULE}")
    return Project(said["name"], said["title"].strip(), said["version"], said["id"])


def _check_lines(path: Path, said: Mapping[str, object], has: Map) -> None:
    """ValueError where YAML says a name or an id that whoever reads the file by its lines does not find.

    The folders of a user are called by those without a YAML parser, so both have to read the same.
    """
    environ = {PROJECT_VARIABLE: str(path.parent.absolute())}
    for key, found in (("name", command_name(environ)), ("id", project_id(environ))):
        if key in has and found != str(said[key]):
            raise ValueError(f"{path}: write `{key}: {said[key]}` at the beginning of a line of its own, just so")

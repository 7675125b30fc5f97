"""What every new spec begins with: a name that is free, a folder that is read, and the words for what is not there."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from specloom.core import Place, config_folder, did_you_mean
from specloom.model import Capability, Model
from specloom.specs import FOLDERS, NAME, STEM


class ScaffoldError(ValueError):
    """A spec that cannot be started: one sentence with what to do."""


class Placed(Protocol):
    """A spec that is there already."""

    @property
    def place(self) -> Place: ...


def folder_of(kind: str, toolset: str = "") -> str:
    """The folder of a layer in which the specs of a kind are; tools lie in that of their toolset."""
    folders = {
        "capability": "providers.d/capabilities",
        "provider": "providers.d",
        "tool": f"tools.d/{toolset}",
        "toolset": "tools.d",
        "lens": "lenses",
        "collection": "collections.d",
    }
    return folders[kind]


def default_folder(environ: Mapping[str, str], folder: str) -> Path:
    """Where a new spec goes: into the folder of specs that one stands in, else into the first own layer."""
    if any(Path(one).is_dir() for one in FOLDERS if one.endswith(".d")):
        return Path(folder)
    listed = [part for part in environ.get("SPECLOOM_PATH", "").split(os.pathsep) if part]
    layer = Path(listed[0]).expanduser() if listed else Path(config_folder(environ))
    return layer / folder


def check_name(kind: str, name: str, taken: Mapping[str, Placed]) -> None:
    """Refuse a name that the kind may not have, or that is taken."""
    has_hyphens = kind in {"lens", "toolset"}
    if not re.fullmatch(STEM if has_hyphens else NAME, name):
        signs = "lower case, digits, hyphens and underscores" if has_hyphens else "lower case, digits and underscores"
        raise ScaffoldError(f"{name!r} is not a name; use {signs}, start with a letter, and stay below 41 characters")
    if name in taken:
        raise ScaffoldError(f"there is a {kind} {name!r} already, in {taken[name].place.file}; choose another name")


def find_capability(model: Model, said: str | None) -> Capability:
    """The capability of this name; `web`, or the only one that there is, where nothing was said."""
    known = model.capabilities
    name = said or ("web" if "web" in known else next(iter(known)) if len(known) == 1 else "")
    if not name:
        raise ScaffoldError(f"say which capability: --capability {' or '.join(known) or 'NAME'}")
    if name not in known:
        hint = did_you_mean(name, known)
        raise ScaffoldError(f"there is no capability {name!r}; {hint}".rstrip("; "))
    return known[name]

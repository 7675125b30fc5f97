"""Where configuration, cache, state and what is shipped live, worked out without an import: a start has to wait for it.

The places are those of the platformdirs library, which takes longer to import than the whole start may take.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


NAME = "specloom"
STATE_VARIABLE = "SPECLOOM_STATE_DIR"
PROMPTS = "templates/prompts"
"""Where in a layer its prompts are, a file each."""
PAGE_TEMPLATES = "templates/pages"
"""Where in a layer the templates of pages are."""
PROMPT_SUFFIX = ".md.j2"
ENGINE_SUFFIXES = (".py", ".yaml", ".json", ".toml", ".sql", ".js")
"""How files of the engine end that say what it does: its code and its data."""


def config_folder(environ: Mapping[str, str]) -> str:
    """The user's own specs: ~/.config/specloom, ~/Library/Application Support/specloom or %LOCALAPPDATA%\\specloom."""
    if sys.platform == "win32":
        return os.path.join(_local(environ), NAME)
    if sys.platform == "darwin":
        return os.path.join(_home(environ), "Library", "Application Support", NAME)
    return os.path.join(_xdg(environ, "XDG_CONFIG_HOME", ".config"), NAME)


def cache_folder(environ: Mapping[str, str]) -> str:
    """What may be deleted at any time; `SPECLOOM_CACHE_DIR` names another place."""
    chosen = environ.get("SPECLOOM_CACHE_DIR", "").strip()
    if chosen:
        return os.path.expanduser(chosen)
    if sys.platform == "win32":
        return os.path.join(_local(environ), NAME, "Cache")
    if sys.platform == "darwin":
        return os.path.join(_home(environ), "Library", "Caches", NAME)
    return os.path.join(_xdg(environ, "XDG_CACHE_HOME", ".cache"), NAME)


def state_folder(environ: Mapping[str, str]) -> str:
    """What programs remember, not with the cache, which may be deleted; `SPECLOOM_STATE_DIR` names another place."""
    chosen = environ.get(STATE_VARIABLE, "").strip()
    if chosen:
        return os.path.expanduser(chosen)
    if sys.platform == "win32":
        return os.path.join(_local(environ), NAME, "State")
    if sys.platform == "darwin":
        return os.path.join(_home(environ), "Library", "Application Support", NAME, "State")
    return os.path.join(_xdg(environ, "XDG_STATE_HOME", ".local/state"), NAME)


def _xdg(environ: Mapping[str, str], variable: str, otherwise: str) -> str:
    said = environ.get(variable, "")
    return said if os.path.isabs(said) else os.path.join(_home(environ), otherwise)


def _home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def _local(environ: Mapping[str, str]) -> str:
    return environ.get("LOCALAPPDATA") or os.path.join(_home(environ), "AppData", "Local")


def shipped_folder() -> str:
    """The specs that come with the package: inside the wheel, or the checkout that is being worked in."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "shipped")
    return inside if os.path.isdir(inside) else os.path.dirname(os.path.dirname(package))


def spec_layers(environ: Mapping[str, str]) -> list[str]:
    """The shipped specs, then each folder of `SPECLOOM_PATH` (the user's configuration folder when it is not set)."""
    listed = environ.get("SPECLOOM_PATH")
    if listed is None:
        own = config_folder(environ)
        return [shipped_folder(), own] if os.path.isdir(own) else [shipped_folder()]
    return [shipped_folder(), *(os.path.expanduser(part) for part in listed.split(os.pathsep) if part)]
